/// The connections of a relay and what it uses over them: one to claim, one to write outcomes
/// meanwhile. Both are there, or neither is; a pause that grows lies between two tries. The relay's
/// thread.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "base/time.h"
#include "outbox/database.h"
#include "outbox/settings.h"
#include "outbox/store.h"

namespace hk::outbox {

class RelayDatabase {
 public:
  using Clock = std::chrono::steady_clock;

  /// `settings` outlives it.
  explicit RelayDatabase(const Settings& settings) : settings_(settings) {}

  [[nodiscard]] bool up() const { return parts_.has_value(); }
  /// Not to be connected before this. Kept when it is connected.
  [[nodiscard]] Clock::time_point next_try() const { return next_try_; }
  void try_now() { next_try_ = Clock::time_point{}; }

  /// Connects and looks at the tables. `doing` is what failed, for the log.
  DatabaseResult<void> connect(std::string_view& doing);
  /// Everything works: the next loss is a new one.
  void works() { pause_ = pause_first; }
  /// Gives up both connections, whatever is under way over them.
  void lose();

  // REQUIRES: up().
  Store& claims() { return parts_->claims; }
  Store& outcomes() { return parts_->outcomes; }

 private:
  static constexpr Millis pause_first{100};

  struct Parts {
    Parts(Database first, Database second, const Settings& settings, const Shape& shape)
        : claim_database(std::move(first)),
          outcome_database(std::move(second)),
          claims(claim_database, settings, shape),
          outcomes(outcome_database, settings, shape) {}
    Database claim_database;
    Database outcome_database;
    Store claims;
    Store outcomes;
  };

  const Settings& settings_;
  std::optional<Parts> parts_;
  Millis pause_ = pause_first;
  Clock::time_point next_try_{};
};

}  // namespace hk::outbox
