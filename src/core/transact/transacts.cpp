#include "core/transact/transacts.h"

#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/ledger/ledger.h"
#include "core/message/messages.h"
#include "core/message/standing.h"
#include "core/tenant/tenants.h"
#include "core/topic/topics.h"

HK_SOMETIMES_DECLARE(transacted)
HK_SOMETIMES_DECLARE(transact_precondition_failed)
HK_SOMETIMES_DECLARE(transact_refused_behind_others)
HK_SOMETIMES_DECLARE(transact_touches_a_job_twice)
HK_SOMETIMES_DECLARE(transact_touches_a_key_twice)
HK_SOMETIMES_DECLARE(ledger_in_a_transact)
HK_SOMETIMES_DECLARE(ledger_taken_back_in_a_transact)

namespace hk::core {

/// How everything will be that was checked so far.
struct Transacts::Plan {
  TenantId tenant{};
  std::map<Seq, Standing> jobs{};
  std::map<std::string, std::optional<IdempotencyKey>> keys{};  ///< by idempotency_id()
  FanOutRoom checked_room{};
  FanOutRoom room{};
  bool may_force = false;
  bool in_ledger = false;  ///< the ledger has a group for it
  /// What the ledger has done for the operations, which are asked for in their order.
  std::vector<ledger::Applied> applied{};
  std::size_t performed = 0;  ///< so many of them

