// Bodies of the ledger: every reader of one refuses with a text or reads it; a batch that is read
// is applied by the real core, gives a result for each item, and leaves a store that obeys the
// rules. And the reader of JSON finds the same texts to be JSON as the other one of the server
// does.
#include <string>

#include "api/ledger/errors.h"
#include "api/ledger/export_page.h"
#include "api/ledger/parse.h"
#include "base/assert.h"
#include "base/exact_json.h"
#include "base/json_reader.h"
#include "base/json_string.h"
#include "core/command.h"
#include "core/ledger/json.h"
#include "fuzz/real_core.h"
#include "fuzz/text.h"

using namespace hk;
using namespace hk::api::ledger;

namespace {

constexpr Moment begin_at = moment_from_ms(1'700'000'000'000);
constexpr core::TenantId tenant_id{1};

template <class T>
void check(const Parsed<T>& parsed) {
  if (!parsed) {
    HK_ASSERT(!parsed.error().detail.empty());
    std::string told;
    JsonWriter json(told);
    json.begin_object();
    write_refusal_members(json, parsed.error());
    json.end_object();
    HK_ASSERT(valid_utf8(told) && ExactJson::parse(told, 4).has_value());
  }
}

/// A name that an object has twice is not the reader's to notice, nor a number that is too large:
/// it gives out the digits.
void check_json(std::string_view text) {
  constexpr std::size_t depth_max = 16;
  JsonReader reader(text, depth_max);
  reader.skip();
  reader.end();
  const auto exact = ExactJson::parse(text, depth_max);
  const auto canonical = ExactJson::canonical_of(text, depth_max);
  HK_ASSERT(canonical.has_value() == exact.has_value());
  HK_ASSERT(!exact || *canonical == exact->canonical());
  if (exact) {
    HK_ASSERT(!reader.failed());
  } else if (!reader.failed()) {
    const std::string& why = exact.error().message;
    HK_ASSERT(why.contains("twice") || why.contains("exponent overflow"));
  }
}

void check_amount(std::string_view text) {
  if (const auto amount = core::ledger::parse_amount(text)) {
    HK_ASSERT(core::ledger::parse_amount(core::ledger::to_text(*amount)) == amount);
  }
  if (const auto amount = core::ledger::parse_signed(text)) {
    HK_ASSERT(core::ledger::parse_signed(core::ledger::to_text(*amount)) == amount);
  }
}

/// A line of an export that is read is written again as it was.
void check_exported(std::string_view text) {
  const auto read = read_exported(text);
  if (!read) {
    HK_ASSERT(!read.error().message.empty());
    return;
  }
  std::string written;
  JsonWriter json(written);
  json.begin_object();
  core::ledger::write_record_members(json, read->record, read->prev_hash);
  json.end_object();
  const auto again = read_exported(written);
  HK_ASSERT(again && again->record == read->record && again->prev_hash == read->prev_hash);
}

/// Books with two accounts, so that some transactions of the corpus can succeed.
class Books {
 public:
  Books()
      : core_(
            begin_at, [](const core::Command&) {}, [](const core::Effect&) {}) {
    core::Tenant tenant;
    tenant.name = "default";
    core_.run(core::UpsertTenant{tenant});
    core::ledger::Apply apply{.tenant = tenant_id, .book = "main"};
    for (const char* const id : {"a", "b"}) {
      apply.items.push_back(
          {core::ledger::CreateAccount{.id = id, .type = core::ledger::AccountType::asset}});
    }
    core_.run(std::move(apply));
  }

  void apply(BatchIn batch) {
    const std::size_t count = batch.items.size();
    std::optional<core::Reply> reply;
    Box box;
    std::vector<engine::Submission> submissions(1);
    submissions[0].command = core::ledger::Apply{.tenant = tenant_id,
                                                 .book = "main",
                                                 .mode = batch.mode,
                                                 .limits_at_end = batch.limits_at_end,
                                                 .details = true,
                                                 .items = std::move(batch.items)};
    submissions[0].done = [&reply](core::Reply got) { reply = std::move(got); };
    submissions[0].mailbox = &box;
    core_.submit(submissions);
    HK_ASSERT(reply && reply->has_value());
    const auto* const applied = (*reply)->get_if<core::ledger::LedgerApplied>();
    HK_ASSERT(applied != nullptr && applied->results.size() == count);
    for (const core::ledger::ItemResult& one : applied->results) {
      HK_ASSERT(one.has_value() || !one.error()->detail.empty());
    }
    constexpr std::uint64_t looked_at_each = 64;
    if (++batches_ % looked_at_each == 0) {
      core_.check_store();
    }
  }

 private:
  struct Box final : engine::Mailbox {
    void deliver(std::vector<engine::Finished> finished) override {
      for (engine::Finished& one : finished) {
        one.done(std::move(one.reply));
      }
    }
  };

  fuzz::RealCore core_;
  std::uint64_t batches_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::as_text(data, size);
  check_json(text);
  check_amount(text);
  check(read_new_book(text));
  check(read_book_change(text));
  check(read_currency(text));
  check(read_close(text));
  check(read_account(text));
  check(read_account_change(text, "a"));
  check(read_transaction(text));
  check(read_post(text, "t"));
  check(read_void(text, "t"));
  check(read_reverse(text, "t"));
  check(read_transaction_metadata(text, "t"));
  check(read_erasure(text));
  check(read_subscription(text));
  check(read_monitor(text));
  check(read_rollup(text, "a"));
  check(read_recon_source(text, "s"));
  check(read_recon_lines(text, "s"));
  check(read_recon_decision(text));
  check_exported(text);
  check(read_item(text, {.op_prefix = "ledger.", .has_book = true}));
  auto batch = read_batch(text);
  check(batch);
  if (batch && !batch->too_large) {
    static Books books;
    books.apply(std::move(*batch));
  }
  return 0;
}
