#include "core/transact/transacts.h"

#include <algorithm>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/idempotency/idempotency_keys.h"
#include "core/message/messages.h"
#include "core/message/standing.h"
#include "core/topic/topics.h"
#include "core/transact/transact_id.h"

HK_SOMETIMES_DECLARE(transacted)
HK_SOMETIMES_DECLARE(transact_precondition_failed)
HK_SOMETIMES_DECLARE(transact_refused_behind_others)
HK_SOMETIMES_DECLARE(transact_touches_a_job_twice)
HK_SOMETIMES_DECLARE(transact_touches_a_key_twice)

namespace hk::core {

/// How everything will be that was checked so far.
struct Transacts::Plan {
  TenantId tenant{};
  std::map<Seq, Standing> jobs{};
  std::map<std::string, std::optional<IdempotencyKey>> keys{};  ///< by idempotency_id()
  FanOutRoom checked_room{};
  FanOutRoom room{};

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

Transacted Transacts::decide(Transact command) {
  Plan plan{.tenant = command.tenant};
  const auto refused = [](std::size_t index, bool of_precondition, Why why) {
    return Transacted{.refused = TransactRefused{index, of_precondition, std::move(why)}};
  };
  for (std::size_t i = 0; i < command.preconditions.size(); ++i) {
    auto failed =
        std::visit([&](const auto& one) { return check(one, plan); }, command.preconditions[i]);
    if (failed) {
      HK_SOMETIMES(transact_precondition_failed);
      return refused(i, true, std::move(*failed));
    }
  }
  for (std::size_t i = 0; i < command.operations.size(); ++i) {
    auto failed = std::visit([&](auto& one) { return check(one, plan); }, command.operations[i]);
    if (failed) {
      if (i > 0) {
        HK_SOMETIMES(transact_refused_behind_others);
      }
      return refused(i, false, std::move(*failed));
    }
  }
  HK_SOMETIMES(transacted);
  Transacted done{.id = transact_id(batch_.now(), context_.rng)};
  done.results.reserve(command.operations.size());
  for (TransactOperation& one : command.operations) {
    done.results.push_back(
        std::visit([&](auto& operation) { return perform(std::move(operation), plan); }, one));
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

}  // namespace hk::core
