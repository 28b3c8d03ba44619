/// What a simulated client asks for: plain data that can be asked again, given to the core as a
/// Command and to the model as it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/command.h"
#include "sim/known_filters.h"

namespace hk::sim {

/// For which a FIFO topic knows what was published to it.
inline constexpr Millis topic_window{300'000};

/// Of the message that asks an endpoint to confirm its subscription.
inline constexpr Millis invitation_timeout{2000};
std::string invitation_body(const core::Subscription& subscription);

/// The namespace of all idempotency keys here.
inline const std::string key_space = "space";
inline constexpr Millis key_lease_max{60'000};
inline constexpr Millis key_kept_max{600'000};
inline constexpr Millis key_wait_max{30'000};

/// Of a hold of the ledger.
inline constexpr Millis ledger_timeout_max{600'000};

/// What is said of an idempotency key.
struct KeyText {
  std::string hash{};
  std::uint64_t token = 0;
  Millis lease{};
  Millis kept_for{};
  Millis wait{};             ///< claim_key, by `receiver`
  bool ends_sooner = false;  ///< end_key: kept_for counts, not that of the claim
  bool failed = false;
  std::string answer{};
};

/// A write that shall take effect once. Who asks again says the same.
struct OnceText {
  /// What came of it this time, as the adapter saw it in the batch.
  struct Seen {
    std::optional<core::Reply> reply{};  ///< none: it was not executed
    std::string body{};                  ///< no other execution has it
  };
  std::string key{};
  std::string hash{};
  Millis kept_for{};
  std::shared_ptr<Seen> seen{};
};
/// What is kept of a reply; 0: nothing is.
std::uint32_t kept_status(const core::Reply& reply);

/// What is asked of an inbound source.
struct SourceText {
  // put_source
  core::Source source{};
  std::uint64_t if_version = 0;
  std::string url_group{};
  std::string event_id{};                      ///< receive_inbound
  std::optional<core::Quarantined> request{};  ///< quarantine
  std::uint64_t number = 0;                    ///< drop_quarantined
  // release: what, as which events; the messages are items of the operation
  std::vector<std::pair<std::uint64_t, std::string>> released{};
  bool unverified = false;
};

/// What is published to a topic of SNS, and how much of it was made ready.
struct TopicText {
  FilteredText looked_at{};
  std::uint64_t number = 0;  ///< no other has it
  std::string group{};
  std::string dedup_id{};
  bool enveloped = true;
  bool body_read = true;
  Millis timeout{};

  /// Those of HTTP have one of their own.
  [[nodiscard]] std::string body(std::string_view protocol) const;
  [[nodiscard]] std::vector<core::Attribute> attributes() const;
};

struct Op {
  enum class Kind : std::uint8_t {
    publish,
    complete,
    end_job,
    cancel,
    start_cancel,
    retry_dead_letter,
    delete_dead_letter,
    queue,
    delete_queue,
    pause_flow,
    pin_flow,
    unpin_flow,
    reset_flow,
    inspect_flows,
    tenant,
    change_tenant,
    set_limits,
    inspect,
    batch,
    add_endpoints,
    remove_endpoints,
    delete_group,
    schedule,
    delete_schedule,
    pause_schedule,
    make_pull_queue,
    set_pull_queue,
    purge_queue,
    count_queue,
    receive,
    stop_receiving,
    delete_received,
    change_visibility,
    give_back,
    start_move,
    cancel_move,
    list_moves,
    list_halted,
    resolve_halted,
    create_topic,
    set_topic,
    delete_topic,
    subscribe,
    confirm_subscription,
    unsubscribe,
    set_subscription,
    publish_to_topic,
    claim_key,
    stop_claiming,
    renew_key,
    end_key,
    release_key,
    delete_key,
    transact,
    ledger,
    put_source,
    delete_source,
    receive_inbound,
    quarantine,
    release,
    drop_quarantined,
  };
  Kind kind{};
  std::uint64_t number = 0;  ///< of this asking; a repetition has its own
  core::TenantId tenant{};

  // publish
  std::shared_ptr<const core::Message> message{};
  Millis dedup_window{};
  std::optional<core::FlowKey> flow{};
  bool bad_policy = false;     ///< its delay expression does not parse: must be refused
  std::uint32_t repeated = 0;  ///< how often it was asked before

  // complete, cancel, inspect
  core::MessageId id{};
  core::Fence fence{};
  bool delivered = false;
  bool give_up = false;
  std::optional<Millis> retry_after{};
  int response_status = 0;
  bool unnamed = false;  ///< cancel: by one who wants to cancel everything

  // end_job: by `fence`, or by the one of `receipts`; `delivered`, `give_up`, `retry_after`
  core::PartitionId partition{};
  bool other_partition = false;  ///< the fence names one that has nothing to do with it
  std::string result{};

  core::CancelMessages selection{};  ///< start_cancel

  core::DeadLetterKey dead_letter{};
  /// retry_dead_letter: null, or retries, labels, headers, body, URL and a time to
  /// wait for.
  std::shared_ptr<const core::RetryDeadLetter::Changes> changes{};

  std::vector<Op> items{};  ///< batch: publishes; transact: its operations
  std::vector<core::Precondition> conditions{};
  std::vector<core::Endpoint> endpoints{};  ///< of the URL group `name`

  // schedule, with what a publish has
  std::optional<std::uint32_t> cron{};  ///< of known_crons; none: one that must be refused
  Millis delay{};                       ///< also of a message that is pulled

  // queue, pause_flow, tenant, groups, schedules
  // change_tenant: what it is to be, and what the operator has seen before
  core::Tenant credentials{};
  core::Tenant if_still{};
  core::TenantLimits limits{};  ///< set_limits

  std::string name{};
  std::optional<std::uint32_t> parallelism{};
  std::optional<bool> paused{};

  // pin_flow, unpin_flow
  std::optional<std::uint32_t> rate{};
  Millis period{1000};
  bool unpin_parallelism = false;
  bool unpin_rate = false;

  // queues that are pulled from
  std::optional<core::PullSettings> pull{};
  core::ReceiverId receiver{};
  std::uint32_t max = 1;
  std::optional<Millis> visibility{};
  std::optional<Millis> wait{};
  std::vector<core::Receipt> receipts{};
  std::string attempt_id{};       ///< receive
  std::string destination{};      ///< start_move, with `rate`
  std::uint64_t move_number = 0;  ///< cancel_move
  std::string group{};            ///< resolve_halted
  core::ResolveHalted::Action action{};

  // topics of SNS; `name` is the topic's
  std::shared_ptr<const core::Topic> topic{};  ///< as it is to be; set_subscription: as it was
  /// As it is to be; confirm_subscription: its token; unsubscribe: its id.
  std::shared_ptr<const core::Subscription> subscription{};
  bool invited = false;   ///< subscribe: with an invitation
  bool by_owner = false;  ///< confirm_subscription, unsubscribe
  bool owner_ends_it = false;
  std::shared_ptr<const TopicText> text{};  ///< publish_to_topic, to `name`

  KeyText key{};  ///< of the idempotency key `name`

  std::shared_ptr<const core::ledger::Apply> ledger{};  ///< its tenant is `tenant`

  std::shared_ptr<const SourceText> source{};  ///< of the source whose id is `name`

  std::optional<OnceText> once{};  ///< under a key
};

/// What the server's own adapter says of its receivers: it dies with the server and asks nobody
/// twice.
bool in_process(Op::Kind kind);

core::Command to_command(const Op& op);

}  // namespace hk::sim
