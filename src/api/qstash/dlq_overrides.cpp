#include "api/qstash/dlq_overrides.h"

#include "api/qstash/given_options.h"
#include "api/qstash/publish_options.h"

namespace hk::api::qstash {

namespace {

/// They say what a message is rather than how it is delivered: a retry is of the same one.
constexpr Option fixed_options[] = {Option::deduplication_id, Option::content_based,
                                    Option::redact,           Option::cron,
                                    Option::header_forward,   Option::queue_name};

}  // namespace

Result<DeadLetterChanges> read_overrides(const Options& options, Moment now, core::TenantId tenant,
                                         std::vector<net::Field>& fields) {
  std::erase_if(fields, [](const net::Field& field) { return !is_option_header(field.name); });
  if (fields.empty()) {
    return nullptr;
  }
  Given given;
  std::vector<net::Field> copies = fields;  // what is given is looked at first, then understood
  if (auto collected = collect_fields(copies, given); !collected) {
    return std::unexpected(collected.error());
  }
  for (const Option option : fixed_options) {
    if (given[option] != nullptr) {
      return refused(option, "cannot be changed in a retry; nothing was retried");
    }
  }

  core::Publish read;
  read.message = std::make_unique<core::Message>();
  core::Message& message = *read.message;
  message.tenant = tenant;
  if (auto understood = read_publish_options(options, now, fields, {}, read); !understood) {
    return std::unexpected(understood.error());
  }

  auto changes = std::make_shared<core::RetryDeadLetter::Changes>();
  if (given[Option::method] != nullptr) changes->method = std::move(message.method);
  if (!message.headers.empty()) changes->headers = std::move(message.headers);
  if (given[Option::retries] != nullptr) changes->retries_max = message.retry.retries_max;
  if (given[Option::retry_delay] != nullptr) changes->retry_delay = std::move(message.retry.delay);
  if (given[Option::timeout] != nullptr) changes->timeout = message.timeout;
  if (given[Option::label] != nullptr) changes->labels = std::move(message.labels);
  if (given[Option::callback] != nullptr) changes->callback = std::move(message.callback);
  if (given[Option::failure_callback] != nullptr) {
    changes->failure_callback = std::move(message.failure_callback);
  }
  changes->flow = std::move(read.flow);
  changes->not_before = message.not_before;
  changes->delay = read.delay;
  return changes;
}

}  // namespace hk::api::qstash
