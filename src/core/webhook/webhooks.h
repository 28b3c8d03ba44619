/// Webhooks to the customers of a tenant: applications with their endpoints, event types, tokens,
/// and what is published to them. An event and the deliveries to all endpoints that it matches are
/// one batch. A delivery is a message like all others (Messages::accept); what is of its own here
/// is what its endpoint adds: where it goes, when it is tried again, and the gates in its way. A
/// component (component.h).
///
/// The gates of an endpoint are flow gates of the Scheduler whose names begin with `gate_mark`: its
/// own (pause, rate, parallelism), its circuit, and that of its application (rate). They are made
/// with the first lane that waits behind them and go with the last; what they let through is said
/// by the endpoint's records, never by a FlowKey.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/command.h"
#include "core/component.h"
#include "core/lane/scheduler.h"
#include "core/webhook/gate_name.h"

namespace hk::core {

class Lanes;
class Messages;
class Queues;
class Tasks;
class Tenants;
class Timers;

namespace webhook {

/// One attempt that somebody asked for. It passes by order and circuit, and says nothing about how
/// its endpoint fares unless it succeeds.
bool is_by_hand(const WebhookPart& part);
/// By hand, and of a delivery that is there: it has no row of its own and is counted nowhere.
bool is_companion(const WebhookPart& part);

class Webhooks : Component {
 public:
  Webhooks(Context& context, Scheduler& scheduler, Lanes& lanes, const Tenants& tenants,
           Messages& messages, Timers& timers, Tasks& tasks)
      : Component(context),
        scheduler_(scheduler),
        lanes_(lanes),
        tenants_(tenants),
        messages_(messages),
        timers_(timers),
        tasks_(tasks) {}

  /// REQUIRES: nothing waits in memory yet.
  void recover(Reader& reader);
  Reply execute(WebhookCommand&& command);
  /// What waits for nobody any more is cancelled.
  void advance();
  [[nodiscard]] Moment wake_at() const;
  /// Health and counts that the batch has changed.
  void flush();

  // ---- for Messages and Lanes: a message that has a WebhookPart ----

  /// A lane of an endpoint was made: its gates are as its records say.
  void lane_made(Lane& lane);
  /// Why a delivery does not go: every gate of ours that is shut for it.
  void explain(const Message& delivery, const Lane& lane, std::vector<Hold>& holds);
  /// What is sent, and what goes around it. Else its event's payload or its endpoint is gone, and
  /// the delivery ends as cancelled, for that reason. REQUIRES: it has passed its gates.
  struct Sending {
    std::shared_ptr<const Message> message{};
    std::shared_ptr<const WebhookTarget> target{};
  };
  std::expected<Sending, CancelReason> begin_attempt(const Live& live, const Message& delivery);
  /// What comes of an attempt that has ended. Records it for its endpoint's list, health and
  /// counts; may shut its gate, disable it, and publish operational events.
  struct Outcome {
    bool delivered = false;
    bool give_up = false;
    std::optional<Millis> retry_after{};
    bool timed_out = false;  ///< or nobody said how it ended
  };
  struct Verdict {
    enum class Next : std::uint8_t { fail, try_again, cancel };
    Next next = Next::fail;  ///< if it was not delivered
    Millis delay{};          ///< try_again
    CancelReason reason{};   ///< cancel
  };
  Verdict attempt_ended(const Message& delivery, const Attempt& attempt, const Outcome& outcome);
  /// This server could not make it: the endpoint's other deliveries need not try just now. How long
  /// until it may be tried again.
  Millis attempt_not_made(const Message& delivery);
  /// Any end of a delivery: counts, its replay, what it settles. `state` is final.
  void delivery_ended(const Message& delivery, const MessageState& state);
  /// A dead letter goes back to work, as a new generation. Errors as RetryDeadLetter.
  Result<MessageId> redeliver(const Message& delivery);
  /// Kept long enough: what is stored beside its message goes, too.
  void purge_delivery(const Message& delivery, const MessageState& state);
  /// Its time or that of its payload may be over.
  void expire_event(TenantId tenant, Number application, Number number);
  void on_timer(const Timer& timer);

