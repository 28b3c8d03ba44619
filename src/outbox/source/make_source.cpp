#include "outbox/source/make_source.h"

#include <utility>

#include "outbox/source/notify_source.h"
#include "outbox/source/poll_source.h"
#include "outbox/source/replication_source.h"
#include "outbox/source/slot.h"

namespace hk::outbox {

Result<std::unique_ptr<Source>> make_source(const Settings& settings) {
  switch (settings.source) {
    case SourceKind::poll: return std::make_unique<PollSource>(settings.poll_interval);
    case SourceKind::notify: return std::make_unique<NotifySource>(settings);
    case SourceKind::replication:
      if (auto checked = check_slot_name(settings.slot); !checked) {
        return std::unexpected(std::move(checked).error());
      }
      return std::make_unique<ReplicationSource>(settings);
  }
  std::unreachable();
}

}  // namespace hk::outbox
