#include "api/aws/route.h"

#include <algorithm>
#include <utility>

#include "api/aws/names.h"
#include "api/aws/sigv4.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view target_prefix = "AmazonSQS.";
constexpr std::string_view sns_version = "2010-03-31";

bool is_link(const ActionRow* row) { return row != nullptr && !row->traits.link.empty(); }

/// The scope of the signature decides, then the version of the API.
Dialect query_dialect(const Checked<Signature>& signature, const QueryForm& form,
                      std::string_view action) {
  if (signature) {
    return signature->scope.service == "sns" ? Dialect::sns_query : Dialect::sqs_query;
  }
  const bool of_sns =
      form.value("Version") == sns_version || is_link(find_action(Dialect::sns_query, action));
  return of_sns ? Dialect::sns_query : Dialect::sqs_query;
}

Checked<Routed> route_json(std::string_view target) {
  if (!target.starts_with(target_prefix) || target.size() == target_prefix.size()) {
    return refuse(
        ErrorCode::unknown_operation,
        "The operation " + std::string(target.substr(0, 200)) + " is not one of AmazonSQS.");
  }
  const std::string_view action = target.substr(target_prefix.size());
  return Routed{Dialect::sqs_json, std::string(action), find_action(Dialect::sqs_json, action), {}};
}

Checked<Routed> route_query(const http::Request& request, const Checked<Signature>& signature) {
  const std::string_view body = request.method == "POST" ? request.body : std::string_view();
  Checked<QueryForm> form = QueryForm::parse(body, request.query());
  if (!form) {
    return std::unexpected(std::move(form.error()));
  }
  const std::string action(form->value("Action").value_or(""));
  if (action.empty()) {
    return refuse(ErrorCode::no_operation,
                  "The request has neither the header X-Amz-Target nor the parameter Action.");
  }
  const Dialect dialect = query_dialect(signature, *form, action);
  const std::optional<QueueRef> queue = parse_queue_url(request.path());
  const ActionRow* const row = find_action(dialect, action);
  if (queue && !is_sns(dialect)) {
    if (row != nullptr && !row->traits.at_queue) {
      return refuse(ErrorCode::unknown_operation,
                    "The action " + action +
                        " is not valid for a queue's own address; send it to "
                        "the path /.");
    }
    form->add("QueueUrl", request.path());
  }
  return Routed{dialect, action, row, std::move(*form)};
}

}  // namespace

std::optional<core::RateClass> rate_class(const ActionRow& row) {
  switch (row.traits.work) {
    case Work::settle: return std::nullopt;
    case Work::receive: return core::RateClass::receive;
    case Work::ordinary: break;
  }
  if (row.traits.messages_max > 0) {
    return core::RateClass::publish;
  }
  const bool reads = row.name.starts_with("Get") || row.name.starts_with("List");
  return reads ? core::RateClass::read : core::RateClass::manage;
}

const ActionRow* find_action(Dialect dialect, std::string_view name) {
  const std::span<const ActionRow> rows = is_sns(dialect) ? sns::actions() : sqs::actions();
  const auto row = std::ranges::find(rows, name, &ActionRow::name);
  return row == rows.end() ? nullptr : &*row;
}

Dialect dialect_of(const http::Request& request) {
  return dialect_of(request, parse_signature(request));
}

Dialect dialect_of(const http::Request& request, const Checked<Signature>& signature) {
  if (request.method == "POST" && request.header("X-Amz-Target")) {
    return Dialect::sqs_json;
  }
  return signature && signature->scope.service == "sns" ? Dialect::sns_query : Dialect::sqs_query;
}

Checked<Routed> route(const http::Request& request) {
  return route(request, parse_signature(request));
}

Checked<Routed> route(const http::Request& request, const Checked<Signature>& signature) {
  if (request.method == "POST") {
    if (const auto target = request.header("X-Amz-Target")) {
      return route_json(*target);
    }
    return route_query(request, signature);
  }
  if (request.method == "GET") {
    return route_query(request, signature);
  }
  return refuse(ErrorCode::no_operation, "Requests are made with POST, or with GET and Action.");
}

Checked<Input> input_of(Routed& routed, const http::Request& request) {
  if (is_json(routed.dialect)) {
    return Input::from_json(request.body);
  }
  return Input::from_form(std::move(routed.form), routed.dialect, routed.action);
}

bool is_unsigned_link(const Routed& routed, const http::Request& request) {
  return is_unsigned_link(routed, request, parse_signature(request));
}

bool is_unsigned_link(const Routed& routed, const http::Request& request,
                      const Checked<Signature>& signature) {
  if (request.method != "GET" || !is_sns(routed.dialect) || !is_link(routed.row)) {
    return false;
  }
  return !signature && signature.error().code == ErrorCode::missing_authentication_token;
}

}  // namespace hk::api::aws