  // ---- what is there, also what this batch has made ----

  /// An application with all its endpoints, in the order of their numbers; `operational` is always
  /// there. Those used lately are in memory: a publish looks at all of them.
  struct Known {
    Application application{};
    std::vector<std::shared_ptr<const Endpoint>> endpoints{};

    /// Null: there is none of that number.
    [[nodiscard]] std::shared_ptr<const Endpoint> endpoint(Number number) const;
    /// By its id or its uid.
    [[nodiscard]] std::shared_ptr<const Endpoint> endpoint(std::string_view ref) const;
  };
  /// Null: there is no such application. What is given out does not change any more.
  std::shared_ptr<const Known> known(TenantId tenant, Number application);
  /// By its id or its uid; "" is the hidden one.
  std::shared_ptr<const Known> known(TenantId tenant, std::string_view application_ref);
  const Settings& settings(TenantId tenant);
  /// One that is made in the course of something else: who publishes to a customer that is new, or
  /// lets one in. What is wrong with it is Refused.
  std::expected<std::shared_ptr<const Known>, Refused> make_application(TenantId tenant,
                                                                        ApplicationFields fields);

  // ---- for tasks: a replay ----
  // (core/task/replay.cpp)

  /// A delivery of an event that is there already, made again. Nothing: its payload is gone, or one
  /// that the same replay made is there.
  std::optional<MessageId> deliver_again(const Event& event, const Endpoint& endpoint,
                                         std::uint64_t replay, bool retry);
  /// Also one that this batch has made.
  std::optional<DeliveryRow> newest_delivery(TenantId tenant, Number endpoint, Number event);
  /// What waits of that replay for the endpoint is cancelled, over several batches.
  void cancel_replayed(TenantId tenant, Number application, Number endpoint, std::uint64_t replay);
  /// Its payload goes, and what waits of it is cancelled, up to `left` deliveries: those beyond end
  /// when their turn comes. False: it was gone.
  bool expunge(Event event, std::size_t& left);
  /// What the server itself tells the tenant: an event of the hidden application, if anybody there
  /// wants it. `data` is JSON.
  void tell(TenantId tenant, std::string_view type, std::string_view data);

 private:
  // applications.cpp
  Reply decide(CreateApplication command);
  Reply decide(ChangeApplication command);
  Reply decide(const DeleteApplication& command);
  // event_types.cpp
  Reply decide(CreateEventType command);
  Reply decide(ChangeEventType command);
  Reply decide(const DeleteEventType& command);
  Reply decide(ImportEventTypes command);
  // endpoints.cpp
  Reply decide(CreateEndpoint command);
  Reply decide(ChangeEndpoint command);
  Reply decide(const DeleteEndpoint& command);
  Reply decide(RotateSecret command);
  Reply decide(ChangeHeaders command);
  Reply decide(const ChangeDelivery& command);
  Reply decide(const PauseEndpoint& command);
  Reply decide(const ResumeEndpoint& command);
  Reply decide(const CancelWaiting& command);
  Reply decide(const InspectEndpoint& command);
  Reply decide(PutSettings command);  // settings.cpp
  // tokens.cpp
  Reply decide(CreateToken command);
  Reply decide(const ExpireTokens& command);
  Reply decide(const DropToken& command);
  Reply decide(CreateIntegration command);
  Reply decide(ChangeIntegration command);
  Reply decide(const DeleteIntegration& command);
  Reply decide(RotateIntegrationKey command);
  // publish.cpp
  Reply decide(PublishEvent command);
  Reply decide(const Resend& command);
  // expunge.cpp
  Reply decide(const ExpungeEvents& command);
  Reply decide(const ExpungeAttempt& command);

