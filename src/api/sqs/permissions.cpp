// AddPermission and RemovePermission: statements of the queue's policy. Kept and shown; what a
// tenant may do is decided by whose key signs.
#include <algorithm>
#include <array>

#include "api/aws/names.h"
#include "api/sqs/change_settings.h"
#include "api/sqs/exchange.h"
#include "api/sqs/extra_settings.h"
#include "api/sqs/queue_attributes.h"
#include "base/json_input.h"

namespace hk::api::sqs {

namespace {

namespace json = boost::json;
using aws::Checked;
using aws::ErrorCode;
using aws::refuse;

constexpr std::string_view policy_name = "Policy";
constexpr std::size_t actions_max = 7;

constexpr std::array known_actions = {"*",
                                      "AddPermission",
                                      "ChangeMessageVisibility",
                                      "CreateQueue",
                                      "DeleteMessage",
                                      "DeleteQueue",
                                      "GetQueueAttributes",
                                      "GetQueueUrl",
                                      "ListDeadLetterSourceQueues",
                                      "ListQueues",
                                      "ListQueueTags",
                                      "PurgeQueue",
                                      "ReceiveMessage",
                                      "RemovePermission",
                                      "SendMessage",
                                      "SetQueueAttributes",
                                      "TagQueue",
                                      "UntagQueue"};

/// One value as it is, several as a list.
json::value one_or_list(const std::vector<std::string>& values) {
  if (values.size() == 1) {
    return json::value(values.front());
  }
  json::array list;
  for (const std::string& value : values) {
    list.emplace_back(value);
  }
  return list;
}

json::object policy_of(const core::PullSettings& settings, const std::string& arn) {
  if (auto known = parse_json_object(find_extra(settings, policy_name))) {
    return std::move(*known);
  }
  return {
      {"Version", "2008-10-17"}, {"Id", arn + "/SQSDefaultPolicy"}, {"Statement", json::array{}}};
}

json::array* statements_of(json::object& policy) {
  json::value* const statements = policy.if_contains("Statement");
  return statements == nullptr ? nullptr : statements->if_array();
}

bool is_labelled(const json::value& statement, std::string_view label) {
  const auto* const object = statement.if_object();
  const auto* const sid = object == nullptr ? nullptr : object->if_contains("Sid");
  return sid != nullptr && sid->is_string() &&
         std::string_view(sid->get_string().data(), sid->get_string().size()) == label;
}

}  // namespace

void add_permission(const ExchangePtr& exchange, aws::Input& input) {
  const std::string label(input.required_text("Label"));
  const std::vector<std::string> accounts = input.texts("AWSAccountIds");
  const std::vector<std::string> actions = input.texts("Actions");
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  if (!aws::valid_batch_id(label)) {
    exchange->refuse(aws::invalid_value("Label", label, "1 to 80 letters, digits, '-' and '_'."));
    return;
  }
  if (accounts.empty() || actions.empty()) {
    exchange->refuse(aws::missing_parameter(accounts.empty() ? "AWSAccountIds" : "Actions"));
    return;
  }
  if (actions.size() > actions_max) {
    exchange->refuse({ErrorCode::over_limit, std::to_string(actions.size()) +
                                                 " Actions were found, maximum allowed is 7."});
    return;
  }
  for (const std::string& action : actions) {
    if (std::ranges::find(known_actions, action) == known_actions.end()) {
      exchange->refuse(aws::invalid_value("ActionName", action, "there is no such action."));
      return;
    }
  }
  std::vector<std::string> principals;
  std::vector<std::string> names;
  for (const std::string& account : accounts) {
    principals.push_back("arn:aws:iam::" + account + ":root");
  }
  for (const std::string& action : actions) {
    names.push_back("SQS:" + action);
  }
  const std::string arn = arn_of(*exchange, *queue);
  change_settings(exchange, queue->name, [=](core::PullSettings& settings) -> Checked<void> {
    json::object policy = policy_of(settings, arn);
    json::array* const statements = statements_of(policy);
    if (statements == nullptr) {
      return refuse(ErrorCode::invalid_parameter_value,
                    "The queue's policy has no list of statements to add one to.");
    }
    if (std::ranges::any_of(*statements,
                            [&](const json::value& one) { return is_labelled(one, label); })) {
      return std::unexpected(aws::invalid_value("Label", label, "Already exists."));
    }
    statements->push_back(
        json::object{{"Sid", label},
                     {"Effect", "Allow"},
                     {"Principal", json::object{{"AWS", one_or_list(principals)}}},
                     {"Action", one_or_list(names)},
                     {"Resource", arn}});
    return set_policy(settings, json::serialize(policy));
  });
}

void remove_permission(const ExchangePtr& exchange, aws::Input& input) {
  const std::string label(input.required_text("Label"));
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  const std::string arn = arn_of(*exchange, *queue);
  change_settings(exchange, queue->name, [=](core::PullSettings& settings) -> Checked<void> {
    json::object policy = policy_of(settings, arn);
    json::array* const statements = statements_of(policy);
    const auto found = statements == nullptr
                           ? nullptr
                           : std::ranges::find_if(*statements, [&](const json::value& one) {
                               return is_labelled(one, label);
                             });
    if (statements == nullptr || found == statements->end()) {
      return std::unexpected(
          aws::invalid_value("Label", label, "can't find label on existing policy."));
    }
    statements->erase(found);
    // Also if it is still too long: it may have been set when more was allowed.
    set_extra(settings, policy_name, statements->empty() ? std::string{} : json::serialize(policy));
    return {};
  });
}

}  // namespace hk::api::sqs
