#include "api/transact/answer.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "api/error_fields.h"
#include "api/idempotency/ending.h"
#include "api/jobs/ending.h"
#include "api/ledger/errors.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "api/problem.h"
#include "base/assert.h"
#include "base/exact_json.h"
#include "base/json.h"
#include "core/ledger/read.h"

namespace hk::api::transact {

namespace {

constexpr Problem precondition_failed{"precondition_failed", "Precondition failed"};
constexpr Problem unlike_a_transact{"invalid", "Invalid request"};
constexpr Problem part_not_found{"not_found", "Not found"};
constexpr Problem part_too_large{"too_large", "Too large"};
constexpr Problem part_not_available{"not_available", "Not available"};

void write_published(JsonWriter& json, const core::Published& published, std::string_view url) {
  json.field("messageId", core::to_text(published.id));
  if (!url.empty()) {
    json.key("url");
    json.whole(url);
  }
  if (published.deduplicated) {
    json.field("deduplicated", true);
  }
}

void write_result(JsonWriter& json, const core::JobEnded& ended, const Told& told) {
  json.field("job", told.job);
  json.field("status", jobs::status_name(ended.status));
}
void write_result(JsonWriter& json, const core::Canceled& /*canceled*/, const Told& told) {
  json.field("job", told.job);
  json.field("status", jobs::status_name(core::Status::canceled));
}
void write_result(JsonWriter& json, const core::Published& published, const Told& told) {
  write_published(json, published, told.url_json);
}
void write_result(JsonWriter& json, const core::FannedOut& all, const Told& /*told*/) {
  json.key("messages");
  json.begin_array();
  for (const core::FannedOut::One& one : all.messages) {
    std::string url;
    append_json_string(url, one.url);
    json.begin_object();
    write_published(json, one.published, url);
    json.end_object();
  }
  json.end_array();
}
void write_result(JsonWriter& /*json*/, const core::ledger::Applied& /*applied*/,
                  const Told& /*told*/) {}  // write_answer()
void write_result(JsonWriter& json, const core::KeyChanged& changed, const Told& told) {
  json.field("key", told.key);
  json.field("namespace", told.space);
  json.field("state", idempotency::name_of(changed.record.state));
  json.field("replayed", changed.outcome == core::KeyChanged::Outcome::again);
}

/// `of_ledger` writes what is told of an object of the ledger; an assert has none.
template <class OfLedger>
void write_answer(std::string& out, const core::Transacted& done,
                  const std::vector<Told>& operations, OfLedger of_ledger) {
  HK_ASSERT(!done.refused && done.results.size() == operations.size());
  JsonWriter json(out);
  json.begin_object();
  json.field("id", done.id);
  json.key("results");
  json.begin_array();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    const Told& told = operations[i];
    json.begin_object();
    json.field("op", told.op);
    if (const auto* const applied = std::get_if<core::ledger::Applied>(&done.results[i])) {
      if (applied->detail && !std::holds_alternative<std::monostate>(applied->detail->object)) {
        of_ledger(json, *applied, told);
      }
    } else {
      std::visit([&](const auto& one) { write_result(json, one, told); }, done.results[i]);
    }
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

const Problem& problem_of_fault(int status) {
  switch (status) {
    case 404: return part_not_found;
    case 412: return precondition_failed;
    case 413: return part_too_large;
    case 501: return part_not_available;
    default: return unlike_a_transact;
  }
}

void write_place(JsonWriter& json, bool of_precondition, std::size_t index, const std::string& op) {
  json.field(of_precondition ? "precondition" : "operation", index);
  if (!op.empty()) {
    json.field("op", op);
  }
}

}  // namespace

http::Response told_of(const core::Transacted& done, const std::vector<Told>& operations) {
  http::Response response;
  write_answer(response.body, done, operations,
               [](JsonWriter& json, const core::ledger::Applied& applied, const Told& /*told*/) {
                 json.key("object");
                 json.begin_object();
                 ledger::write_applied_members(json, applied, false);
                 json.end_object();
               });
  return response;
}

http::Response told_of_refusal(const core::TransactRefused& refused,
                               const std::vector<Told>& operations, std::string_view request_id) {
  constexpr int conflict = 409;
  constexpr int not_as_asked = 412;
  const bool of_precondition = refused.of_precondition;
  const std::string op = of_precondition ? "" : operations.at(refused.index).op;
  const auto write_rest = [&](JsonWriter& json) {
    write_place(json, of_precondition, refused.index, op);
    json.field("applied", false);
  };
  const auto tell = [&](const Problem& what, int status, const std::string& detail,
                        const ProblemMembers& own = {}) {
    return problem(of_precondition ? precondition_failed : what,
                   of_precondition ? not_as_asked : status, detail, request_id,
                   [&](JsonWriter& json) {
                     if (own) {
                       own(json);
                     }
                     write_rest(json);
                   });
  };
  if (const auto* const error = std::get_if<Error>(&refused.why)) {
    return tell(problem_of(error->kind), http_status(error->kind), error->message);
  }
  if (const auto* const ended = std::get_if<core::JobEnded>(&refused.why)) {
    const bool finished = ended->outcome == core::JobEnded::Outcome::finished;
    return tell(
        finished ? jobs::job_finished : jobs::lease_lost, conflict, jobs::told_of_lease(*ended),
        [ended](JsonWriter& json) { json.field("job_status", jobs::status_name(ended->status)); });
  }
  if (const auto* const changed = std::get_if<core::KeyChanged>(&refused.why)) {
    const auto key = idempotency::told_of_key(*changed);
    return tell(key.what, conflict, key.detail);
  }
  const auto& why = *std::get<std::shared_ptr<const core::ledger::Refusal>>(refused.why);
  if (!of_precondition) {
    return ledger::problem_of(why, request_id, write_rest);
  }
  return tell(precondition_failed, not_as_asked, why.detail,
              [&why](JsonWriter& json) { ledger::write_own_members(json, why); });
}

/// What is wrong comes before what this server cannot do: that would not help.
http::Response told_of_faults(const std::vector<Fault>& faults, std::string_view request_id) {
  HK_ASSERT(!faults.empty());
  const auto wrong =
      std::ranges::find_if(faults, [](const Fault& one) { return one.status < 500; });
  const Fault& first = wrong == faults.end() ? faults.front() : *wrong;
  const std::string detail = (first.of_precondition ? "preconditions[" : "operations[") +
                             std::to_string(first.index) + "]: " + first.detail;
  const auto write_rest = [&](JsonWriter& json) {
    write_place(json, first.of_precondition, first.index, first.op);
    json.field("applied", false);
    json.key("errors");
    json.begin_array();
    for (const Fault& one : faults) {
      json.begin_object();
      write_place(json, one.of_precondition, one.index, one.op);
      if (one.ledger) {
        ledger::write_refusal_members(json, *one.ledger);
      } else {
        json.field("code", problem_of_fault(one.status).code);
        json.field("detail", one.detail);
      }
      json.end_object();
    }
    json.end_array();
  };
  if (first.ledger) {
    core::ledger::Refusal refusal = *first.ledger;
    refusal.detail = detail;
    return ledger::problem_of(refusal, request_id, write_rest);
  }
  return problem(problem_of_fault(first.status), first.status, detail, request_id, write_rest);
}

// ---- the answer again ----

std::string reference_of(const core::Transacted& done, const std::vector<Told>& operations) {
  std::string reference;
  write_answer(reference, done, operations,
               [](JsonWriter& json, const core::ledger::Applied& applied, const Told& told) {
                 const bool account =
                     std::holds_alternative<core::ledger::AccountView>(applied.detail->object);
                 json.field("book", told.book);
                 json.field(account ? "account" : "transaction", applied.id);
                 json.field("replayed", applied.replayed);
               });
  return reference;
}

namespace {

/// Reads the ledger's objects, book by book.
class Again {
 public:
  Again(const Services& services, core::TenantId tenant)
      : reader_(services.submitter.durable_view(tenant)), tenant_(tenant) {}