  // known.cpp: nothing else changes what is stored of them
  void put(Application application);
  /// With the counts of its application.
  void put(Endpoint endpoint);
  void erase(const Endpoint& endpoint);
  /// REQUIRES: it has no endpoints.
  void erase(const Application& application);
  void remember(std::shared_ptr<const Known> known);
  [[nodiscard]] std::optional<Number> named(TenantId tenant, Name::Kind kind, Number scope,
                                            std::string_view text);
  void name(TenantId tenant, Name::Kind kind, Number scope, const std::string& text, Number number);
  void unname(TenantId tenant, Name::Kind kind, Number scope, const std::string& text);
  /// From one text to another; "" = none.
  void rename(TenantId tenant, Name::Kind kind, Number scope, Number number,
              const std::string& before, const std::string& after);
  Totals totals(TenantId tenant);
  Made made_now();

  struct Found {
    std::shared_ptr<const Known> known{};
    std::shared_ptr<const Endpoint> endpoint{};
  };
  /// One that is no hidden one.
  std::expected<std::shared_ptr<const Known>, Refused> find(TenantId tenant,
                                                            std::string_view application_ref);
  std::expected<Found, Refused> find(TenantId tenant, std::string_view application_ref,
                                     std::string_view endpoint_ref);

  // endpoints.cpp
  /// Of `names`, those in `before` may be anything.
  std::expected<void, Refused> check_event_types(const Application& application,
                                                 const std::vector<std::string>& names,
                                                 const std::vector<std::string>& before);
  std::expected<void, Refused> check_secrets(const Endpoint& endpoint);
  Reply create(const Known& known, EndpointFields fields, SigningSecret secret);
  Reply store(const Known& known, const Endpoint& before, Endpoint after);
  void tell_of(const Application& application, const Endpoint& endpoint, std::string_view type);
  void tell_of_disabled(const Application& application, const Endpoint& endpoint);

  // tokens.cpp
  std::vector<AppToken> tokens_of(const Application& application);
  std::vector<Integration> integrations_of(const Application& application);
  /// REQUIRES: they are tokens of that application's sessions.
  void drop(Application application, const std::vector<AppToken>& tokens);
  void put_key(const Integration& integration);
  void drop_all_tokens(const Application& application);
  std::expected<Integration, Refused> find_integration(const Application& application,
                                                       std::string_view id);
  /// The time of a token may be over.
  void on_token_timer(TenantId tenant, const std::string& digest);

  // ---- what becomes of deliveries when something changes ----

  using Endpoints = std::vector<std::shared_ptr<const Endpoint>>;

  // publish.cpp
  /// Nothing is delivered to it now.
  [[nodiscard]] static bool is_shut(const Endpoint& endpoint);
  std::shared_ptr<const Event> publish(Event event, Number application, const Endpoints& to);
  MessageId deliver(const Event& event, const Endpoint& endpoint, WebhookPart part);
  std::optional<Event> find_event(TenantId tenant, Number application, std::string_view ref);
  void address(Event event, Number endpoint, Seq delivery);  // resend.cpp

  // attempt.cpp
  void record_attempt(const Message& delivery, const Attempt& attempt, bool delivered);
  Millis jittered(Millis delay, double part);
  Millis wait_before(std::uint32_t number, const Delivery& options, const Attempt& attempt,
                     const Outcome& outcome);
  void settled_by_hand(const Message& companion, const MessageState& state);

  // gates.cpp
  void set_gates(TenantId tenant, Number application, Number number);
  void set_application_gate(TenantId tenant, Number application);
  void note_windows(const Lane& lane);

  // stats.cpp
  struct Watched {
    Health health{};
    bool changed = false;
    bool gone = false;
  };
  Watched& watch(TenantId tenant, Number endpoint);
  /// As it is now, and to be changed: then it is written with this batch.
  const Health& look_at(TenantId tenant, Number endpoint);
  Health& change_health(TenantId tenant, Number endpoint);
  void forget_health(TenantId tenant, Number endpoint);
  /// Of the hour of that moment.
  Stats& change_stats(TenantId tenant, Number endpoint, Moment at);
  /// What the batch has counted is written.
  void write_counts();

