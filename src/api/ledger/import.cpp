// POST …/import: lines that GET …/export has written. Whether they fit is the core's to say; here
// they are only read.
#include "api/ledger/errors.h"
#include "api/ledger/export_page.h"
#include "api/ledger/handlers.h"
#include "api/ledger/query.h"
#include "api/ledger/render.h"
#include "api/limits/told.h"
#include "api/problem.h"
#include "base/ascii.h"

namespace hk::api::ledger {

namespace {

/// Of one request: its records are hashed and folded in one batch of the core.
constexpr std::size_t import_records_max = 2'000;

constexpr Problem import_too_large{"batch_too_large", "Batch too large"};

}  // namespace

Write import_log(const Services& services, Call& call) {
  Query query(call.request.query(), {"complete"});
  core::ledger::ImportRecords import{.complete = query.flag("complete")};
  if (query.wrong()) {
    return *query.wrong();
  }
  std::string_view rest = call.request.body;
  for (std::uint64_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = rest.find('\n');
    const std::string_view line = rest.substr(0, end);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
    if (trim(line, white_space).empty()) {
      continue;
    }
    if (import.records.size() == import_records_max) {
      return Refusal{import_too_large, 413,
                     "an import takes at most " + std::to_string(import_records_max) +
                         " records at once: send several"};
    }
    auto read = read_exported(line);
    if (!read) {
      return refuse(call,
                    {.code = core::ledger::Code::record_invalid,
                     .seq = import.records.empty() ? 1 : import.records.back().record.seq + 1,
                     .detail = "line " + std::to_string(number) + ": " + read.error().message});
    }
    import.records.push_back({.record = std::move(read->record),
                              .prev_hash = read->prev_hash,
                              .values = std::move(read->values)});
  }
  if (const auto turned = call.answer.recharge(import.records.size())) {
    return limits::refusal(Surface::own, *turned, call.answer.request_id());
  }
  return plan(services, call, {.operation = std::move(import)});
}

}  // namespace hk::api::ledger
