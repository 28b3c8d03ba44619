#include "api/ledger/render.h"

#include <utility>

#include "api/ledger/counting.h"
#include "api/ledger/errors.h"
#include "api/reply.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Applied;
using core::ledger::LedgerApplied;

struct ObjectMembers {
  JsonWriter& json;

  void operator()(const std::monostate& /*nothing*/) const {}
  void operator()(const core::ledger::TransactionView& view) const {
    core::ledger::write_transaction_members(json, view);
  }
  void operator()(const core::ledger::AccountView& view) const {
    core::ledger::write_account_members(json, view);
  }
  void operator()(const core::ledger::BookView& view) const {
    core::ledger::write_book_members(json, view);
  }
  void operator()(const core::ledger::CurrencyView& view) const {
    core::ledger::write_currency_members(json, view.currency);
  }
  void operator()(const core::ledger::Subscription& subscription) const {
    core::ledger::write_subscription_members(json, subscription);
  }
  void operator()(const core::ledger::MonitorView& view) const {
    core::ledger::write_monitor_members(json, view);
  }
  void operator()(const core::ledger::ReconSourceView& view) const {
    core::ledger::write_recon_source_members(json, view);
  }
  void operator()(const core::ledger::ReconLineView& view) const {
    core::ledger::write_recon_line_members(json, view);
  }
  void operator()(const core::ledger::RollupView& view) const {
    core::ledger::write_rollup_members(json, view);
  }
};

}  // namespace

int status_of(const Applied& applied) { return applied.created ? 201 : 200; }

void write_applied_members(JsonWriter& json, const Applied& applied, bool balances) {
  if (!applied.detail) {
    return;
  }
  if (applied.imported) {
    json.field("imported", applied.imported->imported);
    json.field("duplicates", applied.imported->duplicates);
    json.field("matched", applied.imported->matched);
    json.field("proposed", applied.imported->proposed);
    return;
  }
  std::visit(ObjectMembers{json}, applied.detail->object);
  json.field("replayed", applied.replayed);
  if (balances) {
    json.key("balances_after");
    json.begin_array();
    for (const core::ledger::BalanceAfter& row : applied.detail->balances_after) {
      core::ledger::write_balance_after(json, row);
    }
    json.end_array();
  }
}

http::Response to_answer(const core::ledger::ItemResult& result, bool balances,
                         std::string_view request_id) {
  if (!result) {
    return problem_of(*result.error(), request_id);
  }
  http::Response response;
  response.status = status_of(*result);
  JsonWriter json(response.body);
  json.begin_object();
  write_applied_members(json, *result, balances);
  json.end_object();
  return response;
}

Write plan(const Services& services, Call& call, Single single) {
  core::ledger::Apply apply{.tenant = call.tenant->id,
                            .book = call.param,
                            .preview = single.preview,
                            .details = true,
                            .may_force = single.may_force};
  const bool transaction = !single.preview && is_transaction(single.operation);
  apply.items.push_back({.operation = std::move(single.operation)});
  const auto counts = std::make_shared<Counts>();
  return Planned{.command = std::move(apply),
                 .tell = [balances = single.balances || single.preview, transaction, counts,
                          request_id = std::string(call.answer.request_id())](
                             const core::Reply& reply) -> Said {
                   const auto& result = answer_of<LedgerApplied>(reply).results.front();
                   *counts = {};
                   if (transaction) {
                     counts->add(result);
                   }
                   return to_answer(result, balances, request_id);
                 },
                 .done = [&services, counts](int /*status*/) { counts->tell(services.metrics); }};
}

http::Response refuse(const Call& call, const core::ledger::Refusal& refusal) {
  return problem_of(refusal, call.answer.request_id());
}

}  // namespace hk::api::ledger
