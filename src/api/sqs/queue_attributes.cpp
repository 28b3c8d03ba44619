#include "api/sqs/queue_attributes.h"

#include <algorithm>
#include <array>
#include <functional>

#include "api/aws/names.h"
#include "api/sqs/extra_settings.h"
#include "api/text.h"
#include "base/json.h"
#include "base/json_input.h"
#include "core/limits.h"

namespace hk::api::sqs {

namespace {

using aws::Checked;
using aws::ErrorCode;
using aws::refuse;
using core::PullSettings;

constexpr std::int64_t hour = 3600;
constexpr std::int64_t delay_seconds_max = 900;
constexpr std::int64_t retention_max = 14 * 24 * hour;
constexpr std::int64_t beyond_max = extended_max.count();

constexpr std::int64_t receives_max = 1000;
constexpr const char* halt_after = "HikyakuHaltAfter";
constexpr std::int64_t push_parallelism_max = 1000;
constexpr const char* push_parallelism = "HikyakuPushParallelism";
constexpr std::size_t key_id_bytes_max = 2'048;
constexpr std::size_t policy_bytes_max = 8'192;

std::unexpected<aws::Refusal> bad_value(std::string_view name, std::string_view value) {
  return refuse(ErrorCode::invalid_attribute_value, "Invalid value for the parameter " +
                                                        std::string(name) + ": " +
                                                        std::string(value.substr(0, 100)));
}

/// What one attribute does to the settings.
struct Setting {
  const Exchange& exchange;
  const std::string& queue;
  bool creating;
  PullSettings& settings;
  std::string_view name;
  std::string_view value;

