/// Work on many messages, as this API knows it: replays and the expunging of an application are
/// tasks of the core, and "qtask_…", "rpl_…" and "tsk_…" are names of the same one. Any thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/call.h"
#include "base/json.h"
#include "core/record.h"

namespace hk::api::svix {

inline constexpr std::string_view background_task_prefix = "qtask_";
inline constexpr std::string_view replay_prefix = "rpl_";
inline constexpr std::string_view task_prefix = "tsk_";

std::string task_id(const core::Task& task, std::string_view prefix);
/// Nothing: the tenant has no such task of webhooks.
std::optional<core::Task> find_task(core::Reader& reader, core::TenantId tenant,
                                    std::string_view id, std::string_view prefix);
/// Newest first, behind `after`: of both kinds, by when they were started.
std::vector<core::Task> list_tasks(core::Reader& reader, core::TenantId tenant);

/// "endpoint.recover" …
std::string_view task_name(const core::Task& task);
/// When something was last known to have changed.
Moment task_updated_at(const core::Task& task, Moment now);

/// As it is shown here: such a task, or a report, which is finished when it is asked for.
struct BackgroundTask {
  std::string id{};
  std::string_view status{};  ///< "running", "finished", "failed"
  std::string task{};
  std::string data{};  ///< JSON
  Moment updated_at{};
};
BackgroundTask background_task_of(const core::Task& task, Moment now);
BackgroundTask background_task_of(const core::Document& report);
void write_task(JsonWriter& json, const BackgroundTask& task);

/// The kind of documents that are reports; their names are their ids.
inline constexpr const char* report_kind = "webhook_report";
core::Document report_of(core::TenantId tenant, Moment now, std::uint64_t random,
                         std::string_view task, std::string data);

/// Deliveries a second, in thousands: what replays have that say nothing.
inline constexpr std::uint32_t replay_rate_default = 50'000;

}  // namespace hk::api::svix
