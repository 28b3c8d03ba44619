// What was answered, against what must be answered.
#include <algorithm>
#include <variant>

#include "sim/simulation.h"

namespace hk::sim {

namespace {

/// All that have surely stopped, and others that may have, in order.
bool same_halted(const core::HaltedListed& got, const Expected& expected) {
  auto at = got.messages.begin();
  for (const Expected::Halted& want : expected.halted) {
    if (at != got.messages.end() && at->id == want.one.id) {
      if (at->group != want.one.group || at->receives != want.one.receives) {
        return false;
      }
      ++at;
    } else if (want.surely && got.messages.size() < core::ListHalted{}.limit) {
      return false;
    }
  }
  return at == got.messages.end();
}

/// How many a task would move is not known of one whose queue is gone by the end of the batch.
bool same_tasks(const std::vector<core::Task>& got, std::vector<core::Task> expected) {
  for (std::size_t i = 0; i < std::min(got.size(), expected.size()); ++i) {
    if (expected[i].total == Expected::unknown) {
      expected[i].total = got[i].total;
    }
  }
  return got == expected;
}

}  // namespace

void Simulation::check_reply(const Op& op, const core::Reply& reply,
                             const Expected& expected) const {
  const std::string which = "operation " + std::to_string(op.number) + " of kind " +
                            std::to_string(static_cast<int>(op.kind));
  if (expected.either) {
    require(reply ? reply->is<core::Done>() : reply.error().kind == ErrorKind::not_found, "replies",
            which + " was answered wrongly");
    return;
  }
  if (!reply) {
    require(expected.kind == Expected::Kind::refused && reply.error().kind == expected.error,
            "replies", which + " was refused: " + reply.error().message);
    return;
  }
  const auto same = [](const core::Published& got, const Expected& want) {
    return want.kind == Expected::Kind::published && got.id == want.id &&
           got.deduplicated == want.flag;
  };
  const auto all_same = [&same](const core::FannedOut& got, const Expected& want) {
    return want.kind == Expected::Kind::fanned_out &&
           std::ranges::equal(got.messages, want.parts,
                              [&same](const core::FannedOut::One& one, const Expected& part) {
                                return one.url == part.url && same(one.published, part);
                              });
  };
  const auto item_same = [&](const auto& got, const Expected& want) {
    if (!got) {
      return want.kind == Expected::Kind::refused && got.error().kind == want.error;
    }
    const auto* one = std::get_if<core::Published>(&*got);
    return one != nullptr ? same(*one, want) : all_same(std::get<core::FannedOut>(*got), want);
  };
  const auto answered_with = [&reply](const Expected& want, bool replayed) {
    const auto* got = reply->get_if<core::OnceAnswered>();
    return got != nullptr && got->replayed == replayed && got->answer.head == want.key->head &&
           got->answer.body == want.key->answer;
  };
  const auto performed = [&](const core::Performed& got, const Expected& want) {
    if (const auto* one = std::get_if<core::Published>(&got)) {
      return same(*one, want);
    }
    if (const auto* all = std::get_if<core::FannedOut>(&got)) {
      return all_same(*all, want);
    }
    if (const auto* key = std::get_if<core::KeyChanged>(&got)) {
      return want.kind == Expected::Kind::key_changed && key->outcome == want.change &&
             same_key(key->record, *want.key);
    }
    if (const auto* job = std::get_if<core::JobEnded>(&got)) {
      return want.kind == Expected::Kind::job_ended && job->outcome == want.ended.outcome &&
             job->status == want.ended.status;
    }
    return want.kind == Expected::Kind::canceled && !want.flag;
  };
  bool right = false;
  std::string detail;
  switch (expected.kind) {
    case Expected::Kind::refused: break;
    case Expected::Kind::done: right = reply->is<core::Done>(); break;
    case Expected::Kind::later: break;  // not judged here
    case Expected::Kind::scheduled: {
      const auto* got = reply->get_if<core::ScheduleStored>();
      right = got != nullptr && got->id == expected.name;
      break;
    }
    case Expected::Kind::tenant: right = reply->is<core::TenantStored>(); break;
    case Expected::Kind::published: {
      const auto* got = reply->get_if<core::Published>();
      right = got != nullptr && same(*got, expected);
      break;
    }
    case Expected::Kind::fanned_out: {
      const auto* got = reply->get_if<core::FannedOut>();
      right = got != nullptr && all_same(*got, expected);
      break;
    }
    case Expected::Kind::batch: {
      const auto* got = reply->get_if<core::BatchPublished>();
      right = got != nullptr && std::ranges::equal(got->items, expected.parts, item_same);
      break;
    }
    case Expected::Kind::topic_made: {
      const auto* got = reply->get_if<core::TopicMade>();
      right =
          got != nullptr && got->existed == expected.flag && got->topic->topic == *expected.topic;
      break;
    }
    case Expected::Kind::subscribed: {
      const auto* got = reply->get_if<core::Subscribed>();
      right = got != nullptr && got->existed == expected.flag && got->id == expected.name &&
              got->topic->topic == *expected.topic;
      break;
    }
    case Expected::Kind::key_claimed: {
      const auto* got = reply->get_if<core::KeyClaimed>();
      right = got != nullptr && got->outcome == expected.claim &&
              got->taken_over == expected.flag && same_key(got->record, *expected.key);
      break;
    }
    case Expected::Kind::key_changed: {
      const auto* got = reply->get_if<core::KeyChanged>();
      right =
          got != nullptr && got->outcome == expected.change && same_key(got->record, *expected.key);
      break;
    }
    case Expected::Kind::once_executed:
      check_reply(op, *op.once->seen->reply, expected.parts.front());
      right = answered_with(expected, false);
      break;
    case Expected::Kind::once_replayed: right = answered_with(expected, true); break;
    case Expected::Kind::once_reused: right = reply->is<core::OnceReused>(); break;
    case Expected::Kind::transacted: {
      const auto* got = reply->get_if<core::Transacted>();
      right = got != nullptr && got->refused.has_value() == expected.not_done.has_value() &&
              got->id.empty() == expected.not_done.has_value();
      if (right && expected.not_done) {
        right = got->results.empty() && got->refused->index == expected.not_done->at &&
                got->refused->of_precondition == expected.not_done->of_precondition;
      } else if (right) {
        right = std::ranges::equal(got->results, expected.parts, performed);
      }
      break;
    }
    case Expected::Kind::ledger: {
      const auto* got = reply->get_if<ledger::LedgerApplied>();
      right = got != nullptr;
      if (got != nullptr) {
        check_ledger_answer(*got, *expected.ledger);
      }
      break;
    }
    case Expected::Kind::job_ended: {
      const auto* got = reply->get_if<core::JobEnded>();
      right = got != nullptr && got->outcome == expected.ended.outcome &&
              got->status == expected.ended.status;
      break;
    }
    case Expected::Kind::topic_published: {
      const auto* got = reply->get_if<core::TopicPublished>();
      right = got != nullptr && got->id == expected.id && got->deduplicated == expected.flag;
      break;
    }
    case Expected::Kind::source_stored: {
      using StoredAs = core::SourceStored::Outcome;
      const auto* got = reply->get_if<core::SourceStored>();
      right = got != nullptr && (expected.flag ? got->outcome == StoredAs::no_url_group
                                               : got->outcome == StoredAs::stored &&
                                                     got->source.version == expected.number);
      break;
    }
    case Expected::Kind::inbound: {
      const auto* got = reply->get_if<core::InboundReceived>();
      right = got != nullptr && got->message == expected.id && got->duplicate == expected.flag;
      break;
    }
    case Expected::Kind::rejected: {
      const auto* got = reply->get_if<core::InboundRejected>();
      right = got != nullptr && got->kept == expected.flag;
      break;
    }
    case Expected::Kind::released: {
      const auto* got = reply->get_if<core::QuarantineReleased>();
      right = got != nullptr &&
              std::ranges::equal(got->requests, expected.released,
                                 [](const core::QuarantineReleased::One& one, const auto& want) {
                                   return one.number == want.number &&
                                          one.outcome == want.outcome &&
                                          one.message == want.message;
                                 });
      break;
    }
    case Expected::Kind::canceled: {
      const auto* got = reply->get_if<core::Canceled>();
      right = got != nullptr && got->running == expected.flag;
      break;
    }
    case Expected::Kind::inspected: {
      const auto* got = reply->get_if<core::Inspected>();
      if (expected.pulled) {
        right = got != nullptr;
        break;
      }
      right = got != nullptr && got->running == expected.flag && got->fence == expected.fence;
      require(!right || !expected.pending || expected.may_start || !got->holds.empty(),
              "every wait has a reason", name_of(op.id.seq) + " waits for nothing");
      break;
    }
    case Expected::Kind::flows: {
      const auto* got = reply->get_if<core::FlowKeysInspected>();
      right = got != nullptr;
      if (got != nullptr) {
        check_flows(*got, expected);
      }
      break;
    }
    case Expected::Kind::queue_made: {
      const auto* got = reply->get_if<core::QueueMade>();
      right = got != nullptr && got->existed == expected.flag && got->queue.pull == expected.pull;
      break;
    }
    case Expected::Kind::counted: {
      const auto* got = reply->get_if<core::QueueCounted>();
      right = got != nullptr && got->visible + got->in_flight + got->delayed == expected.lag;
      if (got != nullptr && !right) {
        detail = ": counted " + std::to_string(got->visible) + " + " +
                 std::to_string(got->in_flight) + " + " + std::to_string(got->delayed) +
                 ", there are " + std::to_string(expected.lag);
      }
      break;
    }
    case Expected::Kind::task_started: {
      const auto* got = reply->get_if<core::TaskStarted>();
      right = got != nullptr && got->number == expected.number;
      break;
    }
    case Expected::Kind::move_canceled: {
      const auto* got = reply->get_if<core::MoveTaskCanceled>();
      right = got != nullptr && got->moved == expected.number;
      break;
    }
    case Expected::Kind::moves_listed: {
      const auto* got = reply->get_if<core::MoveTasksListed>();
      right = got != nullptr && same_tasks(got->tasks, expected.tasks);
      break;
    }
    case Expected::Kind::halted_listed: {
      const auto* got = reply->get_if<core::HaltedListed>();
      right = got != nullptr && same_halted(*got, expected);
      break;
    }
    case Expected::Kind::settled: {
      const auto* got = reply->get_if<core::Settled>();
      right =
          got != nullptr &&
          std::ranges::equal(
              got->items, expected.parts, [](const Result<void>& one, const Expected& want) {
                return one ? want.kind == Expected::Kind::done
                           : want.kind == Expected::Kind::refused && want.error == one.error().kind;
              });
    }
  }
  require(right, "replies", which + " was answered wrongly" + detail);
}

}  // namespace hk::sim