  // health.cpp
  void became_healthy(const Endpoint& endpoint);
  static void clear_failures(Health& health);
  void count_failure(const Known& known, const Endpoint& endpoint, const Delivery& options,
                     const WebhookPart& part, const Attempt& attempt, const Outcome& outcome);
  bool move_circuit(Health& health, const Delivery& options, bool is_probe);
  void slow_down(const Endpoint& endpoint, const Delivery& options);
  void judge(const Known& known, const Endpoint& endpoint, const Delivery& options);
  void disable(const Known& known, const Endpoint& endpoint, Endpoint::Disabled why);

  // hold.cpp
  void make_room(const Endpoint& endpoint, const Delivery& options, const WebhookPart& part);
  const Live* oldest_held(const Endpoint& endpoint);
  void watch_hold(const Endpoint& endpoint, const Delivery& options);
  void on_hold_timer(TenantId tenant, const GateName& name);
  void opened(const Endpoint& endpoint, const Delivery& options);
  void on_ramp_timer(TenantId tenant, const GateName& name);
  void end_ramp(TenantId tenant, Number application, Number endpoint);

  // sweep.cpp
  /// A sweep, and how far it is, in memory. A restart begins at the first lane again.
  struct SweepRun {
    Sweep sweep{};
    std::size_t section = 0;
    std::optional<LaneKey> lane{};
    std::optional<LanePlace> after{};
    std::uint64_t canceled = 0;
    Moment oldest = never;  ///< when the oldest of what it left has been due
  };
  void begin_sweep(Sweep sweep);
  [[nodiscard]] bool is_swept(TenantId tenant, Number endpoint) const;
  bool next_lane(SweepRun& run);
  bool go_on(SweepRun& run, std::size_t& budget);
  void cancel_if_meant(SweepRun& run, Seq seq);
  void hold_swept(const SweepRun& run);

  // operational.cpp
  void tell_of_message(const Message& delivery, const Known& known, const Endpoint& endpoint,
                       const Attempt& attempt, std::string_view type);
  void tell_of_failing(const Known& known, const Endpoint& endpoint, std::uint32_t percent,
                       std::optional<Moment> disable_at);
  void tell_of_hold(const Endpoint& endpoint, const char* reason);

  /// It is gone, or its application is: what waits for it is cancelled, over several batches.
  void cancel_deliveries(const Endpoint& endpoint, CancelReason reason);
  /// Its gates follow. One that is not disabled any more begins anew: it is healthy, and what was
  /// held is released.
  void endpoint_changed(const Endpoint& before, const Endpoint& after);
  void application_changed(const Application& application);
  /// The defaults of endpoints that do not say it themselves.
  void settings_changed(TenantId tenant);

  Scheduler& scheduler_;
  Lanes& lanes_;
  const Tenants& tenants_;
  Messages& messages_;
  Timers& timers_;
  Tasks& tasks_;

  struct Kept {
    std::shared_ptr<const Known> known{};
    std::size_t bytes = 0;
  };
  std::map<std::pair<TenantId, Number>, Kept> known_;
  /// Of applications in known_, by the ids and uids that were asked for.
  std::map<std::pair<TenantId, std::string>, Number> refs_;
  std::size_t known_bytes_ = 0;                            ///< of both, roughly
  std::map<TenantId, Settings> settings_;                  ///< of tenants in use
  std::vector<KeyOf<AppToken>> fresh_tokens_;              ///< of this batch: no reader shows them
  std::vector<KeyOf<Integration>> fresh_integrations_;     ///< the same
  std::map<std::pair<TenantId, Number>, Watched> health_;  ///< of this batch
  std::map<KeyOf<Stats>, Stats> stats_;                    ///< the same
  /// How many attempts at once those get that cannot take as many as they may.
  std::map<std::pair<TenantId, Number>, std::uint32_t> slowed_;
  std::map<KeyOf<Sweep>, SweepRun> sweeps_;
  KeyOf<Sweep> swept_last_{};        ///< the next one's turn comes
  std::vector<Sweep> ended_sweeps_;  ///< in this round
};

}  // namespace webhook
}  // namespace hk::core
