#include "cli/sources.h"

#include <fmt/core.h>

#include "base/ascii.h"
#include "cli/exit_code.h"
#include "cli/message_parts.h"
#include "cli/process.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

std::string source_path(const SourceArguments& arguments, const std::string& rest = {}) {
  return "/api/v1/sources/" + query_escape(arguments.name) + rest;
}

std::string page_query(const SourceArguments& arguments) {
  return "?limit=" + std::to_string(arguments.limit) +
         (arguments.cursor.empty() ? "" : "&cursor=" + query_escape(arguments.cursor));
}

std::optional<Answer> write_json(const Connection& connection, const std::string& method,
                                 const std::string& path, const json::object& body, int& code) {
  auto answer = call(connection, method, path, {{"Content-Type", "application/json"}},
                     json::serialize(body), code);
  if (answer && connection.json && !answer->text.empty()) {
    fmt::print("{}\n", answer->text);
  }
  return answer;
}

/// The text of a file without the line end that editors put there; nullopt, told why.
std::optional<std::string> read_secret_text(const std::string& file) {
  auto text = read_body_file(file);
  if (text) {
    text = std::string(trim(*text, "\r\n"));
    if (text->empty()) {
      tell("hikyaku: " + file + " has no secret");
      return std::nullopt;
    }
  }
  return text;
}

/// Reads a page and prints each of its items; the cursor goes last, as in the other lists.
int print_page(const Connection& connection, const std::string& path, const char* member,
               void (*print)(const json::value&)) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", path, {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  const json::array& all = answer->value.at(member).as_array();
  if (all.empty()) {
    fmt::print("none\n");
  }
  for (const json::value& one : all) {
    print(one);
  }
  if (const std::string cursor = text_of(answer->value, "cursor"); !cursor.empty()) {
    fmt::print("cursor: {}\n", cursor);
  }
  return exit_ok;
}

int print_object(const Connection& connection, const std::string& path) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", path, {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  for (const json::key_value_pair& one : answer->value.as_object()) {
    const std::string name(one.key());
    const bool plain = one.value().is_string() || one.value().is_number();
    fmt::print("{:<17} {}\n", name,
               plain ? text_of(answer->value, name) : json::serialize(one.value()));
  }
  return exit_ok;
}

}  // namespace

int list_sources(const Connection& connection, const SourceArguments& arguments) {
  return print_page(connection, "/api/v1/sources" + page_query(arguments), "sources",
                    [](const json::value& one) {
                      const json::value& stats = one.at("stats");
                      fmt::print("{}  {:<9} {:>8} accepted {:>6} invalid  {}\n", text_of(one, "id"),
                                 text_of(one, "preset"), text_of(stats, "accepted"),
                                 text_of(stats, "invalid"), text_of(one, "name"));
                    });
}

int create_source(const Connection& connection, const SourceArguments& arguments) {
  json::object body;
  if (!arguments.settings_file.empty()) {
    const auto text = read_body_file(arguments.settings_file);
    if (!text) {
      return exit_usage;
    }
    boost::system::error_code wrong;
    json::value settings = json::parse(*text, wrong);
    if (wrong || !settings.is_object()) {
      tell("hikyaku: " + arguments.settings_file + " does not hold a JSON object");
      return exit_usage;
    }
    body = std::move(settings.as_object());
  }
  body["name"] = arguments.name;
  body["preset"] = arguments.preset;
  const auto set_target = [&body](const char* member, const std::string& value) {
    if (!value.empty()) {
      body["deliverTo"] = json::object{{member, value}};
    }
  };
  set_target("url", arguments.url);
  set_target("urlGroup", arguments.url_group);
  set_target("queue", arguments.queue);
  if (!arguments.secret_file.empty()) {
    const auto secret = read_secret_text(arguments.secret_file);
    if (!secret) {
      return exit_usage;
    }
    body["secrets"] = json::array{json::string_view(secret->data(), secret->size())};
  }
  int code = exit_ok;
  const auto answer = write_json(connection, "POST", "/api/v1/sources", body, code);
  if (answer && !connection.json) {
    fmt::print("{}\n{}\n", text_of(answer->value, "id"), text_of(answer->value, "url"));
  }
  return code;
}

int show_source(const Connection& connection, const SourceArguments& arguments) {
  return print_object(connection, source_path(arguments));
}

int delete_source(const Connection& connection, const SourceArguments& arguments) {
  int code = exit_ok;
  call(connection, "DELETE", source_path(arguments), {}, {}, code);
  return code;
}

int add_source_secret(const Connection& connection, const SourceArguments& arguments) {
  const auto secret = read_secret_text(arguments.secret_file);
  if (!secret) {
    return exit_usage;
  }
  json::object body{{"value", json::string_view(secret->data(), secret->size())}};
  if (arguments.expires_in != 0) {
    body["expiresInSeconds"] = arguments.expires_in;
  }
  int code = exit_ok;
  const auto answer =
      write_json(connection, "POST", source_path(arguments, "/secrets"), body, code);
  if (answer && !connection.json) {
    fmt::print("{}\n", text_of(answer->value, "id"));
  }
  return code;
}

int remove_source_secret(const Connection& connection, const SourceArguments& arguments) {
  int code = exit_ok;
  call(connection, "DELETE", source_path(arguments, "/secrets/" + query_escape(arguments.secret)),
       {}, {}, code);
  return code;
}

int list_source_events(const Connection& connection, const SourceArguments& arguments) {
  return print_page(connection, source_path(arguments, "/events" + page_query(arguments)), "events",
                    [](const json::value& one) {
                      fmt::print("{}  {}  {:>3} repeats  {}  {}\n", text_of(one, "receivedAt"),
                                 text_of(one, "messageId"), text_of(one, "duplicates"),
                                 text_of(one, "eventId"), text_of(one, "eventType"));
                    });
}

int list_quarantine(const Connection& connection, const SourceArguments& arguments) {
  return print_page(connection, source_path(arguments, "/quarantine" + page_query(arguments)),
                    "quarantined", [](const json::value& one) {
                      fmt::print("{}  {}  {:<22} {}\n", text_of(one, "receivedAt"),
                                 text_of(one, "id"), text_of(one.at("reason"), "code"),
                                 text_of(one, "remote"));
                    });
}

int show_quarantined(const Connection& connection, const SourceArguments& arguments) {
  return print_object(connection,
                      source_path(arguments, "/quarantine/" + query_escape(arguments.request)));
}

int release_quarantined(const Connection& connection, const SourceArguments& arguments) {
  int code = exit_ok;
  const auto answer = write_json(
      connection, "POST",
      source_path(arguments, "/quarantine/" + query_escape(arguments.request) + "/release"), {},
      code);
  if (answer && !connection.json) {
    fmt::print("{}\n", text_of(answer->value, "messageId"));
  }
  return code;
}

int reverify_quarantine(const Connection& connection, const SourceArguments& arguments) {
  int code = exit_ok;
  const auto answer =
      write_json(connection, "POST", source_path(arguments, "/quarantine/reverify"), {}, code);
  if (answer && !connection.json) {
    fmt::print("checked {}, released {}, repeats {}, still invalid {}\n",
               text_of(answer->value, "checked"), text_of(answer->value, "released"),
               text_of(answer->value, "duplicates"), text_of(answer->value, "stillInvalid"));
  }
  return code;
}

}  // namespace hk::cli
