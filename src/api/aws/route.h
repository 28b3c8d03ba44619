/// Which action of which service a request asks for, in which protocol. The first thing done with a
/// request to the AWS surfaces: then its signature is verified for service_of(dialect), then its
/// parameters are read. Pure, any thread.
#pragma once

#include <string>
#include <string_view>

#include "api/aws/action.h"
#include "api/aws/dialect.h"
#include "api/aws/errors.h"
#include "api/aws/input.h"
#include "api/aws/query_form.h"
#include "api/aws/sigv4.h"
#include "edge/http/message.h"

namespace hk::api::aws {

struct Routed {
  Dialect dialect = Dialect::sqs_json;
  std::string action{};            ///< as asked for
  const ActionRow* row = nullptr;  ///< null: the service has no such action
  QueryForm form{};  ///< Query protocol: the fields, with QueueUrl from the path if need be
};

// `signature` is what parse_signature() says of the request, which is read once. The forms without
// it read it themselves.

/// How a refusal of route() is told: known before anything else about the request.
Dialect dialect_of(const http::Request& request, const Checked<Signature>& signature);
Dialect dialect_of(const http::Request& request);

/// no_operation: neither target nor action; unknown_operation: a target of another service, or an
/// action that a queue's path does not have; serialization: broken fields.
Checked<Routed> route(const http::Request& request, const Checked<Signature>& signature);
Checked<Routed> route(const http::Request& request);

/// The parameters of a routed request. serialization: a body that is not a JSON object.
Checked<Input> input_of(Routed& routed, const http::Request& request);

/// A link in a message that SNS delivered, which works without a signature.
bool is_unsigned_link(const Routed& routed, const http::Request& request,
                      const Checked<Signature>& signature);
bool is_unsigned_link(const Routed& routed, const http::Request& request);

}  // namespace hk::api::aws
