#include "cli/tenants.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "cli/exit_code.h"
#include "cli/process.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

/// Prints the credentials that the answer holds, or all of it.
int show(const AdminArguments& arguments, const std::optional<Answer>& answer, int code) {
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  for (const char* name : {"id", "name", "token", "current_signing_key", "next_signing_key"}) {
    if (const std::string text = text_of(answer->value, name); !text.empty()) {
      fmt::print("{:<22} {}\n", name, text);
    }
  }
  tell("The token is not shown again: store it now.");
  return exit_ok;
}

/// "publish=50:100" as a member of "classes". invalid_argument: it is something else.
Result<void> add_class(const std::string& text, json::object& classes) {
  const auto number = [](std::string_view digits) -> std::optional<std::uint64_t> {
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [at, failed] = std::from_chars(digits.data(), end, value);
    return failed == std::errc{} && at == end ? std::optional(value) : std::nullopt;
  };
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view rest = std::string_view(text).substr(std::min(equals + 1, text.size()));
  const std::size_t colon = rest.find(':');
  const auto rate = number(rest.substr(0, colon));
  const auto burst = colon == std::string_view::npos ? rate : number(rest.substr(colon + 1));
  if (!rate || !burst) {
    return fail(ErrorKind::invalid_argument,
                "--class " + text + ": must be NAME=RATE or NAME=RATE:BURST, such as publish=50");
  }
  classes[text.substr(0, equals)] = json::object{{"rate", *rate}, {"burst", *burst}};
  return {};
}

/// The document to be set; nullopt: nothing was said.
Result<std::optional<json::object>> document_of(const LimitArguments& limits) {
  json::object document;
  const auto add = [&document](const char* name, const std::optional<std::uint64_t>& value) {
    if (value) {
      document[name] = *value;
    }
  };
  add("rate", limits.rate);
  add("burst", limits.burst);
  add("weight", limits.weight);
  add("in_flight", limits.in_flight);
  json::object classes;
  for (const std::string& one : limits.classes) {
    if (auto added = add_class(one, classes); !added) {
      return std::unexpected(added.error());
    }
  }
  if (!classes.empty()) {
    document["classes"] = std::move(classes);
  }
  if (limits.none && !document.empty()) {
    return fail(ErrorKind::invalid_argument, "--none removes all limits: give no other with it");
  }
  return document.empty() && !limits.none ? std::nullopt : std::optional(std::move(document));
}

std::string limit_of(const json::value& limit) {
  std::string text = text_of(limit, "rate");
  text = text.empty() || text == "0" ? "no limit"
                                     : text + " a second, burst " + text_of(limit, "burst");
  if (const std::string most = text_of(limit, "in_flight"); !most.empty()) {
    text += ", " + most + " at the same time";
  }
  return text;
}

void show_limits(const json::value& limits) {
  const bool own = !limits.at("rate").is_null();
  fmt::print("{:<10} {}{}\n", "tenant", limit_of(limits),
             own ? "" : " of its own (rate_tenant of the server applies)");
  for (const auto& [name, limit] : limits.at("classes").as_object()) {
    fmt::print("{:<10} {}\n", std::string_view(name.data(), name.size()), limit_of(limit));
  }
  fmt::print("{:<10} {}\n", "weight", text_of(limits, "weight"));
  fmt::print("{:<10} {}\n", "factor", limits.at("factor").to_number<double>());
}

}  // namespace

int create_tenant(const AdminArguments& arguments, const std::string& name) {
  int code = exit_ok;
  const auto answer = ask_admin(arguments, "POST", "/api/v1/tenants",
                                json::serialize(json::object{{"name", name}}), code);
  return show(arguments, answer, code);
}

int list_tenants(const AdminArguments& arguments) {
  int code = exit_ok;
  const auto answer = ask_admin(arguments, "GET", "/api/v1/tenants", {}, code);
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  for (const json::value& tenant : answer->value.at("tenants").as_array()) {
    fmt::print("{:>4}  {}  {}\n", text_of(tenant, "id"), text_of(tenant, "created_at"),
               text_of(tenant, "name"));
  }
  return exit_ok;
}

int tenant_limits(const AdminArguments& arguments, const std::string& id,
                  const LimitArguments& limits) {
  const auto document = document_of(limits);
  if (!document) {
    tell("hikyaku: " + document.error().message);
    return exit_usage;
  }
  const std::string path = "/api/v1/tenants/" + query_escape(id) + "/limits";
  int code = exit_ok;
  if (*document && !ask_admin(arguments, "PUT", path, json::serialize(**document), code)) {
    return code;
  }
  const auto answer = ask_admin(arguments, "GET", path, {}, code);
  if (!answer) {
    return code;
  }
  if (arguments.json) {
    fmt::print("{}\n", answer->text);
  } else {
    show_limits(answer->value);
  }
  return exit_ok;
}

int rotate_tenant_token(const AdminArguments& arguments, const std::string& id) {
  int code = exit_ok;
  const auto answer = ask_admin(arguments, "POST",
                                "/api/v1/tenants/" + query_escape(id) + "/rotate-token", {}, code);
  return show(arguments, answer, code);
}

}  // namespace hk::cli
