#include "core/machine.h"

namespace hk::core {

/// What is given changes, the rest stays. Pausing twice is success and changes nothing.
Reply Machine::decide(const UpsertQueue& command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (command.parallelism == 0U) {
    return fail(ErrorKind::invalid_argument, "parallelism of a queue must be at least 1");
  }
  Queue& queue = queue_for(command.tenant, command.name);
  const Queue before = queue;
  queue.parallelism = command.parallelism.value_or(queue.parallelism);
  queue.paused = command.paused.value_or(queue.paused);
  if (queue == before) {
    return Done{};
  }
  queue.updated_at = batch_.now();
  dirty_queues_.insert({command.tenant, command.name});
  use_queue_settings(queue);
  return Done{};
}

}  // namespace hk::core