  [[nodiscard]] Checked<std::int64_t> number(std::int64_t min, std::int64_t max) const {
    const auto parsed = parse_unsigned(value);
    if (!parsed || static_cast<std::int64_t>(*parsed) < min ||
        static_cast<std::int64_t>(*parsed) > max) {
      return bad_value(name, value);
    }
    return static_cast<std::int64_t>(*parsed);
  }
  [[nodiscard]] Checked<void> seconds(Millis& out, std::int64_t min, std::int64_t max) const {
    const Checked<std::int64_t> read = number(min, max);
    if (!read) {
      return std::unexpected(read.error());
    }
    out = std::chrono::seconds{*read};
    return {};
  }
  [[nodiscard]] Checked<void> flag(bool& out) const {
    const auto read = parse_bool(value);
    if (!read) {
      return bad_value(name, value);
    }
    out = *read;
    return {};
  }
};

Checked<void> set_policy_text(const Setting& one) {
  if (!one.value.empty() && !parse_json_object(one.value)) {
    return bad_value(one.name, one.value);
  }
  return set_policy(one.settings, one.value);
}

/// Whether `source` may use the queue for its dead letters.
bool allows(const Exchange& exchange, const core::Queue& queue, const std::string& source) {
  const auto policy = parse_json_object(find_extra(*queue.pull, "RedriveAllowPolicy"));
  const auto* const permission = policy ? member(*policy, "redrivePermission") : nullptr;
  if (permission == nullptr || !permission->is_string() || permission->get_string() == "allowAll") {
    return true;
  }
  const auto* const sources = member(*policy, "sourceQueueArns");
  if (permission->get_string() != "byQueue" || sources == nullptr || !sources->is_array()) {
    return false;
  }
  return std::ranges::any_of(sources->get_array(), [&](const auto& one) {
    const auto arn = one.is_string()
                         ? aws::parse_arn({one.get_string().data(), one.get_string().size()})
                         : std::nullopt;
    return arn && arn->account == exchange.account && arn->resource == source;
  });
}

Checked<void> set_redrive(const Setting& one) {
  if (one.value.empty()) {
    one.settings.dead_letters_to.clear();
    one.settings.receives_max = 0;
    return {};
  }
  const auto wrong = [&](std::string_view why) {
    return refuse(ErrorCode::invalid_parameter_value,
                  "Value " + std::string(one.value.substr(0, 200)) +
                      " for parameter RedrivePolicy is invalid. Reason: " + std::string(why));
  };
  if (one.value.size() > policy_bytes_max) {
    return wrong("it is too long.");
  }
  const auto policy = parse_json_object(one.value);
  if (!policy) {
    return wrong("it must be a JSON object.");
  }
  const auto* const target = member(*policy, "deadLetterTargetArn");
  const auto* const count = member(*policy, "maxReceiveCount");
  if (target == nullptr || !target->is_string() || count == nullptr) {
    return wrong("it needs deadLetterTargetArn and maxReceiveCount.");
  }
  const auto& text = target->get_string();
  std::optional<std::uint64_t> receives;
  if (count->is_int64() && count->get_int64() >= 0) {
    receives = static_cast<std::uint64_t>(count->get_int64());
  } else if (count->is_string()) {
    receives = parse_unsigned({count->get_string().data(), count->get_string().size()});
  }
  if (!receives || *receives < 1 || *receives > std::uint64_t{receives_max}) {
    return wrong("maxReceiveCount must be between 1 and 1000.");
  }
  const auto arn = aws::parse_arn({text.data(), text.size()});
  if (!arn) {
    return wrong("deadLetterTargetArn is not the ARN of a queue.");
  }
  const bool itself = arn->resource == one.queue && arn->account == one.exchange.account;
  const auto found = find_queue_by_arn(one.exchange, {text.data(), text.size()});
  if (!found && !itself) {
    return wrong("the dead letter target does not exist.");
  }
  if (found && found->pull->fifo != one.settings.fifo) {
    return wrong(
        "the dead-letter queue of a FIFO queue must be a FIFO queue, and that of a standard "
        "queue a standard one.");
  }
  if (found && !allows(one.exchange, *found, one.queue)) {
    return wrong("the RedriveAllowPolicy of the dead-letter queue does not allow it.");
  }
  one.settings.dead_letters_to = arn->resource;
  one.settings.receives_max = static_cast<std::uint32_t>(*receives);
  set_extra(one.settings, "DeadLetterTargetArn", {text.data(), text.size()});
  return {};
}

Checked<void> set_allow_policy(const Setting& one) {
  if (one.value.empty()) {
    set_extra(one.settings, one.name, "");
    return {};
  }
  const auto policy = parse_json_object(one.value);
  const auto* const permission = policy ? member(*policy, "redrivePermission") : nullptr;
  if (permission == nullptr || !permission->is_string() || one.value.size() > policy_bytes_max) {
    return refuse(ErrorCode::invalid_parameter_value, "RedriveAllowPolicy is invalid.");
  }
  const std::string_view word{permission->get_string().data(), permission->get_string().size()};
  const auto* const sources = member(*policy, "sourceQueueArns");
  const bool by_queue = word == "byQueue";
  const bool listed = sources != nullptr && sources->is_array() && !sources->get_array().empty() &&
                      sources->get_array().size() <= 10;
  if ((word != "allowAll" && word != "denyAll" && !by_queue) || by_queue != listed ||
      (!by_queue && sources != nullptr)) {
    return refuse(
        ErrorCode::invalid_parameter_value,
        "RedriveAllowPolicy is invalid: sourceQueueArns (1 to 10) belongs to byQueue, and "
        "to it alone.");
  }
  set_extra(one.settings, one.name, one.value);
  return {};
}

Checked<void> set_kms_key(const Setting& one) {
  if (one.value.size() > key_id_bytes_max) {
    return bad_value(one.name, one.value);
  }
  set_extra(one.settings, one.name, one.value);
  if (!one.value.empty()) {
    set_extra(one.settings, "SqsManagedSseEnabled", "false");
  }
  return {};
}

Checked<void> set_fifo(const Setting& one) {
  if (!aws::is_fifo_name(one.queue)) {
    return refuse(ErrorCode::invalid_attribute_name, "Unknown Attribute FifoQueue.");
  }
  if (!parse_bool(one.value).value_or(false)) {
    return bad_value(one.name, one.value);
  }
  one.settings.fifo = true;
  return {};
}

Checked<void> set_push_url(const Setting& one) {
  if (!one.value.empty()) {
    if (const auto host = one.exchange.services.options.check_destination(one.value); !host) {
      return refuse(ErrorCode::invalid_attribute_value, "Invalid value for the parameter " +
                                                            std::string(one.name) +
                                                            ". Reason: " + host.error().message);
    }
  }
  one.settings.push.url = one.value;
  return {};
}

struct AttributeRow {
  std::string_view name;
  bool fifo_only;
  Checked<void> (*set)(const Setting& one);  ///< null: read-only
};
constexpr std::array rows = {
    AttributeRow{"FifoQueue", false, set_fifo},
    AttributeRow{
        "VisibilityTimeout", false,
        [](const Setting& one) { return one.seconds(one.settings.visibility, 0, 12 * hour); }},
    AttributeRow{"HikyakuExtendedLimits", false,
                 [](const Setting& one) -> Checked<void> {
                   bool on = false;
                   if (auto read = one.flag(on); !read) {
                     return read;
                   }
                   set_extra(one.settings, one.name, on ? "true" : "");
                   return {};
                 }},
    AttributeRow{"DelaySeconds", false,
                 [](const Setting& one) {
                   return one.seconds(
                       one.settings.delay, 0,
                       has_extended_limits(one.settings) ? beyond_max : delay_seconds_max);
                 }},
    AttributeRow{"MessageRetentionPeriod", false,
                 [](const Setting& one) {
                   return one.seconds(
                       one.settings.retention, 60,
                       has_extended_limits(one.settings) ? beyond_max : retention_max);
                 }},
    AttributeRow{"MaximumMessageSize", false,
                 [](const Setting& one) -> Checked<void> {
                   const Checked<std::int64_t> read = one.number(1024, 1'048'576);
                   if (!read) {
                     return std::unexpected(read.error());
                   }
                   one.settings.bytes_max = static_cast<std::uint32_t>(*read);
                   return {};
                 }},
    AttributeRow{"ReceiveMessageWaitTimeSeconds", false,
                 [](const Setting& one) { return one.seconds(one.settings.wait, 0, 20); }},
    AttributeRow{"Policy", false, set_policy_text},
    AttributeRow{"RedrivePolicy", false, set_redrive},
    AttributeRow{"RedriveAllowPolicy", false, set_allow_policy},
    AttributeRow{"KmsMasterKeyId", false, set_kms_key},
    AttributeRow{"KmsDataKeyReusePeriodSeconds", false,
                 [](const Setting& one) -> Checked<void> {
                   if (const Checked<std::int64_t> read = one.number(60, 86'400); !read) {
                     return std::unexpected(read.error());
                   }
                   set_extra(one.settings, one.name, one.value);
                   return {};
                 }},
    AttributeRow{"SqsManagedSseEnabled", false,
                 [](const Setting& one) -> Checked<void> {
                   bool on = true;
                   if (auto read = one.flag(on); !read) {
                     return read;
                   }
                   set_extra(one.settings, one.name, on ? "true" : "false");
                   return {};
                 }},
    AttributeRow{"ContentBasedDeduplication", true,
                 [](const Setting& one) { return one.flag(one.settings.content_dedup); }},
    AttributeRow{"DeduplicationScope", true,
                 [](const Setting& one) -> Checked<void> {
                   if (one.value != "queue" && one.value != "messageGroup") {
                     return bad_value(one.name, one.value);
                   }
                   one.settings.dedup_by_group = one.value == "messageGroup";
                   return {};
                 }},
    AttributeRow{"FifoThroughputLimit", true,
                 [](const Setting& one) -> Checked<void> {
                   if (one.value != "perMessageGroupId" && one.value != "perQueue") {
                     return bad_value(one.name, one.value);
                   }
                   set_extra(one.settings, one.name, one.value);
                   return {};
                 }},
    AttributeRow{"HikyakuOnFailure", true,
                 [](const Setting& one) -> Checked<void> {
                   if (one.value != "halt" && one.value != "deadLetter") {
                     return bad_value(one.name, one.value);
                   }
                   one.settings.halt = one.value == "halt";
                   return {};
                 }},
    AttributeRow{"HikyakuHaltAfter", true,
                 [](const Setting& one) -> Checked<void> {
                   if (const Checked<std::int64_t> read = one.number(1, receives_max); !read) {
                     return std::unexpected(read.error());
                   }
                   set_extra(one.settings, one.name, one.value);
                   return {};
                 }},
    AttributeRow{"HikyakuPushUrl", false, set_push_url},
    AttributeRow{push_parallelism, false,
                 [](const Setting& one) -> Checked<void> {
                   const Checked<std::int64_t> read = one.number(1, push_parallelism_max);
                   if (!read) {
                     return std::unexpected(read.error());
                   }
                   one.settings.push.parallelism = static_cast<std::uint32_t>(*read);
                   return {};
                 }},
    AttributeRow{"QueueArn", false, nullptr},
    AttributeRow{"CreatedTimestamp", false, nullptr},
    AttributeRow{"LastModifiedTimestamp", false, nullptr},
    AttributeRow{"ApproximateNumberOfMessages", false, nullptr},
    AttributeRow{"ApproximateNumberOfMessagesNotVisible", false, nullptr},
    AttributeRow{"ApproximateNumberOfMessagesDelayed", false, nullptr},
};

std::string halt_after_default() { return std::to_string(core::Limits{}.halt_after); }

std::string seconds_text(Millis time) {
  return std::to_string(std::chrono::duration_cast<std::chrono::seconds>(time).count());
}

/// What is told of the settings.
aws::TextMap shown(const PullSettings& settings) {
  aws::TextMap all;
  all["VisibilityTimeout"] = seconds_text(settings.visibility);
  all["DelaySeconds"] = seconds_text(settings.delay);
  all["MessageRetentionPeriod"] = seconds_text(settings.retention);
  all["MaximumMessageSize"] = std::to_string(settings.bytes_max);
  all["ReceiveMessageWaitTimeSeconds"] = seconds_text(settings.wait);
  all["SqsManagedSseEnabled"] = "true";
  for (const core::Header& one : settings.extra) {
    if (one.name != "Region" && one.name != "DeadLetterTargetArn" &&
        (one.name != "KmsDataKeyReusePeriodSeconds" ||
         !find_extra(settings, "KmsMasterKeyId").empty())) {
      all[one.name] = one.value;
    }
  }
  if (!settings.push.url.empty()) {
    all["HikyakuPushUrl"] = settings.push.url;
  }
  if (settings.push.parallelism != 0) {
    all[push_parallelism] = std::to_string(settings.push.parallelism);
  }
  if (!settings.dead_letters_to.empty()) {
    std::string text;
    JsonWriter json(text);
    json.begin_object();
    json.field("deadLetterTargetArn", find_extra(settings, "DeadLetterTargetArn"));
    json.field("maxReceiveCount", settings.receives_max);
    json.end_object();
    all["RedrivePolicy"] = std::move(text);
  }
  if (settings.fifo) {
    all["FifoQueue"] = "true";
    all["ContentBasedDeduplication"] = settings.content_dedup ? "true" : "false";
    all["DeduplicationScope"] = settings.dedup_by_group ? "messageGroup" : "queue";
    all.try_emplace("FifoThroughputLimit", "perQueue");
    if (settings.halt) {
      all["HikyakuOnFailure"] = "halt";
      if (settings.dead_letters_to.empty()) {
        all.try_emplace(halt_after, halt_after_default());
      }
    }
  }
  return all;
}

/// The same, with what holds though nothing is told of it.
aws::TextMap in_effect(const PullSettings& settings) {
  aws::TextMap all = shown(settings);
  all[push_parallelism] = std::to_string(settings.push.at_once());
  for (const auto& [name, otherwise] :
       {std::pair{"KmsDataKeyReusePeriodSeconds", std::string("300")},
        std::pair{halt_after, halt_after_default()}}) {
    const std::string set = find_extra(settings, name);
    all[name] = set.empty() ? otherwise : set;
  }
  return all;
}

aws::TextMap all_attributes(const Exchange& exchange, const core::Queue& queue,
                            const core::QueueCounted& counted) {
  aws::TextMap all = shown(*queue.pull);
  all["QueueArn"] = arn_of(exchange, queue);
  all["CreatedTimestamp"] = std::to_string(to_ms(queue.created_at) / 1000);
  all["LastModifiedTimestamp"] = std::to_string(to_ms(queue.updated_at) / 1000);
  all["ApproximateNumberOfMessages"] = std::to_string(counted.visible);
  all["ApproximateNumberOfMessagesNotVisible"] = std::to_string(counted.in_flight);
  all["ApproximateNumberOfMessagesDelayed"] = std::to_string(counted.delayed);
  return all;
}

}  // namespace

aws::Checked<void> set_policy(core::PullSettings& settings, std::string_view text) {
  if (text.size() > policy_bytes_max) {
    return refuse(ErrorCode::over_limit,
                  "A policy has at most " + std::to_string(policy_bytes_max) +
                      " bytes; this one has " + std::to_string(text.size()) + ".");
  }
  set_extra(settings, "Policy", text);
  return {};
}

aws::Checked<void> apply_attributes(const Exchange& exchange, const std::string& queue,
                                    const aws::TextMap& given, bool creating,
                                    core::PullSettings& settings) {
  const auto key = given.find("KmsMasterKeyId");
  const auto managed = given.find("SqsManagedSseEnabled");
  if (key != given.end() && managed != given.end() && !key->second.empty() &&
      parse_bool(managed->second).value_or(false)) {
    return refuse(
        ErrorCode::invalid_attribute_name,
        "You can use one type of server-side encryption (SSE) at one time. You can either "
        "enable KMS SSE or SQS SSE.");
  }
  PullSettings changed = settings;
  for (const auto& [name, value] : given) {
    const auto row = std::ranges::find(rows, name, &AttributeRow::name);
    const bool fifo = aws::is_fifo_name(queue);
    if (row == rows.end() || row->set == nullptr || (row->fifo_only && !fifo)) {
      return refuse(ErrorCode::invalid_attribute_name,
                    "Unknown Attribute " + name.substr(0, 100) + ".");
    }
  }
  // In the order of the table: the extended limits before what they widen, the kind of the queue
  // before what depends on it.
  for (const AttributeRow& row : rows) {
    const auto one = given.find(row.name);
    if (one == given.end()) {
      continue;
    }
    const Setting setting{exchange, queue, creating, changed, row.name, one->second};
    if (auto set = row.set(setting); !set) {
      return set;
    }
  }
  if (find_extra(changed, "FifoThroughputLimit") == "perMessageGroupId" &&
      !changed.dedup_by_group) {
    return refuse(ErrorCode::invalid_attribute_value,
                  "FifoThroughputLimit perMessageGroupId needs DeduplicationScope messageGroup.");
  }
  if (changed.dead_letters_to.empty()) {
    // Without a RedrivePolicy, be it never set or taken away just now; 0 = as the core has it.
    changed.receives_max =
        static_cast<std::uint32_t>(parse_unsigned(find_extra(changed, halt_after)).value_or(0));
  }
  settings = std::move(changed);
  return {};
}

bool has_attribute(const Exchange& exchange, const core::Queue& queue, const std::string& name,
                   const std::string& value) {
  const aws::TextMap present = in_effect(*queue.pull);
  if (const auto known = present.find(name); known != present.end() && known->second == value) {
    return true;  // also when it could not be set any more: its dead-letter queue may be gone
  }
  PullSettings changed = *queue.pull;
  return apply_attributes(exchange, queue.name, {{name, value}}, true, changed) &&
         in_effect(changed) == present;
}

aws::Checked<aws::TextMap> read_attributes(const Exchange& exchange, const core::Queue& queue,
                                           const core::QueueCounted& counted,
                                           const std::vector<std::string>& names) {
  aws::TextMap all = all_attributes(exchange, queue, counted);
  aws::TextMap asked;
  for (const std::string& name : names) {
    if (name == "All") {
      return all;
    }
    if (std::ranges::find(rows, name, &AttributeRow::name) == rows.end()) {
      return refuse(ErrorCode::invalid_attribute_name, "Unknown Attribute " + name + ".");
    }
    if (const auto found = all.find(name); found != all.end()) {
      asked[name] = found->second;
    }
  }
  return asked;
}

}  // namespace hk::api::sqs
