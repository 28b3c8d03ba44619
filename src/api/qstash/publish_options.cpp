#include "api/qstash/publish_options.h"

#include <algorithm>
#include <utility>

#include "api/qstash/dedup.h"
#include "api/qstash/given_options.h"
#include "api/qstash/section_options.h"
#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

constexpr std::size_t flow_key_bytes_max = 256;
// A header line cannot hold more than this; in a batch nothing else would bound it.
constexpr std::size_t listed_max = 64;
constexpr std::size_t list_bytes_max = std::size_t{8} * 1024;

/// Content-Type first, then the forwarded ones; a forwarded Content-Type replaces the request's.
Result<void> read_headers(const Options& options, Given& given, core::Message& message) {
  const bool replaced = std::ranges::any_of(given.forwards, [](const core::Header& one) {
    return equals_ignoring_case(one.name, "content-type");
  });
  message.headers.reserve(given.forwards.size() + 1);
  if (given.content_type != nullptr && !replaced) {
    message.headers.push_back({"Content-Type", std::move(*given.content_type)});
  }
  return read_forwards(options, given, message.headers);
}

Result<void> read_times(const Options& options, Moment now, const Given& given, bool scheduled,
                        core::Publish& command) {
  core::Message& message = *command.message;
  if (std::string* const value = given[Option::delay]) {
    const Result<Millis> delay = parse_duration(*value);
    if (!delay) {
      return refused(Option::delay, delay.error().message);
    }
    command.delay = *delay;  // the core counts it from the acceptance
  }
  if (std::string* const value = given[Option::not_before]; value != nullptr && !scheduled) {
    const Result<Moment> moment = parse_not_before(*value, now);
    if (!moment) {
      return refused(Option::not_before, moment.error().message);
    }
    message.not_before = *moment;
    command.delay = Millis{0};
  }
  for (const Option option : {Option::not_before, Option::delay}) {
    if (given[option] == nullptr || (scheduled && option == Option::not_before)) {
      continue;
    }
    if (!message.queue.empty() && !scheduled) {
      return refused(
          option,
          "a message in a queue cannot be delayed: queues deliver in the order of publishing");
    }
    if (options.delay_max &&
        std::max(command.delay, message.not_before - now) > *options.delay_max) {
      return refused(option, "longer than this server allows (" +
                                 std::to_string(options.delay_max->count() / 1000) + " s)");
    }
  }
  return {};
}

Result<void> read_flow(const Given& given, core::Message& message,
                       std::optional<core::FlowKey>& flow) {
  std::string* const key = given[Option::flow_key];
  std::string* const value = given[Option::flow_value];
  if (key == nullptr) {
    if (value != nullptr) {
      return refused(Option::flow_value, "needs Upstash-Flow-Control-Key, too");
    }
    return {};
  }
  if (key->empty() || key->size() > flow_key_bytes_max) {
    return refused(Option::flow_key, "must have 1 to 256 bytes");
  }
  if (value == nullptr) {
    return refused(Option::flow_key,
                   "needs Upstash-Flow-Control-Value, too, for example parallelism=3");
  }
  Result<core::FlowKey> parsed = parse_flow_value(message.tenant, *key, *value);
  if (!parsed) {
    return refused(Option::flow_value, parsed.error().message);
  }
  flow = std::move(*parsed);
  message.flow_key = std::move(*key);
  return {};
}

/// REQUIRES: everything the content hash covers is already in the message.
Result<void> read_dedup(const Given& given, core::Message& message) {
  bool by_content = false;
  if (std::string* const value = given[Option::content_based]) {
    const std::optional<bool> flag = parse_bool(*value);
    if (!flag) {
      return refused(Option::content_based, "\"" + *value + "\" must be true or false");
    }
    by_content = *flag;
  }
  if (std::string* const id = given[Option::deduplication_id]) {
    if (id->empty()) {
      return refused(Option::deduplication_id, "must not be empty");
    }
    message.dedup_id = dedup_by_id(*id);
  } else if (by_content) {
    message.dedup_id = dedup_by_content(message);
  }
  return {};
}

