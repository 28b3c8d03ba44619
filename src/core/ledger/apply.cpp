// Operations, alone or in groups: one executor for single calls, batches and neighbours.
#include <algorithm>
#include <map>

#include "base/assert.h"
#include "base/sometimes.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/tenant/tenants.h"

HK_SOMETIMES_DECLARE(ledger_group_applied)
HK_SOMETIMES_DECLARE(ledger_group_taken_back)
HK_SOMETIMES_DECLARE(ledger_limits_at_the_end)
HK_SOMETIMES_DECLARE(ledger_limits_at_the_end_refuse)
HK_SOMETIMES_DECLARE(ledger_previewed)
HK_SOMETIMES_DECLARE(ledger_book_importing)

namespace hk::core::ledger {

namespace {

std::shared_ptr<const Refusal> linked() {
  static const auto refusal = std::make_shared<const Refusal>(
      Refusal{.code = Code::linked_failed,
              .detail = "another item of the same group was refused, so this one was not applied"});
  return refusal;
}

}  // namespace

// ---- a group can be taken back ----

void Ledger::save(HotBook& book) {
  if (!in_group_ || book.saved_for == group_count_) {
    return;
  }
  book.saved_for = group_count_;
  saved_books_.push_back({.book = &book,
                          .row = book.row,
                          .dirty = book.dirty,
                          .seq = book.seq,
                          .hash = book.hash,
                          .recorded_at = book.recorded_at,
                          .accounts = book.accounts,
                          .monitors_made = book.monitors_made,
                          .next_expiry = book.next_expiry,
                          .uncovered = book.uncovered.size(),
                          .uncovered_from = book.uncovered_from,
                          .uncovered_since = book.uncovered_since,
                          .records = book.records.size(),
                          .monitors = book.monitors,
                          .rollups = book.rollups});
}

void Ledger::save(AccountAt account) {
  if (!in_group_ || account->saved_for == group_count_) {
    return;
  }
  account->saved_for = group_count_;
  saved_accounts_.push_back({.account = account, .row = account->row, .dirty = account->dirty});
}

void Ledger::begin(const GroupOptions& options) {
  HK_ASSERT(!in_group_);
  in_group_ = true;
  options_ = options;
  ++group_count_;
  operation_ = 0;
  sealed_mark_ = sealed_.size();
  dirty_mark_ = dirty_accounts_.size();
  names_.settle();
  outcomes_.settle();
  holds_.settle();
  metadata_.settle();
  index_.settle();
  late_.settle();
  monitors_.settle();
  recon_sources_.settle();
  recon_lines_.settle();
  recon_days_.settle();
  recon_entries_.settle();
  rollups_.settle();
}

ItemResult Ledger::apply(TenantId tenant, const std::string& book, Operation&& operation) {
  HK_ASSERT(in_group_);
  const bool makes = std::holds_alternative<CreateBook>(operation) ||
                     std::holds_alternative<ImportRecords>(operation);
  HotBook* at = makes ? find_book(tenant, book) : book_or_main(tenant, book);
  if (at == nullptr) {
    if (const auto* const import = std::get_if<ImportRecords>(&operation)) {
      auto made = begin_import(tenant, book, *import);
      if (!made) {
        return std::unexpected(made.error());
      }
      at = *made;
    }
  }
  if (at == nullptr) {
    if (auto* const create = std::get_if<CreateBook>(&operation)) {
      if (!is_ledger_id(book)) {
        return refuse_member("id", "the id of a book is 1 to 128 of A-Z a-z 0-9 . _ ~ : @ -");
      }
      if (auto fine = check_metadata_of_new(create->metadata); !fine) {
        return std::unexpected(fine.error());
      }
      HotBook& made = make_book(tenant, book, *create);
      ++operation_;
      Applied applied{.id = book, .seq = made.seq, .created = true};
      if (options_.details) {
        describe(made, operation, applied);
      }
      return applied;
    }
    return refuse(
        {.code = Code::book_not_found, .detail = "there is no book " + book + "; create it first"});
  }
  auto result = apply_one(*at, std::move(operation));
  ++operation_;
  return result;
}

std::expected<void, std::pair<std::size_t, std::shared_ptr<const Refusal>>> Ledger::check_end() {
  for (const AtEnd& one : at_end_) {
    HK_SOMETIMES(ledger_limits_at_the_end);
    const Standing* const standing = find_standing(one.account->row, one.currency);
    const Touch touched{.account = one.account,
                        .currency = one.currency,
                        .before = one.before,
                        .after = standing == nullptr ? Counters128{} : standing->now};
    if (auto within = check_limits(*one.account->book, touched, one.unforced); !within) {
      HK_SOMETIMES(ledger_limits_at_the_end_refuse);
      return std::unexpected(std::pair{one.operation, within.error()});
    }
  }
  return {};
}

void Ledger::commit() {
  HK_ASSERT(in_group_);
  HK_SOMETIMES(ledger_group_applied);
  in_group_ = false;
  options_ = {};
  at_end_.clear();
  at_end_place_.clear();
  saved_accounts_.clear();
  const std::vector<SavedBook> books = std::exchange(saved_books_, {});
  send_events();
  for (const SavedBook& saved : books) {
    check_point(*saved.book);
  }
}

void Ledger::rollback() {
  HK_ASSERT(in_group_);
  HK_SOMETIMES(ledger_group_taken_back);
  in_group_ = false;
  options_ = {};
  at_end_.clear();
  at_end_place_.clear();
  events_.clear();
  sealed_.resize(sealed_mark_);
  dirty_accounts_.resize(dirty_mark_);
  for (SavedAccount& saved : saved_accounts_) {
    const AccountAt account = saved.account;
    if (saved.made) {
      forget(account);
      continue;
    }
    account->row = std::move(saved.row);
    account->dirty = saved.dirty;
  }
  saved_accounts_.clear();
  for (SavedBook& saved : saved_books_) {
    HotBook& book = *saved.book;
    if (saved.made) {
      const auto at = book_at_.find({book.row.tenant, book.row.id});
      books_.erase(at->second);
      book_at_.erase(at);
      continue;
    }
    book.row = std::move(saved.row);
    book.dirty = saved.dirty;
    book.seq = saved.seq;
    book.hash = saved.hash;
    book.recorded_at = saved.recorded_at;
    book.accounts = saved.accounts;
    book.monitors_made = saved.monitors_made;
    book.next_expiry = saved.next_expiry;
    if (saved.uncovered_whole) {
      book.uncovered = std::move(*saved.uncovered_whole);
    }
    book.uncovered.resize(saved.uncovered);
    book.uncovered_from = saved.uncovered_from;
    book.uncovered_since = saved.uncovered_since;
    book.records.resize(saved.records);
    book.monitors = std::move(saved.monitors);
    book.rollups = std::move(saved.rollups);
  }
  saved_books_.clear();
  names_.back_to(0);
  outcomes_.back_to(0);
  holds_.back_to(0);
  metadata_.back_to(0);
  index_.back_to(0);
  late_.back_to(0);
  monitors_.back_to(0);
  recon_sources_.back_to(0);
  recon_lines_.back_to(0);
  recon_days_.back_to(0);
  recon_entries_.back_to(0);
  rollups_.back_to(0);
}

// ---- a command ----

Reply Ledger::decide(Apply command) {
  if (!tenants_.contains(command.tenant)) {
    return fail(ErrorKind::not_found, "no such tenant");
  }
  if (auto settled = settle(command.tenant, command.book); !settled) {
    return std::unexpected(std::move(settled.error()));
  }
  read_ahead(command);
  LedgerApplied reply;
  reply.results.resize(command.items.size(), std::unexpected(linked()));
  // Groups in the order of their first items; an item without one is alone.
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < command.items.size(); ++i) {
    const std::string& name = command.items[i].group;
    if (command.mode == Apply::Mode::atomic && i > 0) {
      groups.front().push_back(i);
    } else if (command.mode == Apply::Mode::groups && !name.empty()) {
      const auto [at, fresh] = known.try_emplace(name, groups.size());
      if (fresh) {
        groups.emplace_back();
      }
      groups[at->second].push_back(i);
    } else if (command.mode != Apply::Mode::independent || command.preview) {
      groups.push_back({i});
    } else {
      apply_alone(command, i, reply);
    }
  }
  if (command.preview && command.mode == Apply::Mode::independent && !groups.empty()) {
    // Each sees what the earlier ones would have done.
    begin({.details = true, .preview = true, .may_force = command.may_force});
    for (std::size_t i = 0; i < command.items.size(); ++i) {
      reply.results[i] = apply(command.tenant, command.book, std::move(command.items[i].operation));
    }
    HK_SOMETIMES(ledger_previewed);
    rollback();
    return reply;
  }
  for (const std::vector<std::size_t>& group : groups) {
    apply_together(command, group, reply);
  }
  return reply;
}

