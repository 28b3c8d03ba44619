// What the API of webhooks has beyond Svix: delivery options, state, replays.
#include <array>

#include "api/route.h"
#include "api/webhooks/handlers.h"

namespace hk::api::webhooks {

namespace {

// clang-format off
constexpr std::array webhook_routes = {
    Route{"GET", "/api/v1/webhooks/app/{app}/endpoint/{endpoint}/delivery", Access::app_view, get_delivery,
          {.tag = "webhooks", .summary = "Show how an endpoint is delivered to", .response = "WebhookDelivery"}},
    Route{"PATCH", "/api/v1/webhooks/app/{app}/endpoint/{endpoint}/delivery", Access::app_manage, patch_delivery,
          {.tag = "webhooks", .summary = "Change how an endpoint is delivered to (JSON merge patch)", .request = "WebhookDelivery",
           .response = "WebhookDelivery"}},
    Route{"GET", "/api/v1/webhooks/app/{app}/endpoint/{endpoint}/state", Access::app_view, get_state,
          {.tag = "webhooks", .summary = "Show the health of an endpoint, and what holds its deliveries", .response = "WebhookState"}},
    Route{"POST", "/api/v1/webhooks/app/{app}/endpoint/{endpoint}/pause", Access::app_manage, pause,
          {.tag = "webhooks", .summary = "Hold the deliveries of an endpoint", .status = 204}},
    Route{"POST", "/api/v1/webhooks/app/{app}/endpoint/{endpoint}/resume", Access::app_manage, resume,
          {.tag = "webhooks", .summary = "Deliver what is held, or cancel it", .request = "WebhookResume", .response = "WebhookResumed"}},
    Route{"GET", "/api/v1/webhooks/settings", Access::tenant, get_settings,
          {.tag = "webhooks", .summary = "Show the defaults of endpoints", .response = "WebhookSettings"}},
    Route{"PATCH", "/api/v1/webhooks/settings", Access::tenant, patch_settings,
          {.tag = "webhooks", .summary = "Change the defaults of endpoints (JSON merge patch)", .request = "WebhookSettings",
           .response = "WebhookSettings"}},
    Route{"POST", "/api/v1/webhooks/replays", Access::app_attempt, create_replay,
          {.tag = "webhooks", .summary = "Make deliveries again, or count them", .request = "WebhookReplayIn", .status = 202,
           .response = "WebhookReplay"}},
    Route{"GET", "/api/v1/webhooks/replays", Access::app_view, list_replays,
          {.tag = "webhooks", .summary = "List replays, newest first", .query = "limit cursor", .response = "WebhookReplayPage"}},
    Route{"GET", "/api/v1/webhooks/replays/{replay}", Access::app_view, get_replay,
          {.tag = "webhooks", .summary = "Show a replay", .response = "WebhookReplay"}},
    Route{"PATCH", "/api/v1/webhooks/replays/{replay}", Access::app_attempt, patch_replay,
          {.tag = "webhooks", .summary = "Change the speed of a replay", .request = "WebhookReplayRate", .response = "WebhookReplay"}},
    Route{"POST", "/api/v1/webhooks/replays/{replay}/pause", Access::app_attempt, pause_replay,
          {.tag = "webhooks", .summary = "Pause a replay", .response = "WebhookReplay"}},
    Route{"POST", "/api/v1/webhooks/replays/{replay}/resume", Access::app_attempt, resume_replay,
          {.tag = "webhooks", .summary = "Go on with a replay", .response = "WebhookReplay"}},
    Route{"POST", "/api/v1/webhooks/replays/{replay}/cancel", Access::app_attempt, cancel_replay,
          {.tag = "webhooks", .summary = "Cancel a replay, and what it has queued and not started", .response = "WebhookReplay"}},
    Route{"GET", "/api/v1/tasks/{task}", Access::tenant, get_task,
          {.tag = "webhooks", .summary = "Show a task of webhooks under its general name", .response = "WebhookTaskRecord"}},
};
// clang-format on
static_assert(writes_take_keys(webhook_routes));

}  // namespace

RouteTable routes() { return {Surface::own, webhook_routes}; }

}  // namespace hk::api::webhooks
