#include "api/qstash/pulled.h"

#include <algorithm>
#include <array>

#include "api/qstash/given_options.h"
#include "api/qstash/publish.h"
#include "api/sqs/exchange.h"
#include "api/sqs/new_message.h"
#include "api/text.h"

namespace hk::api::qstash {

namespace {

constexpr sqs::NewMessageNames header_names = {.group = "Upstash-Message-Group-Id",
                                               .dedup_id = "Upstash-Deduplication-Id",
                                               .delay = "Upstash-Delay"};

/// Deliveries have these, and nothing is delivered here.
constexpr std::array of_deliveries = {
    Option::method,   Option::retries,          Option::retry_delay,   Option::timeout,
    Option::callback, Option::failure_callback, Option::flow_key,      Option::flow_value,
    Option::cron,     Option::schedule_id,      Option::header_forward};

Result<void> check_options(const Given& given) {
  constexpr std::string_view why =
      "not allowed for a message without a destination, which workers pull from its queue";
  for (const Option option : of_deliveries) {
    if (given[option] != nullptr) {
      return refused(option, why);
    }
  }
  for (const Section* const section : {&given.callback, &given.failure_callback}) {
    for (std::size_t i = 0; i < option_count; ++i) {
      if (section->values[i] != nullptr) {
        return section->refused(static_cast<Option>(i), why);
      }
    }
    if (!section->forwards.empty()) {
      return fail(ErrorKind::invalid_argument, "Upstash-" + std::string(section->prefix) +
                                                   "Forward-" + section->forwards.front().name +
                                                   ": " + std::string(why));
    }
  }
  return {};
}

Result<aws::MessageAttributes> read_attributes(Given& given) {
  aws::MessageAttributes attributes;
  for (core::Header& one : given.forwards) {
    aws::MessageAttribute attribute{.data_type = "String", .string_value = std::move(one.value)};
    if (!attributes.emplace(one.name, std::move(attribute)).second) {
      return fail(ErrorKind::invalid_argument,
                  "Upstash-Forward-" + one.name + ": the header is given twice; send it once");
    }
  }
  return attributes;
}

Result<std::optional<Millis>> read_delay(const Options& options, Moment now,
                                         const core::Queue& queue, const Given& given) {
  std::optional<Millis> delay;
  Option option = Option::delay;
  if (std::string* const value = given[Option::delay]) {
    const Result<Millis> read = parse_duration(*value);
    if (!read) {
      return refused(option, read.error().message);
    }
    delay = *read;
  }
  if (std::string* const value = given[Option::not_before]) {
    option = Option::not_before;
    const Result<Moment> moment = parse_not_before(*value, now);
    if (!moment) {
      return refused(option, moment.error().message);
    }
    delay = std::max(Millis{0}, *moment - now);
  }
  const Millis allowed = std::min(sqs::delay_max(queue), options.delay_max.value_or(duration_max));
  if (delay && *delay > allowed) {
    return refused(
        option, "longer than this queue allows (" + std::to_string(allowed.count() / 1000) + " s)");
  }
  return delay;
}

Result<sqs::NewMessage> read_options(const Services& services, const core::Queue& queue,
                                     const Given& given) {
  sqs::NewMessage message;
  if (std::string* const group = given[Option::message_group_id]) {
    message.group = std::move(*group);
  }
  if (std::string* const id = given[Option::deduplication_id]) {
    message.dedup_id = std::move(*id);
  }
  if (std::string* const value = given[Option::content_based]) {
    const std::optional<bool> flag = parse_bool(*value);
    if (!flag) {
      return refused(Option::content_based, "\"" + *value + "\" must be true or false");
    }
    message.dedup_by_content = *flag;
  }
  Result<std::optional<Millis>> delay = read_delay(services.options, services.now(), queue, given);
  if (!delay) {
    return std::unexpected(std::move(delay.error()));
  }
  message.delay = *delay;
  return message;
}

}  // namespace

Result<core::Publish> read_pulled(const Services& services, Call& call, PulledParts parts) {
  const auto queue = services.submitter.durable_view(call.tenant->id)
                         ->get<core::Queue>({call.tenant->id, parts.queue});
  if (!queue || queue->deleted || !queue->pull) {
    return fail(ErrorKind::invalid_argument,
                "a non-empty destination must be provided: only a queue that workers pull from "
                "accepts messages without one, and " +
                    parts.queue + " is not such a queue");
  }
  Given given;
  if (auto ok = collect_fields(parts.fields, given); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  collect_query(parts.query, given);
  if (auto ok = check_options(given); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  Result<aws::MessageAttributes> attributes = read_attributes(given);
  if (!attributes) {
    return std::unexpected(std::move(attributes.error()));
  }
  Result<sqs::NewMessage> message = read_options(services, *queue, given);
  if (!message) {
    return std::unexpected(std::move(message.error()));
  }
  if (parts.body.empty()) {
    return fail(ErrorKind::invalid_argument,
                "the body must not be empty for a message that workers pull");
  }
  message->body = std::move(parts.body);
  message->sender = sqs::account_of(call.tenant->id);
  message->caller_ip = call.request.peer;
  aws::Checked<core::Publish> publish =
      sqs::make_publish(*queue, std::move(*message), *attributes, header_names);
  if (!publish) {
    return fail(ErrorKind::invalid_argument, std::move(publish.error().message));
  }
  publish->message->trace = read_trace(call.request, call.batcher.rng());
  if (auto ok = read_labels_and_redaction(given, *publish->message); !ok) {
    return std::unexpected(std::move(ok.error()));
  }
  return std::move(*publish);
}

}  // namespace hk::api::qstash