Result<void> read_schedule(const Given& given, CronOptions* schedule) {
  std::string* const cron = given[Option::cron];
  if (cron == nullptr) {
    return {};
  }
  if (schedule == nullptr) {
    return refused(Option::cron,
                   "not allowed here: create a schedule with POST /v2/schedules/{destination} (and "
                   "Upstash-Queue-Name to enqueue); nothing was accepted");
  }
  if (std::string* const id = given[Option::schedule_id]) {
    if (!valid_name(*id)) {
      return refused(Option::schedule_id,
                     "a schedule's id has letters, digits, '.', '_' and '-' only");
    }
    schedule->id = std::move(*id);
  }
  schedule->cron = std::move(*cron);
  return {};
}

Result<void> read_rest(const Given& given, core::Message& message) {
  if (std::string* const value = given[Option::queue_name];
      value != nullptr && message.queue.empty()) {
    if (!valid_new_queue_name(*value)) {
      return refused(Option::queue_name,
                     "a queue's name has letters, digits, '.', '_' and '-' only, at most " +
                         std::to_string(queue_name_bytes_max) + " of them");
    }
    message.queue = std::move(*value);
  }
  if (given[Option::message_group_id] != nullptr) {
    return refused(
        Option::message_group_id,
        "only allowed for a message without a destination, in a queue that workers pull from");
  }
  return read_labels_and_redaction(given, message);
}

/// The option's parts are told apart by commas, so this bounds their number before they are made.
Result<void> check_list(Option option, std::string_view value) {
  if (value.size() > list_bytes_max ||
      static_cast<std::size_t>(std::ranges::count(value, ',')) >= listed_max) {
    return refused(option, "at most " + std::to_string(listed_max) + " of them and " +
                               std::to_string(list_bytes_max) + " bytes together");
  }
  return {};
}

Result<bool> wants_all_headers(const Given& given) {
  std::string* const value = given[Option::header_forward];
  if (value == nullptr) {
    return false;
  }
  const std::optional<bool> flag = parse_bool(*value);
  if (!flag) {
    return refused(Option::header_forward, "\"" + *value + "\" must be true or false");
  }
  return *flag;
}

}  // namespace

Result<void> read_labels_and_redaction(const Section& given, core::Message& message) {
  for (const Option option : {Option::label, Option::redact}) {
    if (std::string* const value = given[option]) {
      if (auto fits = check_list(option, *value); !fits) {
        return fits;
      }
    }
  }
  if (std::string* const value = given[Option::label]) {
    message.labels = split_commas(*value);
  }
  if (std::string* const value = given[Option::redact]) {
    Result<std::vector<std::string>> fields = parse_redact_fields(*value);
    if (!fields) {
      return refused(Option::redact, fields.error().message);
    }
    message.redact = std::move(*fields);
  }
  return {};
}

Result<void> read_publish_options(const Options& options, Moment now,
                                  std::vector<net::Field>& fields, QueryOptions&& query,
                                  core::Publish& command, CronOptions* schedule) {
  core::Message& message = *command.message;
  Given given;
  if (auto ok = collect_fields(fields, given); !ok) {
    return ok;
  }
  if (!query.empty()) {
    collect_query(query, given);
  }
  if (auto ok = read_schedule(given, schedule); !ok) {
    return ok;
  }
  const bool scheduled = given[Option::cron] != nullptr;
  const Result<bool> all_headers = wants_all_headers(given);
  if (!all_headers) {
    return std::unexpected(all_headers.error());
  }
  if (*all_headers) {
    forward_all(options, fields, given);
  }
  // read_rest before read_times: a queue's name decides whether a delay is allowed.
  if (auto ok = read_headers(options, given, message); !ok) {
    return ok;
  }
  if (auto ok = read_method(given, message.method); !ok) {
    return ok;
  }
  if (auto ok = read_rest(given, message); !ok) {
    return ok;
  }
  if (auto ok = read_times(options, now, given, scheduled, command); !ok) {
    return ok;
  }
  if (auto ok = read_retry(options, given, options.retries_default, message.retry); !ok) {
    return ok;
  }
  if (auto ok = read_timeout(options, given, message.timeout); !ok) {
    return ok;
  }
  if (auto ok = read_callbacks(options, given, message); !ok) {
    return ok;
  }
  if (auto ok = read_flow(given, message, command.flow); !ok) {
    return ok;
  }
  return scheduled ? Result<void>{} : read_dedup(given, message);
}

}  // namespace hk::api::qstash
