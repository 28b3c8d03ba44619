#include <algorithm>
#include <memory>

#include "api/ledger/counting.h"
#include "api/limits/told.h"
#include "api/reply.h"
#include "api/transact/answer.h"
#include "api/transact/handlers.h"
#include "api/transact/read.h"
#include "observe/metrics.h"

namespace hk::api::transact {

namespace {

/// Of the transactions that the ledger was asked for. If something was refused, none was made.
void count(ledger::Counts& counts, const core::Transacted& done,
           const std::vector<Told>& operations) {
  counts = {};
  if (done.refused) {
    const bool one =
        !done.refused->of_precondition && operations[done.refused->index].makes_transaction;
    counts.refused += one ? 1 : 0;
    return;
  }
  for (std::size_t i = 0; i < operations.size(); ++i) {
    if (operations[i].makes_transaction) {
      counts.add(std::get<core::ledger::Applied>(done.results[i]));
    }
  }
}

}  // namespace

Write transact(const Services& services, Call& call) {
  if (services.options.refuse_publishes) {
    if (const auto why = services.options.refuse_publishes()) {
      return Error{ErrorKind::unavailable, *why};
    }
  }
  if (call.request.body.size() > transact_bytes_max) {
    return Refusal{.status = 413, .detail = "the body is larger than 10 MiB"};
  }
  Read read = read_transact(services, call);
  auto* const asked = std::get_if<Asked>(&read);
  // Who asks for nothing that can be done costs as much as any other call.
  const limits::Costs costs =
      asked != nullptr ? asked->costs : limits::cost_of(core::RateClass::manage, 1);
  const std::string request_id(call.answer.request_id());
  if (const auto turned = call.admit_late(services, costs)) {
    return limits::refusal(Surface::own, *turned, request_id);
  }
  if (auto* const error = std::get_if<Error>(&read)) {
    return std::move(*error);
  }
  if (const auto* const faults = std::get_if<std::vector<Fault>>(&read)) {
    return told_of_faults(*faults, request_id);
  }
  const auto operations = std::make_shared<const std::vector<Told>>(std::move(asked->told));
  const auto counts = std::make_shared<ledger::Counts>();
  Planned planned{.command = std::move(asked->command),
                  .tell = [operations, counts, request_id](const core::Reply& reply) -> Said {
                    const auto& done = answer_of<core::Transacted>(reply);
                    count(*counts, done, *operations);
                    return done.refused ? told_of_refusal(*done.refused, *operations, request_id)
                                        : told_of(done, *operations);
                  },
                  .done =
                      [&metrics = services.metrics, counts](int status) {
                        if (status < 500) {
                          metrics.transacted(status < 400);
                          counts->tell(metrics);
                        }
                      }};
  if (std::ranges::any_of(*operations, [](const Told& one) { return !one.book.empty(); })) {
    planned.refer = [operations](const core::Reply& reply) {
      return reference_of(answer_of<core::Transacted>(reply), *operations);
    };
  }
  return planned;
}

}  // namespace hk::api::transact
