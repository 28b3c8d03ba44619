#include "api/sqs/new_message.h"

#include "api/aws/names.h"
#include "api/sqs/extra_settings.h"
#include "base/encoding.h"
#include "security/digest.h"

namespace hk::api::sqs {

namespace {

using aws::Checked;
using aws::ErrorCode;
using aws::refuse;

constexpr Millis dedup_window{300'000};

aws::Refusal wrong_queue_type(std::string_view name, std::string_view value) {
  return aws::invalid_value(name, value,
                            "The request include parameter that is not valid for this queue type.");
}

Checked<void> check_id(std::string_view name, const std::optional<std::string>& id) {
  if (id && !aws::valid_group_id(*id)) {
    return std::unexpected(
        aws::invalid_value(name, *id, "1 to 128 printable characters without blanks."));
  }
  return {};
}

/// What the message is known by for the time of deduplication.
Checked<std::string> dedup_id_of(const core::Queue& queue, NewMessage& given,
                                 const NewMessageNames& names) {
  if (given.dedup_id) {
    return std::move(*given.dedup_id);
  }
  if (!queue.pull->content_dedup && !given.dedup_by_content) {
    return refuse(ErrorCode::invalid_parameter_value,
                  "The queue should either have ContentBasedDeduplication enabled or " +
                      std::string(names.dedup_id) + " provided explicitly");
  }
  const security::Digest256 digest = security::sha256(given.body);
  return hex(digest);
}

Checked<void> read_ids(const core::Queue& queue, NewMessage& given, const NewMessageNames& names,
                       core::Message& message) {
  if (auto good = check_id(names.group, given.group); !good) {
    return good;
  }
  if (auto good = check_id(names.dedup_id, given.dedup_id); !good) {
    return good;
  }
  message.group = given.group.value_or("");
  if (!queue.pull->fifo) {
    if (given.dedup_id || given.dedup_by_content) {
      return std::unexpected(wrong_queue_type(names.dedup_id, given.dedup_id.value_or("")));
    }
    return {};
  }
  if (!given.group) {
    return std::unexpected(aws::missing_parameter(names.group));
  }
  Checked<std::string> id = dedup_id_of(queue, given, names);
  if (!id) {
    return std::unexpected(id.error());
  }
  message.pull->system.push_back({"MessageDeduplicationId", *id});
  message.dedup_id = std::move(*id);
  return {};
}

}  // namespace

Millis delay_max(const core::Queue& queue) {
  return has_extended_limits(*queue.pull) ? Millis{extended_max} : Millis{std::chrono::minutes{15}};
}

Checked<core::Publish> make_publish(const core::Queue& queue, NewMessage given,
                                    const aws::MessageAttributes& attributes,
                                    const NewMessageNames& names) {
  if (auto good = aws::check_body(given.body); !good) {
    return std::unexpected(good.error());
  }
  if (auto good = aws::check_attributes(attributes); !good) {
    return std::unexpected(good.error());
  }
  if (aws::message_bytes(given.body, attributes) > queue.pull->bytes_max) {
    return refuse(ErrorCode::invalid_parameter_value,
                  "One or more parameters are invalid. Reason: Message must be shorter than " +
                      std::to_string(queue.pull->bytes_max) + " bytes.");
  }
  core::Publish publish;
  publish.dedup_window = dedup_window;
  publish.message = std::make_unique<core::Message>();
  core::Message& message = *publish.message;
  message.tenant = queue.tenant;
  message.queue = queue.name;
  message.method.clear();
  core::PullPart& part = message.pull.emplace();
  if (auto good = read_ids(queue, given, names, message); !good) {
    return std::unexpected(good.error());
  }
  if (given.delay) {
    if (queue.pull->fifo && *given.delay != Millis{0}) {
      return std::unexpected(wrong_queue_type(
          names.delay,
          std::to_string(std::chrono::duration_cast<std::chrono::seconds>(*given.delay).count())));
    }
    publish.own_delay = !queue.pull->fifo;
    publish.delay = *given.delay;
  }
  for (const auto& [name, attribute] : attributes) {
    part.attributes.push_back({name, attribute.data_type, std::string(attribute.value())});
  }
  part.system.push_back({"SenderId", std::move(given.sender)});
  if (!given.trace_header.empty()) {
    part.system.push_back({"AWSTraceHeader", std::move(given.trace_header)});
  }
  message.caller_ip = std::move(given.caller_ip);
  message.body = std::move(given.body);
  return publish;
}

}  // namespace hk::api::sqs
