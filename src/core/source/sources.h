/// Inbound sources: services that send webhooks to this server. The adapter has verified a request
/// before it comes here; that an event becomes a message once, and that what was rejected takes
/// only so much room, is decided here. A component (component.h).
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class Messages;
class Queues;
class Tenants;
class Timers;
class Topics;
struct FanOutRoom;

class Sources : Component {
 public:
  Sources(Context& context, Tenants& tenants, Timers& timers, const Queues& queues, Topics& topics,
          Messages& messages)
      : Component(context),
        tenants_(tenants),
        timers_(timers),
        queues_(queues),
        topics_(topics),
        messages_(messages) {}

  void recover(Reader& reader);
  Reply execute(SourceCommand&& command);
  void flush();

  /// Events and rejected requests may have been kept long enough.
  void on_upkeep_timer(Moment due, TenantId tenant, const std::string& id);
  /// More of what a deleted source had goes.
  void on_sweep_timer(TenantId tenant, const std::string& id);

 private:
  using Key = std::pair<TenantId, std::string>;
  struct Known {
    Source source{};
    // How many were kept in this second; not stored.
    Moment second{};
    std::size_t kept_in_second = 0;
  };
  using Records = std::map<Key, Known>;

  Reply decide(PutSource command);
  Reply decide(const DeleteSource& command);
  Reply decide(ReceiveInbound command);
  Reply decide(QuarantineInbound command);
  Reply decide(ReleaseQuarantined command);
  Reply decide(const DropQuarantined& command);

  /// End of the records: there is none.
  Records::iterator find(TenantId tenant, const std::string& id);
  /// To be changed: it is written with this batch.
  Source& change(Records::iterator at);
  void put_name(const Source& source, const std::string& name);

  // receive.cpp
  std::optional<MessageId> first_of(const Source& source, const std::string& event_id);
  /// May the message be sent, beside what has taken room already?
  Result<void> check(const Source& source, InboundEvent& event, FanOutRoom& room);
  /// REQUIRES: check(), and it is no repeat.
  InboundReceived accept(Source& source, InboundEvent event, bool unverified, FanOutRoom& room);
  InboundReceived repeated(Source& source, MessageId first);

  // quarantine.cpp
  std::optional<Quarantined> oldest(Source& source);
  void remove(Source& source, const Quarantined& request);
  void make_room(Source& source, std::uint64_t bytes);

  // upkeep.cpp
  void keep_up(Source& source);
  /// True: there is more. A bounded part of the events that came before then.
  bool forget_events(TenantId tenant, const std::string& id, Moment before, bool& any_left);

  Tenants& tenants_;
  Timers& timers_;
  const Queues& queues_;
  Topics& topics_;
  Messages& messages_;

  Records sources_;
  std::map<std::string, Key, std::less<>> names_;
  std::map<TenantId, std::size_t> count_of_;  ///< none is 0
  std::set<Key> dirty_;                       ///< those not in sources_ are gone
};

}  // namespace hk::core
