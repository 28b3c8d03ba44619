/// Which brokers take no rows at the moment, and when each is tried again. A broker is the server
/// of the adapters `hikyaku` and `sqs`, or a host of the adapter `http`; it goes by its name. A
/// fault of a broker is no fault of the row that met it. After some of them in a row the broker is
/// left in peace for a while, longer with each try that fails, and then tried with a few rows; one
/// among answers delays its row alone. Pure; the relay's thread.
///
/// One row may be the cause (it brings the broker to its knees, or takes it longer than we wait),
/// and must not hold up the others for ever. So each fault that is followed by an answer to another
/// row is held against the row that met it; as many as strikes_max of them are one attempt of its
/// own.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>

#include "base/random.h"
#include "base/time.h"

namespace hk::outbox {

class BrokerPauses {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr Millis pause_first{500};
  static constexpr Millis pause_most{30'000};
  static constexpr Millis asked_most{300'000};  ///< of what a broker asks for by Retry-After
  static constexpr int faults_max = 3;          ///< in a row; then it is left in peace
  static constexpr std::size_t probe_rows = 4;
  static constexpr int strikes_max = 10;

  explicit BrokerPauses(std::uint64_t seed) : random_(seed) {}

  /// How many more rows may go to it now: none while it is left in peace, a few to try it.
  [[nodiscard]] std::size_t room(const std::string& broker, Clock::time_point now) const;
  /// When there is room again, unless rows on their way say so earlier.
  [[nodiscard]] Clock::time_point next_try(const std::string& broker) const;

  /// A row goes to it, and has come to its end: each begun() is followed by one ended().
  void begun(const std::string& broker);
  void ended(const std::string& broker);

  struct Fault {
    std::int64_t row = 0;
    bool busy =
        false;  ///< it said that there were too many requests: that is never one row's doing
    std::optional<Millis> retry_after{};
  };
  struct Verdict {
    bool counts = false;  ///< it is the row's own fault by now
    bool paused = false;  ///< a pause has begun with it
    bool away = false;    ///< from now on the broker is called away: a try has failed, too
    int strikes = 0;      ///< held against the row so far
  };
  Verdict failed(const std::string& broker, const Fault& fault, Clock::time_point now);

  /// It answered a row, well or not: it is there. Gives for how long it was called away.
  std::optional<Millis> answered(const std::string& broker, std::int64_t row,
                                 Clock::time_point now);

  /// How many are called away. One that had no row for ten minutes is forgotten, in a while.
  std::size_t away(Clock::time_point now);

 private:
  static constexpr std::size_t rows_max = 10'000;     ///< that are remembered
  static constexpr std::size_t brokers_max = 10'000;  ///< beyond them faults are those of rows
  static constexpr Millis idle_most{600'000};
  static constexpr Millis look_every{60'000};

  struct State {
    std::size_t in_flight = 0;
    int faults = 0;  ///< since the last answer
    int tries = 0;   ///< that failed since the last answer
    Millis pause{};
    Clock::time_point next_try{};
    Clock::time_point since{};  ///< of the first fault after the last answer
    Clock::time_point last{};   ///< of the last one
    bool away = false;
    std::set<std::int64_t> suspects{};  ///< rows that met a fault since the last answer
  };

  void forget_if_well(const std::string& broker);

  SeededRng random_;
  std::size_t away_ = 0;
  Clock::time_point next_look_{};        ///< for idle ones
  std::map<std::string, State> states_;  ///< of brokers that have rows, or are not well
  std::unordered_map<std::int64_t, int> strikes_;
};

}  // namespace hk::outbox
