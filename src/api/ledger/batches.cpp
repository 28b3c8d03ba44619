// Batches: many operations in one commit. Results are appended to one text, in the order of the
// items; thousands of them are rendered for each request.
#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "api/ledger/counting.h"
#include "api/ledger/errors.h"
#include "api/ledger/handlers.h"
#include "api/ledger/parse.h"
#include "api/ledger/query.h"
#include "api/ledger/reading.h"
#include "api/ledger/render.h"
#include "api/limits/told.h"
#include "api/problem.h"
#include "api/reply.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/json_reader.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Apply;
using core::ledger::ItemResult;
using core::ledger::LedgerApplied;

constexpr Problem batch_too_large{"batch_too_large", "Batch too large"};

constexpr std::array<std::string_view, 3> mode_names = {"independent", "atomic", "groups"};

/// RFC 7240: `Prefer: return=minimal`, among others perhaps.
bool wants_minimal(const http::Request& request) {
  return std::ranges::any_of(request.fields, [](const net::Field& field) {
    return equals_ignoring_case(field.name, "Prefer") &&
           std::ranges::any_of(split_commas(field.value), [](const std::string& one) {
             return equals_ignoring_case(one, "return=minimal");
           });
  });
}

void append_number(std::string& out, std::uint64_t value) {
  std::array<char, 24> digits{};
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

/// {"status", "id", "seq"}: what a record of the request keeps of an item, too.
void append_minimal(std::string& out, const core::ledger::Applied& applied) {
  out += applied.created ? R"({"status":201)" : R"({"status":200)";
  if (!applied.id.empty()) {
    out += R"(,"id":)";
    append_json_string(out, applied.id);
  }
  if (applied.seq != 0) {
    out += R"(,"seq":)";
    append_number(out, applied.seq);
  }
  out += '}';
}

void append_result(std::string& out, const ItemResult& result, bool minimal) {
  if (result && minimal) {
    append_minimal(out, *result);
    return;
  }
  JsonWriter json(out);
  json.begin_object();
  if (result) {
    json.field("status", status_of(*result));
    write_applied_members(json, *result, false);
  } else {
    json.field("status", status_of(result.error()->code));
    write_refusal_members(json, *result.error());
  }
  json.end_object();
}

std::string results_text(const LedgerApplied& applied, bool minimal) {
  constexpr std::size_t bytes_of_one = 64;
  std::string out;
  out.reserve(applied.results.size() * (minimal ? bytes_of_one : 16 * bytes_of_one));
  out += '[';
  for (const ItemResult& one : applied.results) {
    out += out.size() > 1 ? "," : "";
    append_result(out, one, minimal);
  }
  out += ']';
  return out;
}

std::size_t applied_in(const LedgerApplied& applied) {
  return static_cast<std::size_t>(std::ranges::count_if(
      applied.results, [](const ItemResult& one) { return one.has_value(); }));
}

http::Response answer_batch(const LedgerApplied& applied, Apply::Mode mode, bool minimal,
                            std::string_view request_id) {
  if (applied.failed) {
    const core::ledger::Refusal& first = *applied.results[*applied.failed].error();
    return problem_of(first, request_id, [&](JsonWriter& json) {
      json.field("item", *applied.failed);
      json.field("applied", 0);
      json.key("results");
      json.whole(results_text(applied, minimal));
    });
  }
  http::Response response;
  response.body = R"({"object":"ledger_batch","mode":")";
  response.body += mode_names[static_cast<std::size_t>(mode)];
  response.body += R"(","applied":)";
  append_number(response.body, applied_in(applied));
  response.body += R"(,"results":)";
  response.body += results_text(applied, minimal);
  response.body += '}';
  return response;
}

/// A reversal without min_available is for who has the grant.
bool is_forced(const core::ledger::Operation& operation) {
  const auto* const reverse = std::get_if<core::ledger::ReverseTransaction>(&operation);
  return reverse != nullptr && reverse->force;
}

// ---- the answer again ----

/// One byte for how it is told, then book, mode and the minimal results: what was applied is read
/// again, so that the answer need not be stored beside every key.
constexpr char minimal_mark = 'm';
constexpr char whole_mark = 'w';
constexpr char failed_mark = 'f';  // of an atomic batch: then the answer follows as it is

std::string reference_of(const LedgerApplied& applied, const std::string& book, Apply::Mode mode,
                         bool minimal) {
  if (applied.failed) {
    http::Response failed = answer_batch(applied, mode, minimal, "");
    return failed_mark + std::to_string(failed.status) + std::move(failed.body);
  }
  std::string reference(1, minimal ? minimal_mark : whole_mark);
  reference += static_cast<char>('0' + static_cast<int>(mode));
  reference += book;
  reference += '\n';
  reference += results_text(applied, true);
  return reference;
}

/// Writes the object that `id` names in place of {"status", "id", "seq"}.
void append_object(std::string& out, const BookReading& reading, std::uint64_t status,
                   const std::string& id, std::uint64_t seq, std::string_view minimal) {
  std::optional<core::ledger::TransactionAt> at;
  if (seq != 0) {
    at = core::ledger::transaction_at(reading.reader, reading.tenant, reading.number(), seq);
  }
  if (!at) {
    at = core::ledger::find_transaction(reading.reader, reading.tenant, reading.number(), id);
  }
  JsonWriter json(out);
  if (at && at->made.id == id) {
    json.begin_object();
    json.field("status", status);
    core::ledger::write_transaction_members(json, reading.view_of(std::move(*at)));
  } else if (auto account = reading.find_account(id)) {
    json.begin_object();
    json.field("status", status);
    core::ledger::write_account_members(json, reading.view_of(std::move(*account)));
  } else {
    out += minimal;
    return;
  }
  json.field("replayed", status == 200);
  json.end_object();
}

