#include "api/sqs/exchange.h"

#include <algorithm>
#include <array>
#include <functional>
#include <memory>

#include "api/aws/names.h"
#include "api/limits/told.h"
#include "api/sqs/extra_settings.h"
#include "observe/log.h"
#include "observe/metrics.h"

namespace hk::api::sqs {

namespace {

aws::Refusal no_queue() {
  return {aws::ErrorCode::queue_does_not_exist, "The specified queue does not exist."};
}

/// A view never changes, so what it said of a queue is what it would say again: many requests fall
/// between two commits. Only watched, since a view that is held keeps the store from cleaning up.
struct Remembered {
  std::weak_ptr<core::Reader> view{};
  core::TenantId tenant{};
  std::optional<core::Queue> queue{};
};

std::optional<core::Queue> look_up(const Exchange& exchange, std::string_view name) {
  thread_local std::array<Remembered, 16> slots;
  Remembered& slot = slots[std::hash<std::string_view>{}(name) % slots.size()];
  const std::shared_ptr<core::Reader> view =
      exchange.services.submitter.durable_view(exchange.tenant_id());
  if (slot.tenant != exchange.tenant_id() || !slot.queue || slot.queue->name != name ||
      slot.view.lock() != view) {
    slot = {view, exchange.tenant_id(),
            view->get<core::Queue>({exchange.tenant_id(), std::string(name)})};
  }
  return slot.queue && !slot.queue->deleted && slot.queue->pull ? slot.queue : std::nullopt;
}

}  // namespace

bool Exchange::let_in(const limits::Asked& asked) {
  auto ticket = services.admissions.admit(answer_.begun_at(), *tenant, asked);
  if (!ticket) {
    if (asked.of == core::RateClass::publish) {
      services.metrics.publish_refused("rate_limited");
    }
    refuse(ticket.error());
    return false;
  }
  answer_.admitted(std::move(*ticket));
  return true;
}

bool Exchange::costs(std::uint64_t messages) {
  const std::optional<limits::Turned> turned = answer_.recharge(messages);
  if (turned) {
    services.metrics.publish_refused("rate_limited");
    refuse(*turned);
  }
  return !turned;
}

void Exchange::refuse(const limits::Turned& turned) {
  http::Response response =
      aws::error_response(dialect, limits::refusal_for_aws(turned), request_id);
  limits::add_fields_for_aws(response, turned);
  answer_(std::move(response));
}

void Exchange::fail(const Error& error) {
  if (error.kind == ErrorKind::internal || error.kind == ErrorKind::corruption) {
    observe::log(observe::Level::error, "api.internal_error", {{"error", error.message}});
  }
  refuse(aws::refusal_from(error));
}

std::string account_of(core::TenantId tenant) {
  std::string digits = std::to_string(tenant.value() - 1);
  return std::string(digits.size() < 12 ? 12 - digits.size() : 0, '0') + digits;
}

aws::Checked<core::Queue> find_queue(const Exchange& exchange, aws::Input& input) {
  const auto url = input.text("QueueUrl");
  const auto named = url ? aws::parse_queue_url(*url) : std::nullopt;
  if (!named || (!named->account.empty() && named->account != exchange.account)) {
    return std::unexpected(no_queue());
  }
  auto queue = look_up(exchange, named->name);
  if (!queue) {
    return std::unexpected(no_queue());
  }
  return std::move(*queue);
}

std::optional<core::Queue> find_queue_by_arn(const Exchange& exchange, std::string_view arn) {
  const auto named = aws::parse_arn(arn);
  if (!named || named->service != "sqs" || named->account != exchange.account) {
    return std::nullopt;
  }
  return look_up(exchange, named->resource);
}

std::string url_of(const Exchange& exchange, const core::Queue& queue) {
  return aws::queue_url(exchange.base_url, exchange.account, queue.name);
}

std::string arn_of(const Exchange& exchange, const core::Queue& queue) {
  const std::string region = find_extra(*queue.pull, "Region");
  return aws::to_text({.service = "sqs",
                       .region = region.empty() ? exchange.region : region,
                       .account = exchange.account,
                       .resource = queue.name});
}

std::optional<core::Queue> queue_of(Exchange& exchange, aws::Input& input) {
  (void)input.text("QueueUrl");  // of a wrong type it is malformed like any other member
  if (const aws::Refusal* const malformed = input.malformed()) {
    exchange.refuse(*malformed);
    return std::nullopt;
  }
  aws::Checked<core::Queue> queue = find_queue(exchange, input);
  if (!queue) {
    exchange.refuse(queue.error());
    return std::nullopt;
  }
  if (const aws::Refusal* const invalid = input.invalid()) {
    exchange.refuse(*invalid);
    return std::nullopt;
  }
  return std::move(*queue);
}

bool well_formed(Exchange& exchange, const aws::Input& input) {
  for (const aws::Refusal* const wrong : {input.malformed(), input.invalid()}) {
    if (wrong != nullptr) {
      exchange.refuse(*wrong);
      return false;
    }
  }
  return true;
}

bool refused_for_now(Exchange& exchange) {
  const auto& refuse_publishes = exchange.services.options.refuse_publishes;
  const std::optional<std::string> why = refuse_publishes ? refuse_publishes() : std::nullopt;
  if (why) {
    exchange.services.metrics.publish_refused("closed");
    exchange.refuse({aws::ErrorCode::service_unavailable, *why});
  }
  return why.has_value();
}

aws::Refusal told(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found: return no_queue();
    case ErrorKind::invalid_argument:
      return {aws::ErrorCode::invalid_parameter_value, error.message};
    default: return aws::refusal_from(error);
  }
}

}  // namespace hk::api::sqs