void Ledger::apply_alone(Apply& command, std::size_t at, LedgerApplied& reply) {
  Operation& operation = command.items[at].operation;
  HotBook* const book = find_book(command.tenant, command.book);
  // It may be the one that makes the book. An import is many records: all of them, or none.
  if (book == nullptr || std::holds_alternative<ImportRecords>(operation)) {
    apply_together(command, {at}, reply);
    return;
  }
  options_ = {.details = command.details, .may_force = command.may_force};
  reply.results[at] = apply_one(*book, std::move(operation));
  options_ = {};
  send_events();
  check_point(*book);
}

void Ledger::apply_together(Apply& command, const std::vector<std::size_t>& items,
                            LedgerApplied& reply) {
  begin({.limits_at_end = command.limits_at_end,
         .details = command.details || command.preview,
         .preview = command.preview,
         .may_force = command.may_force});
  std::optional<std::size_t> failed;
  std::shared_ptr<const Refusal> why;
  for (const std::size_t i : items) {
    auto result = apply(command.tenant, command.book, std::move(command.items[i].operation));
    if (!result) {
      failed = i;
      why = result.error();
      break;
    }
    reply.results[i] = std::move(result);
  }
  if (!failed) {
    if (auto ended = check_end(); !ended) {
      failed = items[std::min(ended.error().first, items.size() - 1)];
      why = ended.error().second;
    }
  }
  if (!failed) {
    if (command.preview) {
      HK_SOMETIMES(ledger_previewed);
      rollback();
    } else {
      commit();
    }
    return;
  }
  rollback();
  for (const std::size_t i : items) {
    reply.results[i] = std::unexpected(linked());
  }
  reply.results[*failed] = std::unexpected(why);
  if (command.mode == Apply::Mode::atomic) {
    reply.failed = failed;
  }
}

ItemResult Ledger::apply_one(HotBook& book, Operation&& operation) {
  touched_.clear();
  legs_.clear();
  if (std::holds_alternative<ImportRecords>(operation)) {
    ItemResult imported = decide(book, std::get<ImportRecords>(operation));
    if (imported && options_.details) {
      describe(book, operation, *imported);
    }
    return imported;
  }
  if (book.row.importing) {
    HK_SOMETIMES(ledger_book_importing);
    return refuse(
        {.code = Code::book_importing,
         .detail = "the book " + book.row.id +
                   " is being imported: nothing else happens in it until that is complete"});
  }
  const bool settled = expire_due(book);
  HK_ASSERT(settled);  // settle() has seen to it
  ItemResult result = std::visit([this, &book](auto& one) { return decide(book, one); }, operation);
  if (result && options_.details) {
    describe(book, operation, *result);
  }
  return result;
}

}  // namespace hk::core::ledger
