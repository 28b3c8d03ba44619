// Transactions: made, shown, resolved, reversed.
#include <utility>

#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

/// `?balances=1`.
Result<bool> wants_balances(const Call& call) {
  Query query(call.request.query(), {"balances"});
  const bool wanted = query.flag("balances");
  if (query.wrong()) {
    return std::unexpected(*query.wrong());
  }
  return wanted;
}

template <class Operation>
Write plan_transaction(const Services& services, Call& call, Parsed<Operation> read,
                       bool preview = false) {
  const auto balances = wants_balances(call);
  if (!balances) {
    return balances.error();
  }
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call,
              {.operation = std::move(*read),
               .balances = *balances,
               .preview = preview,
               .may_force = call.by_admin});
}

}  // namespace

Write create_transaction(const Services& services, Call& call) {
  return plan_transaction(services, call, read_transaction(call.request.body));
}

Write preview_transaction(const Services& services, Call& call) {
  return plan_transaction(services, call, read_transaction(call.request.body), true);
}

Write post_hold(const Services& services, Call& call) {
  return plan_transaction(services, call, read_post(call.request.body, call.more_params.at(0)));
}

Write void_hold(const Services& services, Call& call) {
  return plan_transaction(services, call, read_void(call.request.body, call.more_params.at(0)));
}

Write reverse_transaction(const Services& services, Call& call) {
  auto read = read_reverse(call.request.body, call.more_params.at(0));
  if (read && read->force && !call.by_admin) {
    return refuse(call, not_granted());
  }
  return plan_transaction(services, call, std::move(read));
}

Write set_transaction_metadata(const Services& services, Call& call) {
  auto read = read_transaction_metadata(call.request.body, call.more_params.at(0));
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

void get_transaction(const Services& services, Call& call) {
  Query query(call.request.query(), {"as_of_seq"});
  const auto as_of = query.number("as_of_seq");
  show(services, call, query.wrong(),
       [id = call.more_params.at(0), as_of](const BookReading& reading) {
         auto at =
             core::ledger::find_transaction(reading.reader, reading.tenant, reading.number(), id);
         if (!at) {
           return reading.no_transaction(id);
         }
         http::Response response;
         JsonWriter json(response.body);
         json.begin_object();
         core::ledger::write_transaction_members(json, reading.view_of(std::move(*at), as_of));
         json.field("replayed", false);
         json.end_object();
         return response;
       });
}

}  // namespace hk::api::ledger