std::string expand(const BookReading& reading, std::string_view results) {
  std::string out = "[";
  JsonReader json(results);
  json.begin_array();
  while (json.next_item()) {
    out += out.size() > 1 ? "," : "";
    const auto begin = json.mark();
    std::uint64_t status = 0;
    std::uint64_t seq = 0;
    std::string id;
    std::string_view name;
    const auto read_number = [&json](std::uint64_t& value) {
      const std::string_view text = json.number();
      std::from_chars(text.data(), text.data() + text.size(), value);
    };
    json.begin_object();
    while (json.next_member(name)) {
      if (name == "status") {
        read_number(status);
      } else if (name == "seq") {
        read_number(seq);
      } else if (name == "id") {
        id = json.string();
      } else {
        json.skip();
      }
    }
    const std::string_view minimal = results.substr(begin.at, json.at() - begin.at);
    if (status >= 300 || id.empty()) {
      out += minimal;
    } else {
      append_object(out, reading, status, id, seq, minimal);
    }
  }
  out += ']';
  return out;
}

}  // namespace

Write apply_batch(const Services& services, Call& call) {
  Query query(call.request.query(), {});
  if (query.wrong()) {
    return *query.wrong();
  }
  auto read = read_batch(call.request.body);
  if (!read) {
    return refuse(call, read.error());
  }
  if (read->too_large) {
    return Refusal{batch_too_large, 413,
                   "a batch has at most " + std::to_string(core::ledger::batch_items_max) +
                       " items: send several"};
  }
  if (const auto turned = call.answer.recharge(read->items.size())) {
    return limits::refusal(Surface::own, *turned, call.answer.request_id());
  }
  const auto counts = std::make_shared<Counts>();
  std::vector<bool> transactions(read->items.size());
  for (std::size_t i = 0; i < read->items.size(); ++i) {
    core::ledger::Operation& operation = read->items[i].operation;
    if (is_forced(operation) && !call.by_admin) {
      if (read->mode == Apply::Mode::atomic) {
        return refuse(call, not_granted());
      }
      operation = core::ledger::Unreadable{std::make_shared<core::ledger::Refusal>(not_granted())};
    }
    transactions[i] = is_transaction(operation);
  }
  const bool minimal = wants_minimal(call.request);
  const Apply::Mode mode = read->mode;
  Apply apply{.tenant = call.tenant->id,
              .book = call.param,
              .mode = mode,
              .limits_at_end = read->limits_at_end,
              .details = !minimal,
              .may_force = call.by_admin,
              .items = std::move(read->items)};
  return Planned{.command = std::move(apply),
                 .tell = [counts, transactions = std::move(transactions), mode, minimal,
                          request_id = std::string(call.answer.request_id())](
                             const core::Reply& reply) -> Said {
                   const auto& applied = answer_of<LedgerApplied>(reply);
                   *counts = {};
                   for (std::size_t i = 0; i < applied.results.size(); ++i) {
                     if (transactions[i]) {
                       counts->add(applied.results[i]);
                     }
                     ++(applied.results[i] ? counts->items_applied : counts->items_refused);
                   }
                   return answer_batch(applied, mode, minimal, request_id);
                 },
                 .done = [&services, counts](int /*status*/) { counts->tell(services.metrics); },
                 .refer =
                     [book = call.param, mode, minimal](const core::Reply& reply) {
                       return reference_of(answer_of<LedgerApplied>(reply), book, mode, minimal);
                     }};
}

http::Response show_batch(const Services& services, core::TenantId tenant,
                          std::string_view reference) {
  http::Response response;
  if (reference.at(0) == failed_mark) {
    const std::string_view status = reference.substr(1, 3);
    std::from_chars(status.data(), status.data() + status.size(), response.status);
    response.content_type = "application/problem+json";
    response.body = reference.substr(4);
    return response;
  }
  const bool minimal = reference.at(0) == minimal_mark;
  const auto mode = static_cast<std::size_t>(reference.at(1) - '0');
  reference.remove_prefix(2);
  const std::string book_id(reference.substr(0, reference.find('\n')));
  const std::string_view results = reference.substr(book_id.size() + 1);
  std::size_t applied = 0;
  for (std::size_t at = results.find(R"({"status":20)"); at != std::string_view::npos;
       at = results.find(R"({"status":20)", at + 1)) {
    ++applied;
  }
  response.body = R"({"object":"ledger_batch","mode":")";
  response.body += mode_names.at(mode);
  response.body += R"(","applied":)";
  append_number(response.body, applied);
  response.body += R"(,"results":)";
  if (minimal) {
    response.body += results;
  } else {
    const auto reader = services.submitter.durable_view(tenant);
    auto book = core::ledger::find_book(*reader, tenant, book_id);
    if (!book) {
      return problem({"book_not_found", "Book not found"}, 404, "there is no book " + book_id, "");
    }
    const BookReading reading{
        *reader, tenant, std::make_shared<const core::ledger::Book>(std::move(*book)), {}};
    response.body += expand(reading, results);
  }
  response.body += '}';
  return response;
}

}  // namespace hk::api::ledger