  void write(JsonWriter& json, const ExactJson& short_of) {
    const auto text_of = [&short_of](std::string_view name) {
      const ExactJson* const member = short_of.member(name);
      return member == nullptr ? std::string() : member->text;
    };
    auto detail = std::make_shared<core::ledger::Detail>();
    if (const auto reading = read(text_of("book"))) {
      if (auto at = core::ledger::find_transaction(*reader_, tenant_, reading->number(),
                                                   text_of("transaction"))) {
        detail->object = reading->view_of(std::move(*at));
      } else if (auto account = reading->find_account(text_of("account"))) {
        detail->object = reading->view_of(std::move(*account));
      }
    }
    const ExactJson* const replayed = short_of.member("replayed");
    json.key("object");
    json.begin_object();
    ledger::write_applied_members(
        json, {.replayed = replayed != nullptr && replayed->truth, .detail = std::move(detail)},
        false);
    json.end_object();
  }

 private:
  std::optional<ledger::BookReading> read(const std::string& id) {
    auto& book = books_[id];
    if (!book) {
      if (auto found = core::ledger::find_book(*reader_, tenant_, id)) {
        book = std::make_shared<const core::ledger::Book>(std::move(*found));
      }
    }
    return book ? std::optional(ledger::BookReading{*reader_, tenant_, book, {}}) : std::nullopt;
  }

  std::shared_ptr<core::Reader> reader_;
  core::TenantId tenant_;
  std::map<std::string, std::shared_ptr<const core::ledger::Book>> books_;
};

}  // namespace

http::Response show_again(const Services& services, core::TenantId tenant,
                          std::string_view reference) {
  constexpr std::size_t depth = 8;
  const auto kept = ExactJson::parse(reference, depth);
  HK_ASSERT(kept.has_value());
  Again again(services, tenant);
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("id", kept->member("id")->text);
  json.key("results");
  json.begin_array();
  for (const ExactJson& one : kept->member("results")->items) {
    if (one.member("book") == nullptr) {
      json.whole(one.to_text());
      continue;
    }
    json.begin_object();
    json.field("op", one.member("op")->text);
    again.write(json, one);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return response;
}

}  // namespace hk::api::transact
