#include "cli/remote.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <chrono>
#include <ctime>
#include <iostream>
#include <iterator>
#include <set>
#include <thread>

#include "cli/exit_code.h"
#include "cli/message_parts.h"
#include "cli/process.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

std::string time_text(const std::string& ms_text) {
  if (ms_text.empty()) {
    return "-";
  }
  const long long ms = std::strtoll(ms_text.c_str(), nullptr, 10);
  const std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  char buffer[32];
  std::strftime(buffer, sizeof buffer, "%Y-%m-%d %H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", buffer, ms % 1000);
}

/// So that a row stays one line: names are ASCII, and --json has all of them.
std::string cut(const std::string& name, std::size_t width) {
  return name.size() <= width ? name : name.substr(0, width - 1) + "…";
}

void print_rows(const json::value& value) {
  if (!value.is_object()) {
    return;
  }
  for (const auto& [name, field] : value.get_object()) {
    fmt::print("{:<22} {}\n", std::string_view(name.data(), name.size()),
               field.is_string() ? std::string(field.get_string()) : json::serialize(field));
  }
}

}  // namespace

int publish(const Connection& connection, const PublishArguments& arguments) {
  std::vector<net::Field> fields;
  const auto add = [&fields](const char* name, const std::string& value) {
    if (!value.empty()) {
      fields.push_back({name, value});
    }
  };
  add("Upstash-Method", arguments.method);
  add("Upstash-Delay", arguments.delay);
  add("Upstash-Retries", arguments.retries);
  add("Upstash-Timeout", arguments.timeout);
  add("Upstash-Deduplication-Id", arguments.dedup_id);
  add("Content-Type", arguments.content_type);
  std::string labels;
  for (const std::string& label : arguments.labels) {
    labels += (labels.empty() ? "" : ",") + label;
  }
  add("Upstash-Label", labels);
  if (!add_forwarded(fields, arguments.headers)) {
    return exit_usage;
  }
  std::string body = arguments.body;
  if (!arguments.body_given) {
    body.assign(std::istreambuf_iterator<char>(std::cin), {});
  }
  const std::string path =
      arguments.queue.empty()
          ? "/v2/publish/" + arguments.destination
          : "/v2/enqueue/" + query_escape(arguments.queue) + "/" + arguments.destination;
  int code = exit_ok;
  const auto answer = call(connection, "POST", path, std::move(fields), std::move(body), code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
  } else {
    const bool duplicate = text_of(answer->value, "deduplicated") == "true";
    fmt::print("{}{}\n", text_of(answer->value, "messageId"), duplicate ? "  (duplicate)" : "");
  }
  return exit_ok;
}

int get_message(const Connection& connection, const std::string& id) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", "/api/v1/jobs/" + query_escape(id), {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
  } else {
    print_rows(answer->value);
  }
  return exit_ok;
}

int cancel_message(const Connection& connection, const std::string& id) {
  int code = exit_ok;
  const auto answer = call(connection, "DELETE", "/v2/messages/" + query_escape(id), {}, {}, code);
  if (!answer) {
    return code;
  }
  fmt::print("{}\n", connection.json ? answer->text : "cancelled " + id);
  return exit_ok;
}

