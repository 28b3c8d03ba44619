#include "api/ledger/integrity.h"

#include "base/encoding.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

constexpr const char* kept_kind = "ledger_integrity";
constexpr const char* kept_field = "report";

}  // namespace

void write_audit_members(JsonWriter& json, const AuditReport& report) {
  json.field("ok", report.ok());
  json.field("from_seq", report.from_seq);
  json.field("to_seq", report.to_seq);
  json.field("records", report.records);
  json.field("head", hex(report.head));
  json.key("faults");
  json.begin_array();
  for (const AuditFault& fault : report.faults) {
    json.begin_object();
    json.field("seq", fault.seq);
    json.field("what", fault.what);
    json.end_object();
  }
  json.end_array();
  json.field("fault_count", report.fault_count);
}

core::Command keep_report(const core::ledger::Book& book, const AuditReport& report,
                          core::ledger::Instant verified_at) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  write_audit_members(json, report);
  core::ledger::write_time(json, "verified_at", verified_at);
  json.end_object();
  core::Document document{.tenant = book.tenant, .kind = kept_kind, .name = book.id};
  document.fields.push_back({kept_field, std::move(text)});
  return core::PutDocumentCommand{std::move(document), {}};
}

std::optional<std::string> kept_report(core::Reader& reader, const core::ledger::Book& book) {
  const auto kept = reader.get<core::Document>({book.tenant, kept_kind, book.id});
  if (!kept || kept->fields.empty()) {
    return std::nullopt;
  }
  return kept->fields.front().value;
}

}  // namespace hk::api::ledger
