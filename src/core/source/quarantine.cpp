// Requests that were rejected are kept for people to look at. Strangers can make as many as they
// like: so only some of them in a second, and never more than there is room for.
#include <algorithm>

#include "base/sometimes.h"
#include "core/message/messages.h"
#include "core/source/sources.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(source_request_quarantined)
HK_SOMETIMES_DECLARE(source_quarantine_too_often)
HK_SOMETIMES_DECLARE(source_quarantine_drops_the_oldest)
HK_SOMETIMES_DECLARE(source_release_of_a_repeat)
HK_SOMETIMES_DECLARE(source_release_of_what_is_gone)
HK_SOMETIMES_DECLARE(source_request_released)

namespace hk::core {

namespace {

std::unexpected<Error> no_source(const std::string& id) {
  return fail(ErrorKind::not_found, "there is no source " + id);
}

}  // namespace

/// The store shows earlier batches only: what this one has put stands behind all of those, and what
/// it has taken out is still seen there.
std::optional<Quarantined> Sources::oldest(Source& source) {
  std::uint64_t& number = source.quarantine.first;
  while (number < source.quarantine.next) {
    const auto stored =
        batch_.reader().scan(Range<Quarantined>::of(source.tenant, Folder(source.id))
                                 .from(source.tenant, Folder(source.id), number),
                             1);
    if (!stored.empty()) {
      number = stored.front().number;
    }
    if (auto request = batch_.get<Quarantined>({source.tenant, source.id, number})) {
      return request;
    }
    ++number;
  }
  return std::nullopt;
}

void Sources::remove(Source& source, const Quarantined& request) {
  QuarantineState& quarantine = source.quarantine;
  quarantine.bytes -= request.bytes();
  if (--quarantine.items == 0) {
    quarantine.first = quarantine.next;
  }
  batch_.erase<Quarantined>(source.tenant, source.id, request.number);
}

void Sources::make_room(Source& source, std::uint64_t bytes) {
  const auto full = [&] {
    return source.quarantine.items >= limits_.quarantine_items_max ||
           source.quarantine.bytes + bytes > limits_.quarantine_bytes_max;
  };
  while (source.quarantine.items > 0 && full()) {
    const auto request = oldest(source);
    if (!request) {
      return;
    }
    HK_SOMETIMES(source_quarantine_drops_the_oldest);
    remove(source, *request);
    ++source.stats.dropped;
  }
}

Reply Sources::decide(QuarantineInbound command) {
  const auto found = find(command.tenant, command.source);
  if (found == sources_.end()) {
    return no_source(command.source);
  }
  Source& source = change(found);
  source.stats.invalid += command.invalid;
  if (!command.request || command.request->bytes() > limits_.quarantine_bytes_max) {
    return InboundRejected{};
  }
  Known& known = found->second;
  const Moment second = std::chrono::floor<std::chrono::seconds>(batch_.now());
  if (known.second != second) {
    known.second = second;
    known.kept_in_second = 0;
  }
  if (known.kept_in_second >= limits_.quarantined_per_second) {
    HK_SOMETIMES(source_quarantine_too_often);
    return InboundRejected{};
  }
  HK_SOMETIMES(source_request_quarantined);
  ++known.kept_in_second;
  Quarantined& request = *command.request;
  make_room(source, request.bytes());
  request.tenant = source.tenant;
  request.source = source.id;
  request.number = source.quarantine.next++;
  request.nonce = context_.rng.next();
  request.received_at = std::min(request.received_at, batch_.now());
  ++source.quarantine.items;
  source.quarantine.bytes += request.bytes();
  ++source.stats.quarantined;
  batch_.put(Put<Quarantined>{std::move(request)});
  keep_up(source);
  return InboundRejected{.kept = true};
}

/// First everything is checked, then everything is done.
Reply Sources::decide(ReleaseQuarantined command) {
  using Outcome = QuarantineReleased::Outcome;
  const auto found = find(command.tenant, command.source);
  if (found == sources_.end()) {
    return no_source(command.source);
  }
  const auto is_there = [&](std::uint64_t number) {
    return batch_.get<Quarantined>({command.tenant, command.source, number});
  };
  FanOutRoom needed;
  for (ReleaseQuarantined::One& one : command.requests) {
    if (!is_there(one.number) || first_of(found->second.source, one.event.id)) {
      continue;
    }
    if (auto good = check(found->second.source, one.event, needed); !good) {
      return std::unexpected(good.error());
    }
  }
  Source& source = change(found);
  QuarantineReleased released;
  FanOutRoom room;
  for (ReleaseQuarantined::One& one : command.requests) {
    const auto request = is_there(one.number);
    if (!request) {
      HK_SOMETIMES(source_release_of_what_is_gone);
      released.requests.push_back({one.number, Outcome::gone, {}});
      continue;
    }
    remove(source, *request);
    const auto first = first_of(source, one.event.id);
    const InboundReceived received =
        first ? repeated(source, *first)
              : accept(source, std::move(one.event), command.unverified, room);
    if (received.duplicate) {
      HK_SOMETIMES(source_release_of_a_repeat);
    } else {
      HK_SOMETIMES(source_request_released);
    }
    released.requests.push_back({one.number,
                                 received.duplicate ? Outcome::duplicate : Outcome::released,
                                 received.message});
  }
  return released;
}

Reply Sources::decide(const DropQuarantined& command) {
  const auto found = find(command.tenant, command.source);
  if (found == sources_.end()) {
    return no_source(command.source);
  }
  if (const auto request =
          batch_.get<Quarantined>({command.tenant, command.source, command.number})) {
    remove(change(found), *request);
  }
  return Done{};
}

}  // namespace hk::core
