// Sums that are kept.
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

Write set_rollup(const Services& services, Call& call) {
  auto read = read_rollup(call.request.body, call.more_params.at(0));
  if (!read) {
    return refuse(call, read.error());
  }
  return plan(services, call, {.operation = std::move(*read)});
}

/// All of them: a book has a bounded number.
void list_rollups(const Services& services, Call& call) {
  Query query(call.request.query(), {});
  show(services, call, query.wrong(), [](const BookReading& reading) {
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.key("rollups");
    json.begin_array();
    for (const core::ledger::Rollup& one : reading.reader.scan<core::ledger::Rollup>(
             core::Range<core::ledger::Rollup>::of(reading.tenant, reading.number()))) {
      json.begin_object();
      core::ledger::write_rollup_members(
          json, {.prefix = one.prefix, .kept = true, .complete = one.complete});
      json.end_object();
    }
    json.end_array();
    json.end_object();
    return response;
  });
}

}  // namespace hk::api::ledger
