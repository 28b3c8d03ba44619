/// The `data` of events about endpoints. Pure.
#pragma once

#include <optional>
#include <string>

#include "base/json.h"
#include "core/webhook/record.h"

namespace hk::core::webhook {

/// Members of an object that was begun: which endpoint it is. Absent uids are null.
void write_endpoint(JsonWriter& json, const Application& application, const Endpoint& endpoint);
/// {"appId", "appUid", "endpointId", "endpointUid"}
std::string endpoint_data(const Application& application, const Endpoint& endpoint);
/// The same with "failSince", "trigger" and "reason", as the endpoint is disabled. `fail_since` 0:
/// null.
std::string disabled_data(const Application& application, const Endpoint& endpoint,
                          Moment fail_since);

}  // namespace hk::core::webhook
