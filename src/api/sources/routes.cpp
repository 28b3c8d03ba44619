// Inbound sources: the door for services that send webhooks, and what its owner does with it.
#include <array>

#include "api/route.h"
#include "api/sources/handlers.h"

namespace hk::api::sources {

namespace {

// clang-format off
constexpr std::array source_routes = {
    Route{"POST", "/in/{source}", Access::open, receive_inbound,
          {.tag = "sources", .summary = "Receive a webhook: verified, accepted once, durable",
           .request = "bytes", .status = 204}, api::Body::message, {}, Rated::by_content},
    Route{"POST", "/in/{source}/{rest...}", Access::open, receive_inbound,
          {.tag = "sources", .summary = "The same; services may add a path of their own",
           .request = "bytes", .status = 204}, api::Body::message, {}, Rated::by_content},
    Route{"GET", "/in/{source}", Access::open, receive_inbound,
          {.tag = "sources", .summary = "Answer the handshake of a service (X, Meta, Microsoft Graph)"},
          api::Body::message, {}, Rated::by_content},
    Route{"GET", "/in/{source}/{rest...}", Access::open, receive_inbound,
          {.tag = "sources", .summary = "The same; services may add a path of their own"},
          api::Body::message, {}, Rated::by_content},
    Route{"GET", "/api/v1/sources", Access::tenant, list_sources,
          {.tag = "sources", .summary = "List sources", .query = "limit cursor", .response = "SourcePage"}},
    Route{"POST", "/api/v1/sources", Access::tenant, create_source,
          {.tag = "sources", .summary = "Create a source of webhooks", .request = "NewSource", .status = 201,
           .response = "Source"}},
    Route{"GET", "/api/v1/sources/{source}", Access::tenant, get_source,
          {.tag = "sources", .summary = "Show a source, by name or id", .response = "Source"}},
    Route{"PATCH", "/api/v1/sources/{source}", Access::tenant, change_source,
          {.tag = "sources", .summary = "Change a source (JSON Merge Patch)", .request = "SourcePatch",
           .response = "Source"}},
    Route{"DELETE", "/api/v1/sources/{source}", Access::tenant, delete_source,
          {.tag = "sources", .summary = "Delete a source, its events and its quarantine", .status = 204}},
    Route{"POST", "/api/v1/sources/{source}/secrets", Access::tenant, add_secret,
          {.tag = "sources", .summary = "Add a secret; all live ones are tried", .request = "NewSourceSecret",
           .status = 201, .response = "SourceSecret"}},
    Route{"DELETE", "/api/v1/sources/{source}/secrets/{secret}", Access::tenant, remove_secret,
          {.tag = "sources", .summary = "Remove a secret", .status = 204}},
    Route{"GET", "/api/v1/sources/{source}/events", Access::tenant, list_source_events,
          {.tag = "sources", .summary = "List accepted events, newest first", .query = "limit cursor",
           .response = "SourceEventPage"}},
    Route{"GET", "/api/v1/sources/{source}/quarantine", Access::tenant, list_quarantine,
          {.tag = "sources", .summary = "List rejected requests, oldest first", .query = "limit cursor",
           .response = "QuarantinePage"}},
    Route{"POST", "/api/v1/sources/{source}/quarantine/reverify", Access::tenant, reverify_quarantine,
          {.tag = "sources", .summary = "Verify all rejected requests again and release those that pass",
           .response = "QuarantineReverified"}},
    Route{"GET", "/api/v1/sources/{source}/quarantine/{request}", Access::tenant, get_quarantined,
          {.tag = "sources", .summary = "Show a rejected request, and why it was rejected",
           .response = "QuarantinedRequest"}},
    Route{"DELETE", "/api/v1/sources/{source}/quarantine/{request}", Access::tenant, drop_quarantined,
          {.tag = "sources", .summary = "Throw a rejected request away", .status = 204}},
    Route{"POST", "/api/v1/sources/{source}/quarantine/{request}/release", Access::tenant, release_quarantined,
          {.tag = "sources", .summary = "Release a rejected request as it is, unverified",
           .response = "QuarantineRelease"}},
};
// clang-format on
static_assert(writes_take_keys(source_routes));

}  // namespace

RouteTable routes() { return {Surface::own, source_routes}; }

}  // namespace hk::api::sources
