// POST …/verify and GET …/proofs/{transaction}.
#include "api/ledger/aside.h"
#include "api/ledger/audit.h"
#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/integrity.h"
#include "api/ledger/parse.h"
#include "api/ledger/proof.h"
#include "api/ledger/question.h"
#include "api/text.h"
#include "base/encoding.h"
#include "base/exact_json.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

struct VerifyRange {
  std::uint64_t from = 1;
  std::uint64_t to = 0;  ///< 0: to the last
};

/// `{"from_seq"?, "to_seq"?}`; an empty body is an empty object.
Parsed<VerifyRange> read_range(const std::string& body) {
  VerifyRange range;
  if (body.empty()) {
    return range;
  }
  constexpr std::size_t depth = 4;
  const auto object = ExactJson::parse(body, depth);
  if (!object || object->kind != ExactJson::Kind::object) {
    return std::unexpected(invalid("", "the body must be a JSON object"));
  }
  for (const auto& [name, value] : object->members) {
    const bool from = name == "from_seq";
    if (!from && name != "to_seq") {
      return std::unexpected(
          invalid(name, "is not a member of this body; it may have from_seq and to_seq"));
    }
    const auto seq =
        value.kind == ExactJson::Kind::number ? parse_unsigned(value.text) : std::nullopt;
    if (!seq || *seq == 0) {
      return std::unexpected(invalid(name, "must be the seq of a record: a whole number from 1"));
    }
    (from ? range.from : range.to) = *seq;
  }
  return range;
}

void write_covering(JsonWriter& json, const CheckpointAt& at) {
  json.begin_object();
  json.field("seq", at.seq);
  json.field("first_seq", at.checkpoint.first_seq);
  json.field("last_seq", at.checkpoint.last_seq);
  json.field("root", hex(at.checkpoint.root));
  json.field("last_hash", hex(at.checkpoint.last_hash));
  json.field("signature", base64(at.checkpoint.signature));
  core::ledger::write_time(json, "created_at", at.checkpoint.recorded_at);
  json.end_object();
}

}  // namespace

void verify(const Services& services, Call& call) {
  const auto question = question_of(services, call, Query(call.request.query(), {}));
  if (!question) {
    return;
  }
  const auto range = read_range(call.request.body);
  if (!range) {
    call.answer(problem_of(range.error(), call.answer.request_id()));
    return;
  }
  const auto [tenant, number] = question->place();
  const std::uint64_t last = core::ledger::head_of(*question->reader, tenant, number).seq;
  if (range->from > std::max<std::uint64_t>(last, 1) || range->to > last ||
      (range->to != 0 && range->from > range->to)) {
    call.answer(problem_of(invalid(range->to > last ? "to_seq" : "from_seq",
                                   "must be within the log, whose last seq is " +
                                       std::to_string(last) + ", and from_seq not above to_seq"),
                           call.answer.request_id()));
    return;
  }
  answer_aside(services, call, [&services, question = *question, range = *range]() -> Result<Made> {
    const core::ledger::Book& book = *question.book;
    const AuditReport report = audit_book(*question.reader, book, range.from, range.to);
    Made made;
    JsonWriter json(made.response.body);
    json.begin_object();
    write_audit_members(json, report);
    json.end_object();
    made.command = keep_report(book, report, core::ledger::Instant{services.now()});
    return made;
  });
}

void prove(const Services& services, Call& call) {
  const auto question = question_of(services, call, Query(call.request.query(), {}));
  if (!question) {
    return;
  }
  const std::string& id = call.more_params.front();
  const auto [tenant, number] = question->place();
  const auto transaction = core::ledger::find_transaction(*question->reader, tenant, number, id);
  if (!transaction) {
    call.answer(problem_of({.code = core::ledger::Code::transaction_not_found,
                            .transaction = id,
                            .detail = "there is no transaction " + id},
                           call.answer.request_id()));
    return;
  }
  const auto proof = proof_of(*question->reader, question->place(), transaction->seq);
  if (!proof) {
    call.answer.refuse(404,
                       "no checkpoint covers the transaction yet: one is made within a minute");
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("transaction", transaction->made.id);
  json.field("seq", transaction->seq);
  json.field("hash", hex(transaction->hash));
  json.key("checkpoint");
  write_covering(json, proof->checkpoint);
  json.field("index", proof->index);
  json.key("path");
  json.begin_array();
  for (const core::ledger::ProofStep& step : proof->path) {
    json.begin_object();
    json.field("side", step.left ? "left" : "right");
    json.field("hash", hex(step.hash));
    json.end_object();
  }
  json.end_array();
  json.end_object();
  call.answer(std::move(response));
}

}  // namespace hk::api::ledger