int list_dead_letters(const Connection& connection, std::uint32_t count, const std::string& cursor,
                      const std::vector<std::string>& filters) {
  std::string path = "/v2/dlq?count=" + std::to_string(count);
  if (!cursor.empty()) {
    path += "&cursor=" + query_escape(cursor);
  }
  const std::optional<std::string> more_filters = filter_query(filters);
  if (!more_filters) {
    return exit_usage;
  }
  path += *more_filters;
  int code = exit_ok;
  const auto answer = call(connection, "GET", path, {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  const json::array& letters = answer->value.at("messages").as_array();
  if (letters.empty()) {
    fmt::print("no dead letters\n");
    return exit_ok;
  }
  for (const json::value& letter : letters) {
    fmt::print("{:<28} {} {:>3}  {}\n", text_of(letter, "dlqId"), text_of(letter, "messageId"),
               text_of(letter, "responseStatus"), text_of(letter, "url"));
  }
  if (const std::string more = text_of(answer->value, "cursor"); !more.empty()) {
    fmt::print("more: --cursor {}\n", more);
  }
  return exit_ok;
}

int delete_dead_letters(const Connection& connection, const std::vector<std::string>& ids,
                        bool all) {
  std::string query = all ? "" : ids_query(ids);
  std::uint64_t done = 0;
  for (;;) {
    int code = exit_ok;
    const auto answer = call(connection, "DELETE", "/v2/dlq" + query, {}, {}, code);
    if (!answer) {
      return code;
    }
    if (connection.json) {
      fmt::print("{}\n", answer->text);
    }
    done += std::strtoull(text_of(answer->value, "deleted").c_str(), nullptr, 10);
    const std::string more = text_of(answer->value, "cursor");
    if (!all || more.empty()) {
      break;
    }
    query = "?cursor=" + query_escape(more);
  }
  if (!connection.json) {
    fmt::print("deleted {}\n", done);
  }
  return all || done == ids.size() ? exit_ok : exit_failed;
}

int list_queues(const Connection& connection) {
  int code = exit_ok;
  const auto answer = call(connection, "GET", "/v2/queues", {}, {}, code);
  if (!answer) {
    return code;
  }
  if (connection.json) {
    fmt::print("{}\n", answer->text);
    return exit_ok;
  }
  constexpr std::size_t narrow = 28;
  constexpr std::size_t wide = 40;
  std::size_t width = narrow;
  for (const json::value& queue : answer->value.as_array()) {
    width = std::clamp(text_of(queue, "name").size(), width, wide);
  }
  for (const json::value& queue : answer->value.as_array()) {
    fmt::print("{:<{}} lag {:>8}  parallelism {:>4}{}\n", cut(text_of(queue, "name"), width), width,
               text_of(queue, "lag"), text_of(queue, "parallelism"),
               text_of(queue, "paused") == "true" ? "  paused" : "");
  }
  return exit_ok;
}

int change_queue(const Connection& connection, QueueChange change, const std::string& name) {
  const bool remove = change == QueueChange::remove;
  const char* const verb = remove ? "" : change == QueueChange::pause ? "/pause" : "/resume";
  int code = exit_ok;
  const auto answer = call(connection, remove ? "DELETE" : "POST",
                           "/v2/queues/" + query_escape(name) + verb, {}, {}, code);
  if (answer && connection.json) {
    fmt::print("{}\n", answer->text);
  }
  return code;
}

int tail(const Connection& connection, bool once, const std::string& message_id) {
  using namespace std::chrono_literals;
  const auto now = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::system_clock::now().time_since_epoch());
  // What has been printed of the newest millisecond: the next page begins with it again.
  long long newest = once || !message_id.empty() ? 0 : now.count() - 60'000;
  std::set<std::string> printed;
  for (;;) {
    std::string path =
        fmt::format("/v2/events?order=earliestFirst&count=1000&trimBody=0&fromDate={}", newest);
    if (!message_id.empty()) {
      path += "&messageId=" + query_escape(message_id);
    }
    std::string cursor;
    do {
      int code = exit_ok;
      const auto answer =
          call(connection, "GET", cursor.empty() ? path : path + "&cursor=" + query_escape(cursor),
               {}, {}, code);
      if (!answer) {
        return code;
      }
      for (const json::value& event : answer->value.at("events").as_array()) {
        const std::string time = text_of(event, "time");
        const std::string key = time + text_of(event, "messageId") + text_of(event, "state");
        const long long at = std::strtoll(time.c_str(), nullptr, 10);
        if (at > newest) {
          newest = at;
          printed.clear();
        }
        if (!printed.insert(key).second) {
          continue;
        }
        if (connection.json) {
          fmt::print("{}\n", json::serialize(event));
        } else {
          const std::string error = text_of(event, "error");
          fmt::print("{}  {:<16} {}  {}{}{}\n", time_text(time), text_of(event, "state"),
                     text_of(event, "messageId"), text_of(event, "url"), error.empty() ? "" : "  ",
                     error);
        }
      }
      cursor = text_of(answer->value, "cursor");
    } while (!cursor.empty());
    std::fflush(stdout);
    if (once) {
      return exit_ok;
    }
    std::this_thread::sleep_for(500ms);
  }
}

}  // namespace hk::cli
