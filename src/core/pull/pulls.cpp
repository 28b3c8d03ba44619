#include "core/pull/pulls.h"

#include "core/queue/queues.h"

namespace hk::core {

void Pulls::recover(Reader& reader) {
  delays_.recover(reader);
  for (const auto& [key, queue] : queues_.all()) {
    if (queue.retime_up_to != Seq{}) {
      begin_retime(queue);
    }
  }
}

Reply Pulls::execute(PullCommand&& command) {
  return std::visit([this](auto&& one) { return decide(std::forward<decltype(one)>(one)); },
                    std::move(command));
}

Moment Pulls::wake_at() const {
  if (scheduler_.has_fed() || !retimes_.empty() || (!context_.starting && !waits_.empty())) {
    return context_.progress.time();
  }
  return waits_.empty() ? never : std::get<Moment>(*waits_.begin());
}

void Pulls::settings_changed(const Queue& queue) {
  go_on_if_allowed(queue);
  use_push(queue);
}

void Pulls::emptied(const QueueKey& queue) {
  attempts_.forget(queue);
  delays_.forget(queue);
}

}  // namespace hk::core
