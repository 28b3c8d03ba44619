#include "api/sns/actions.h"

#include "api/aws/names.h"
#include "api/text.h"
#include "base/encoding.h"

namespace hk::api::sns {

namespace {

const std::string token_version(1, '\x01');

}  // namespace

bool enter_by_link(Exchange& exchange, std::string_view arn) {
  const auto parsed = aws::parse_arn(arn);
  const auto number = parsed ? parse_unsigned(parsed->account) : std::nullopt;
  if (!number || *number >= UINT32_MAX) {
    return false;
  }
  const core::TenantId tenant{static_cast<std::uint32_t>(*number) + 1};
  auto known = exchange.services.tenants.find(tenant);
  if (!known) {
    return false;
  }
  exchange.of_tenant(std::move(known));
  exchange.account = sqs::account_of(tenant);
  exchange.region = parsed->region;
  return true;
}

std::string to_token(std::string_view place) { return base64(token_version + std::string(place)); }

std::optional<std::string> page_begin(Exchange& exchange, aws::Input& input) {
  const std::string token(input.text("NextToken").value_or(""));
  if (!sqs::well_formed(exchange, input)) {
    return std::nullopt;
  }
  if (token.empty()) {
    return std::string();
  }
  auto place = unbase64(token);
  if (!place || !place->starts_with(token_version)) {
    exchange.refuse(invalid("NextToken", "it is not one that a list of this server ended with"));
    return std::nullopt;
  }
  return place->substr(token_version.size());
}

namespace {

template <class Name>
std::optional<Name> or_refused(Exchange& exchange, aws::Checked<Name> name) {
  if (!name) {
    exchange.refuse(name.error());
    return std::nullopt;
  }
  return std::move(*name);
}

}  // namespace

std::optional<std::string> named_topic(Exchange& exchange, std::string_view parameter,
                                       std::string_view arn) {
  return or_refused(exchange, topic_name(exchange, parameter, arn));
}

std::optional<SubscriptionName> named_subscription(Exchange& exchange, std::string_view arn) {
  return or_refused(exchange, subscription_name(exchange, arn));
}

std::shared_ptr<const Topic> topic_of(Exchange& exchange, std::string_view parameter,
                                      std::string_view arn) {
  const auto name = named_topic(exchange, parameter, arn);
  if (!name) {
    return nullptr;
  }
  auto topic = find_topic(exchange, *name);
  if (!topic) {
    exchange.refuse(no_topic());
  }
  return topic;
}

}  // namespace hk::api::sns
