#include "core/queue/queues.h"
#include "core/tenant/tenants.h"

namespace hk::core {

/// What is given changes, the rest stays. Pausing twice is success and changes nothing.
Reply Queues::decide(const UpsertQueue& command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (command.parallelism == 0U) {
    return fail(ErrorKind::invalid_argument, "parallelism of a queue must be at least 1");
  }
  const auto at = make(command.tenant, command.name);
  const std::uint32_t parallelism = command.parallelism.value_or(at->second.parallelism);
  const bool paused = command.paused.value_or(at->second.paused);
  if (parallelism == at->second.parallelism && paused == at->second.paused) {
    return Done{};
  }
  Queue& queue = change(at);
  queue.parallelism = parallelism;
  queue.paused = paused;
  queue.updated_at = batch_.now();
  use_settings(queue);
  return Done{};
}

}  // namespace hk::core
