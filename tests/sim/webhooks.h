/// Webhooks beside everything else: a server of their own (the real Partition over the simulated
/// store) with applications, endpoints that work, fail, hang or ask to wait, and crashes. What must
/// hold is asked of the records after each batch and of every attempt that starts, not of a model
/// that decides again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "core/webhook/id.h"
#include "core/webhook/options.h"
#include "engine/partition.h"
#include "sim/crons.h"
#include "sim/trace.h"
#include "store/memory/sim_store.h"
#include "store/typed_reader.h"

namespace hk::sim {

class WebhookSimulation {
 public:
  explicit WebhookSimulation(std::uint64_t seed);
  ~WebhookSimulation();
  /// Throws Violation. The digest of all that was started.
  std::uint64_t run();

 private:
  using Number = core::webhook::Number;
  template <class R>
  using Rows = std::vector<core::Row<R>>;

  /// What a client asked for, for when it is answered.
  struct Asked {
    core::Command command{};
    Number application = 0;
    std::set<Number> expunges{};  ///< events
    bool clears = false;          ///< how an endpoint fares is forgotten
  };
  /// With the rates that it had to keep to when it started.
  struct Started {
    core::StartAttempt start{};
    std::uint32_t endpoint_rate = 0;
    std::uint32_t application_rate = 0;
  };
  struct Batch {
    std::vector<Started> starts{};
    std::vector<std::shared_ptr<const core::webhook::Event>> stored{};
    std::set<Number> expunged{};
  };
  struct OnTheWay {
    core::Fence fence{};
    Number endpoint = 0;
    bool by_hand = false;
  };

  // webhooks.cpp
  void open();
  void crash();
  void step();
  void end_due_attempts();
  void run_batch(std::vector<Asked> asked);
  void sync();
  [[nodiscard]] static Started started(core::Reader& reader, core::StartAttempt start);
  void answer(const Started& started);
  void settle();
  std::string why_waiting(Number endpoint);
  [[nodiscard]] std::unique_ptr<store::TypedReader> view();
  bool chance(std::uint32_t permille) { return rng_.below(1000) < permille; }
  Millis up_to(std::int64_t most) {
    return Millis{static_cast<std::int64_t>(rng_.below(static_cast<std::uint64_t>(most) + 1))};
  }

  // webhook_acts.cpp
  Asked act();
  Asked publish();
  Asked change_endpoint(const core::webhook::Endpoint& endpoint);
  core::webhook::OwnDelivery some_options();
  core::webhook::EndpointFields some_fields();
  std::string some_application();
  std::optional<core::webhook::Endpoint> some_endpoint();
  std::optional<core::webhook::Event> some_event();
  Asked heal(const core::webhook::Endpoint& endpoint, bool pause);

  // webhook_checks.cpp
  void check_start(core::Reader& after, const core::StartAttempt& start);
  void check_batch(core::Reader& before, core::Reader& after);
  void check_outcome(core::Reader& after, const core::CompleteAttempt& end);
  void check_published(core::Reader& before, core::Reader& after,
                       const core::webhook::Event& event);
  void check_records(core::Reader& reader);
  void check_replays(core::Reader& reader);
  void check_rate(Number gate, std::uint32_t rate, Moment at);
  void check_gone(const std::set<Number>& events);
  void forget_ended(core::Reader& reader);
  static std::string text_of(Number event) { return "payload-" + std::to_string(event); }

  SeededRng rng_;
  SeededRng core_rng_;
  core::Limits limits_;
  store::SimStore store_;
  SimZones zones_;
  std::unique_ptr<engine::Partition> partition_;
  Moment now_{moment_from_ms(1'000'000)};
  bool faults_ = true;
  bool purges_ = false;
  std::uint64_t digest_ = 0;
  std::uint64_t next_marker_ = 1;

  std::vector<Batch> unsynced_;
  std::multimap<Moment, core::CompleteAttempt> answers_;
  std::map<Number, std::string> acked_;  ///< events by number, and what they carry
  std::set<Number> expunges_asked_;
  std::set<Number> expunged_;                 ///< and somebody was told so
  std::map<core::Seq, OnTheWay> on_the_way_;  ///< in this life of the server
  std::set<Number> cleared_;                  ///< endpoints that began anew at some time
  std::map<std::pair<Number, std::uint32_t>, std::vector<Moment>> rated_;  ///< starts that left
  std::map<std::string, int> modes_;                                       ///< of hosts
};

}  // namespace hk::sim
