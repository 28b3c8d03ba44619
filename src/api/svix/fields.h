/// What several bodies have in common. A POST and a PUT: null is the same as absent, and that is
/// the default. A PATCH: absent stays as it is, null is none. Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
#include "api/svix/input.h"
#include "core/webhook/commands.h"

namespace hk::api::svix {

namespace webhook = core::webhook;

enum class Method : std::uint8_t { post, put, patch };

webhook::ApplicationFields read_application(Input& in);
/// `by_id`: the path names it so. A PUT by another name leaves that name to it.
webhook::ApplicationChanges read_application_changes(Input& in, Method method, bool by_id);
/// `application` of a body: how one is made that is not there; its uid must be `ref`.
std::optional<webhook::ApplicationFields> read_inner_application(Input& in, std::string_view ref);

/// Of an endpoint; `operational`: of those of operational webhooks, which have no channels.
webhook::EndpointFields read_endpoint(const Services& services, Input& in, bool operational);
webhook::EndpointChanges read_endpoint_changes(const Services& services, Input& in, Method method,
                                               bool by_id, bool operational);

/// Names must be legal and values, too; several spellings of one name are refused.
std::vector<core::Header> read_headers(Input& in, std::string_view name, bool of_message);
/// Of a map whose nulls are removals.
struct HeaderChanges {
  std::vector<core::Header> set{};
  std::vector<std::string> remove{};
};
HeaderChanges read_header_changes(Input& in);

std::optional<webhook::Metadata> read_metadata(Input& in);
/// `throttleRate`, else its older name; 0 = none. nullopt: neither was given.
std::optional<std::uint32_t> read_rate(Input& in);

}  // namespace hk::api::svix
