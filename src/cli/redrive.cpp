// hikyaku dlq retry: by ids, one of them edited, or all that fit some filters, at a set rate.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "cli/exit_code.h"
#include "cli/message_parts.h"
#include "cli/process.h"
#include "cli/remote.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

constexpr double per_call_max = 100;
/// A rate is kept by calls of a tenth of a second's worth.
constexpr double calls_per_second = 10;

/// The time of the newest dead letter that fits: what fails again while we retry comes after it and
/// is left alone, or this would never end. nullopt: none fits, or `code` says what went wrong.
std::optional<std::string> newest_failure(const Connection& connection, const std::string& filters,
                                          int& code) {
  std::string cursor;
  do {
    const auto answer = call(connection, "GET",
                             "/v2/dlq?order=latestFirst&count=1&trimBody=0" + filters +
                                 (cursor.empty() ? "" : "&cursor=" + query_escape(cursor)),
                             {}, {}, code);
    if (!answer) {
      return std::nullopt;
    }
    const json::array& letters = answer->value.at("messages").as_array();
    if (!letters.empty()) {
      const std::string id = text_of(letters.front(), "dlqId");
      return id.substr(0, id.find('-'));
    }
    cursor = text_of(answer->value, "cursor");
  } while (!cursor.empty());
  return std::nullopt;
}

/// Prints the new messages and returns how many there are.
std::size_t show(const Connection& connection, const Answer& answer) {
  const json::array& responses = answer.value.at("responses").as_array();
  if (connection.json) {
    fmt::print("{}\n", answer.text);
  } else {
    for (const json::value& response : responses) {
      fmt::print("{}\n", text_of(response, "messageId"));
    }
  }
  std::fflush(stdout);
  return responses.size();
}

int retry_these(const Connection& connection, const std::vector<std::string>& ids) {
  int code = exit_ok;
  const auto answer = call(connection, "POST", "/v2/dlq/retry" + ids_query(ids), {}, {}, code);
  if (!answer) {
    return code;
  }
  const std::size_t done = show(connection, *answer);
  if (!connection.json) {
    tell(fmt::format("retried {}", done));
  }
  return exit_ok;
}

int retry_edited(const Connection& connection, const RetryArguments& arguments) {
  if (arguments.all || arguments.ids.size() != 1) {
    tell("hikyaku: --body, --destination, --header and --content-type are for one dead letter");
    return exit_usage;
  }
  std::vector<net::Field> fields;
  if (!add_forwarded(fields, arguments.headers)) {
    return exit_usage;
  }
  if (!arguments.content_type.empty()) {
    fields.push_back({"Upstash-Forward-Content-Type", arguments.content_type});
  }
  if (!arguments.destination.empty()) {
    fields.push_back({"Hikyaku-Replace-Url", arguments.destination});
  }
  std::string body;
  if (!arguments.body_file.empty()) {
    std::optional<std::string> read = read_body_file(arguments.body_file);
    if (!read) {
      return exit_usage;
    }
    body = std::move(*read);
    fields.push_back({"Hikyaku-Replace-Body", "true"});
  }
  int code = exit_ok;
  const auto answer = call(connection, "POST", "/v2/dlq/retry/" + query_escape(arguments.ids[0]),
                           std::move(fields), std::move(body), code);
  if (answer) {
    fmt::print("{}\n", connection.json ? answer->text : text_of(answer->value, "messageId"));
  }
  return code;
}

}  // namespace

int retry_dead_letters(const Connection& connection, const RetryArguments& arguments) {
  if (arguments.edits()) {
    return retry_edited(connection, arguments);
  }
  if (!arguments.all) {
    return retry_these(connection, arguments.ids);
  }
  std::optional<std::string> filters = filter_query(arguments.filters);
  if (!filters) {
    return exit_usage;
  }
  int code = exit_ok;
  std::size_t done = 0;
  if (const auto newest = newest_failure(connection, *filters, code)) {
    const bool bounded = filters->find("&toDate=") != std::string::npos;
    const double size = arguments.rate > 0
                            ? std::clamp(arguments.rate / calls_per_second, 1.0, per_call_max)
                            : per_call_max;
    const std::string path = fmt::format("/v2/dlq/retry?count={}{}{}", static_cast<int>(size),
                                         *filters, bounded ? "" : "&toDate=" + *newest);
    const auto start = std::chrono::steady_clock::now();
    std::string cursor;
    do {
      const auto answer =
          call(connection, "POST", cursor.empty() ? path : path + "&cursor=" + query_escape(cursor),
               {}, {}, code);
      if (!answer) {
        break;
      }
      done += show(connection, *answer);
      cursor = text_of(answer->value, "cursor");
      if (arguments.rate > 0 && !cursor.empty()) {
        std::this_thread::sleep_until(
            start + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                        std::chrono::duration<double>(static_cast<double>(done) / arguments.rate)));
      }
    } while (!cursor.empty());
  }
  if (!connection.json) {
    tell(fmt::format("retried {}", done));
  }
  return code;
}

}  // namespace hk::cli
