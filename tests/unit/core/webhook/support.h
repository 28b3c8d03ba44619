/// What tests of webhooks share: short ways to make applications and endpoints on a Rig.
#pragma once

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/webhook/id.h"
#include "core/webhook/read.h"
#include "unit/core/rig.h"

namespace hk::core::testing {

/// Does it change what management alone does? What waited before goes on in any batch.
template <class... Rs>
bool is_change_of(const Mutation& one) {
  return ((std::holds_alternative<Put<Rs>>(one) || std::holds_alternative<Erase<Rs>>(one)) || ...);
}
inline bool is_managed(const Mutation& one) {
  return is_change_of<webhook::Application, webhook::EventType, webhook::Endpoint, webhook::Name,
                      webhook::AppToken, webhook::Integration, webhook::Settings, webhook::Totals>(
      one);
}

/// The only reply is a refusal for that reason.
inline void expect_refused(const Ran& ran, webhook::Refused::Why why,
                           const std::string& detail = {}) {
  const auto refused = ran.only<webhook::Refused>();
  EXPECT_EQ(refused.why, why);
  EXPECT_EQ(refused.detail, detail);
  for (const Mutation& one : ran.mutations) {
    EXPECT_FALSE(is_managed(one)) << "a refusal changes nothing";
  }
}

inline webhook::Application make_application(Rig& rig, webhook::ApplicationFields fields = {}) {
  return rig.run(webhook::CreateApplication{tenant_one, std::move(fields)})
      .only<webhook::ApplicationStored>()
      .application;
}

inline webhook::EndpointFields to_host(const std::string& host, std::string uid = {}) {
  return {
      .uid = std::move(uid), .url = "https://" + host + "/in", .host = "https://" + host + ":443"};
}
inline webhook::SigningSecret secret(std::string sealed = "s0") {
  return {.sealed = std::move(sealed)};
}

inline webhook::Endpoint make_endpoint(Rig& rig, const std::string& application_ref,
                                       webhook::EndpointFields fields = to_host("a")) {
  return rig.run(webhook::CreateEndpoint{tenant_one, application_ref, std::move(fields), secret()})
      .only<webhook::EndpointStored>()
      .endpoint;
}

inline void make_event_types(Rig& rig, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    rig.run(webhook::CreateEventType{{.tenant = tenant_one, .name = name}})
        .only<webhook::EventTypeStored>();
  }
}

}  // namespace hk::core::testing
