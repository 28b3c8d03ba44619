/// A gate is whatever must be open for a lane's head to go: parallelism, a rate, a pause. A lane
/// whose head finds a gate shut parks at it; when the gate opens, it wakes ONE parked lane, which
/// hands the turn on (Scheduler::pass_turn) as long as the gate is open. So a wake-up is never lost
/// and a gate with ten thousand lanes behind it costs nothing while it is shut.
#pragma once

#include <algorithm>
#include <cstdint>
#include <list>
#include <optional>
#include <string>

#include "base/assert.h"
#include "base/time.h"
#include "core/record.h"

namespace hk::core {

struct Lane;

struct Gate {
  enum class Kind : std::uint8_t { destination, flow, queue, push };

  Kind kind{};
  std::uint64_t serial = 0;  ///< orders timers: pointers must not decide anything
  std::string name{};        ///< host, flow key, or queue
  TenantId tenant{};

  std::uint32_t parallelism = 0;  ///< 0 = no limit
  std::uint32_t rate = 0;         ///< starts per period; 0 = no limit
  Millis period{1000};
  bool paused = false;
  Moment shut_until{};    ///< opens by itself then
  bool sweeping = false;  ///< queues: what waited when it was deleted is being cancelled
  bool orphan = false;    ///< the record behind it is gone: it goes with its last user

  std::uint32_t in_use = 0;  ///< attempts; of a destination: their places
  Moment window_start{};
  std::uint32_t window_count = 0;
  Moment last_use{};  ///< flow keys: the last time that a message came, started or ended

  std::size_t users = 0;                      ///< lanes, messages and turns that refer to it
  std::list<Lane*> parked{};                  ///< first come, first woken
  std::uint32_t turns = 0;                    ///< of lanes in the foreground, in a row
  std::optional<Moment> timer{};              ///< when the scheduler looks at it again
  std::optional<std::uint32_t> crowded_at{};  ///< in_use as it stands in TenantLanes::crowded

  [[nodiscard]] bool slot_free() const { return parallelism == 0 || in_use < parallelism; }
  [[nodiscard]] bool rate_free(Moment now) const {
    return rate == 0 || window_count < rate || now >= window_start + period;
  }
  /// Time alone does not keep it shut.
  [[nodiscard]] bool time_free(Moment now) const { return rate_free(now) && now >= shut_until; }
  /// When time alone keeps it shut no longer. REQUIRES: !time_free(now).
  [[nodiscard]] Moment time_free_at(Moment now) const {
    return rate_free(now) ? shut_until : std::max(shut_until, window_start + period);
  }
  [[nodiscard]] bool open(Moment now) const {
    return !paused && !sweeping && slot_free() && time_free(now);
  }

  /// REQUIRES: open(now), or a message that may pass a paused gate.
  void take(Moment now) {
    HK_ASSERT(slot_free());
    HK_ASSERT(time_free(now));
    ++in_use;
    last_use = now;
    if (rate != 0) {
      if (window_count == 0 || now >= window_start + period) {
        window_start = now;  // a window begins with its first start
        window_count = 0;
      }
      ++window_count;
    }
  }

  void give_back(Moment now, std::uint32_t places = 1) {
    HK_ASSERT(in_use >= places);
    in_use -= places;
    last_use = now;
  }
};

}  // namespace hk::core