  Result<Standing*> job(Messages& messages, MessageId id) {
    if (const auto found = jobs.find(id.seq); found != jobs.end()) {
      if (found->second.message->id == id) {
        HK_SOMETIMES(transact_touches_a_job_twice);
        return &found->second;
      }
    }
    auto read = messages.standing(tenant, id);
    if (!read) {
      return std::unexpected(read.error());
    }
    return &jobs.insert_or_assign(id.seq, std::move(*read)).first->second;
  }
  std::optional<IdempotencyKey>& key(IdempotencyKeys& all, const std::string& space,
                                     const std::string& name) {
    const auto [found, fresh] = keys.try_emplace(idempotency_id(space, name));
    if (fresh) {
      found->second = all.find(tenant, space, name);
    } else {
      HK_SOMETIMES(transact_touches_a_key_twice);
    }
    return found->second;
  }
};

namespace {

const char* word_of(Status status) {
  switch (status) {
    case Status::pending: return "PENDING";
    case Status::running: return "RUNNING";
    case Status::succeeded: return "SUCCEEDED";
    case Status::failed: return "FAILED";
    case Status::canceled: return "CANCELED";
  }
  std::unreachable();
}

Error conflict_of(MessageId job, const std::string& why) {
  return {ErrorKind::conflict, "job " + to_text(job) + why};
}

}  // namespace

Reply Transacts::execute(TransactCommand&& command) {
  return decide(std::get<Transact>(std::move(command)));
}

std::optional<TransactRefused> Transacts::check_all(Transact& command, Plan& plan) {
  for (std::size_t i = 0; i < command.preconditions.size(); ++i) {
    auto failed =
        std::visit([&](const auto& one) { return check(one, plan); }, command.preconditions[i]);
    if (failed) {
      HK_SOMETIMES(transact_precondition_failed);
      return TransactRefused{i, true, std::move(*failed)};
    }
  }
  for (std::size_t i = 0; i < command.operations.size(); ++i) {
    auto failed = std::visit([&](auto& one) { return check(one, plan); }, command.operations[i]);
    if (failed) {
      if (i > 0) {
        HK_SOMETIMES(transact_refused_behind_others);
      }
      return TransactRefused{i, false, std::move(*failed)};
    }
  }
  return std::nullopt;
}

Transacted Transacts::decide(Transact command) {
  Plan plan{.tenant = command.tenant, .may_force = command.may_force};
  if (auto refused = check_all(command, plan)) {
    if (plan.in_ledger) {
      HK_SOMETIMES(ledger_taken_back_in_a_transact);
      ledger_.rollback();
    }
    return Transacted{.refused = std::move(refused)};
  }
  HK_SOMETIMES(transacted);
  const std::uint64_t number = context_.rng.next();  // nothing to be found by it
  Transacted done{.id = sortable_id("tx_", batch_.now(), number, context_.rng.next())};
  done.results.reserve(command.operations.size());
  for (TransactOperation& one : command.operations) {
    done.results.push_back(
        std::visit([&](auto& operation) { return perform(std::move(operation), plan); }, one));
  }
  if (plan.in_ledger) {
    // Last: its events are messages that nobody can refuse, while the publishes before them were
    // checked without these.
    HK_SOMETIMES(ledger_in_a_transact);
    ledger_.commit();
  }
  return done;
}

// ---- preconditions ----

Transacts::Checked Transacts::check(const JobIs& condition, Plan& plan) {
  const auto job = plan.job(messages_, condition.job);
  if (!job) {
    return job.error();
  }
  if (std::ranges::find(condition.any_of, (*job)->status) != condition.any_of.end()) {
    return std::nullopt;
  }
  return conflict_of(condition.job, std::string(" is ") + word_of((*job)->status));
}

Transacts::Checked Transacts::check(const KeyIs& condition, Plan& plan) {
  const auto& known = plan.key(idempotency_keys_, condition.space, condition.key);
  const std::string named = "key " + condition.key + " in namespace " + condition.space;
  if (!known) {
    return Error{ErrorKind::not_found, "there is no " + named + ", or its time is over"};
  }
  if (condition.token && *condition.token != known->token) {
    return Error{ErrorKind::conflict,
                 named + " has another token: it was claimed by somebody else since"};
  }
  if (condition.state && *condition.state != known->state) {
    return Error{ErrorKind::conflict, named + " is in another state"};
  }
  return std::nullopt;
}

Transacts::Checked Transacts::check(const AccountIs& condition, Plan& plan) {
  ledger::AssertConditions so;
  so.conditions.push_back(condition.condition);
  auto applied = apply(plan, condition.book, std::move(so));
  return applied ? Checked{} : Checked{std::move(applied.error())};
}

// ---- jobs ----

/// What was ended so before is no success here: its other operations were done then, or never.
Transacts::Checked Transacts::check(const EndJob& command, Plan& plan) {
  const auto job = plan.job(messages_, command.id);
  if (!job) {
    return job.error();
  }
  const auto outcome = messages_.check(command, **job);
  if (!outcome) {
    return outcome.error();
  }
  switch (*outcome) {
    case JobEnded::Outcome::done: return std::nullopt;
    case JobEnded::Outcome::again: return JobEnded{JobEnded::Outcome::finished, (*job)->status};
    case JobEnded::Outcome::lease_lost:
    case JobEnded::Outcome::finished: return JobEnded{*outcome, (*job)->status};
  }
  std::unreachable();
}

Performed Transacts::perform(EndJob command, Plan& /*plan*/) {
  const TenantId tenant = command.tenant;
  const MessageId id = command.id;
  messages_.end(std::move(command));
  const auto job = messages_.standing(tenant, id);
  HK_ASSERT(job.has_value());
  return JobEnded{JobEnded::Outcome::done, job->status};
}

Transacts::Checked Transacts::check(const CancelMessage& command, Plan& plan) {
  const auto job = plan.job(messages_, command.id);
  if (!job) {
    return job.error();
  }
  Standing& standing = **job;
  if (is_final(standing.status)) {
    return JobEnded{JobEnded::Outcome::finished, standing.status};
  }
  if (standing.status == Status::running) {
    return conflict_of(command.id, " is RUNNING: here only one that is PENDING can be cancelled");
  }
  if (standing.cancel_requested) {
    return conflict_of(command.id, " is being cancelled already");
  }
  standing.status = Status::canceled;
  return std::nullopt;
}

Performed Transacts::perform(const CancelMessage& command, Plan& /*plan*/) {
  const auto message = messages_.find(command.tenant, command.id);
  HK_ASSERT(message != nullptr);
  const bool canceled = messages_.cancel_unless_over(*message);
  HK_ASSERT(canceled);
  return Canceled{};
}

// ---- messages ----

Transacts::Checked Transacts::check(Publish& command, Plan& plan) {
  HK_ASSERT(command.message != nullptr && command.message->tenant == plan.tenant);
  auto can = messages_.check(command, plan.checked_room);
  return can ? Checked{} : Checked{can.error()};
}

Performed Transacts::perform(Publish command, Plan& plan) {
  auto sent = messages_.send(std::move(command), plan.room);
  HK_ASSERT(sent.has_value());
  return std::visit([](auto&& one) { return Performed(std::forward<decltype(one)>(one)); },
                    std::move(*sent));
}

// ---- keys ----

template <class Change>
Transacts::Checked Transacts::check_key(const Change& command, Plan& plan) {
  auto& known = plan.key(idempotency_keys_, command.space, command.key);
  const auto outcome = idempotency_keys_.check(command, known);
  if (!outcome) {
    return outcome.error();
  }
  switch (*outcome) {
    case KeyChanged::Outcome::done:
    case KeyChanged::Outcome::again: return std::nullopt;
    case KeyChanged::Outcome::fenced:
    case KeyChanged::Outcome::over: return KeyChanged{*outcome, *known};
  }
  std::unreachable();
}

Transacts::Checked Transacts::check(const EndKey& command, Plan& plan) {
  return check_key(command, plan);
}
Transacts::Checked Transacts::check(const ReleaseKey& command, Plan& plan) {
  return check_key(command, plan);
}

namespace {

KeyChanged changed_key(const Reply& reply) {
  HK_ASSERT(reply.has_value());
  const auto* const changed = reply->get_if<KeyChanged>();
  HK_ASSERT(changed != nullptr && (changed->outcome == KeyChanged::Outcome::done ||
                                   changed->outcome == KeyChanged::Outcome::again));
  return *changed;
}

}  // namespace

Performed Transacts::perform(EndKey command, Plan& /*plan*/) {
  return changed_key(idempotency_keys_.execute(std::move(command)));
}
Performed Transacts::perform(ReleaseKey command, Plan& /*plan*/) {
  return changed_key(idempotency_keys_.execute(std::move(command)));
}

// ---- the ledger ----

std::expected<ledger::Applied, Transacts::Why> Transacts::apply(Plan& plan, const std::string& book,
                                                                ledger::Operation&& operation) {
  if (!tenants_.contains(plan.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto settled = ledger_.settle(plan.tenant, book); !settled) {
    return std::unexpected(std::move(settled.error()));
  }
  if (!plan.in_ledger) {
    ledger_.begin({.details = true, .may_force = plan.may_force});
    plan.in_ledger = true;
  }
  return ledger_.apply(plan.tenant, book, std::move(operation));
}

Transacts::Checked Transacts::check(LedgerOperation& command, Plan& plan) {
  auto applied = apply(plan, command.book, std::move(command.operation));
  if (!applied) {
    return std::move(applied.error());
  }
  plan.applied.push_back(std::move(*applied));
  return std::nullopt;
}

Performed Transacts::perform(const LedgerOperation& /*command*/, Plan& plan) {
  return std::move(plan.applied.at(plan.performed++));
}

}  // namespace hk::core
