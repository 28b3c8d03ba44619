// Books: what they are, their currencies, closing, who is told, checkpoints.
#include <algorithm>

#include "base/assert.h"
#include "base/json_string.h"
#include "base/sometimes.h"
#include "base/sortable_id.h"
#include "core/ledger/chain.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"
#include "core/queue/queues.h"
#include "security/ed25519.h"

HK_SOMETIMES_DECLARE(ledger_book_made)
HK_SOMETIMES_DECLARE(ledger_book_made_again)
HK_SOMETIMES_DECLARE(ledger_book_closed)
HK_SOMETIMES_DECLARE(ledger_book_reopened)
HK_SOMETIMES_DECLARE(ledger_close_finds_open_holds)
HK_SOMETIMES_DECLARE(ledger_key_changed)
HK_SOMETIMES_DECLARE(ledger_checkpoint_by_count)
HK_SOMETIMES_DECLARE(ledger_checkpoint_by_time)

namespace hk::core::ledger {

namespace {

constexpr std::size_t checkpoint_records = 1024;
constexpr std::size_t book_currencies_max = 10'000;

std::string key_seed(Rng& rng) {
  std::string seed;
  for (int i = 0; i < 4; ++i) {
    std::uint64_t bits = rng.next();
    for (int j = 0; j < 8; ++j, bits >>= 8U) {
      seed.push_back(static_cast<char>(static_cast<unsigned char>(bits)));
    }
  }
  return seed;
}

}  // namespace

std::string sealing_place(TenantId tenant, const std::string& book) {
  return "ledger/" + std::to_string(tenant.value()) + '/' + book;
}

bool is_ledger_id(std::string_view id, std::size_t max) {
  return !id.empty() && id.size() <= max && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '~' || c == ':' || c == '@' || c == '-';
  });
}

bool is_currency_code(std::string_view code) {
  return code.size() >= 2 && code.size() <= 16 && std::ranges::all_of(code, [](char c) {
           return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
         });
}

bool is_ledger_path(std::string_view path) {
  constexpr std::size_t path_max = 256;
  return is_ledger_id(path, path_max) && path.front() != ':' && path.back() != ':' &&
         path.find("::") == std::string_view::npos;
}

HotBook* Ledger::book_or_main(TenantId tenant, const std::string& id) {
  HotBook* const found = find_book(tenant, id);
  return found != nullptr || id != "main" ? found : &make_book(tenant, id, {});
}

/// A book with its number and its key, and no record yet.
HotBook& Ledger::add_book(TenantId tenant, const std::string& id) {
  HK_ASSERT(in_group_);
  BookNumber number = 0;
  for (const Book& row : batch_.reader().scan(Range<Book>::of(tenant))) {
    number = std::max(number, row.number);
  }
  for (const HotBook& other : books_) {
    if (other.used_in != batch_count_) {
      break;  // written, as are those behind it
    }
    if (other.row.tenant == tenant) {
      number = std::max(number, other.row.number);
    }
  }
  HotBook& book = keep_book(tenant, id);
  saved_books_.push_back({.book = &book, .made = true});
  book.saved_for = group_count_;
  Book& row = change(book);
  row.tenant = tenant;
  row.id = id;
  row.number = number + 1;
  book.key = Secret(key_seed(context_.rng));
  row.public_key = security::ed25519_public_key(book.key);
  row.sealed_key = context_.sealing.seal
                       ? context_.sealing.seal(book.key, sealing_place(tenant, id))
                       : std::string(book.key.reveal());
  return book;
}

HotBook& Ledger::make_book(TenantId tenant, const std::string& id, const CreateBook& create) {
  HK_SOMETIMES(ledger_book_made);
  HotBook& book = add_book(tenant, id);
  Book& row = change(book);
  row.name = create.name;
  row.indexed = create.indexed;
  row.created_at = next_instant(book);
  const std::uint64_t seq = record(
      book, BookCreated{.recorded_at = row.created_at,
                        .id = id,
                        .name = row.name,
                        .public_key = row.public_key,
                        .indexed = row.indexed,
                        .metadata = set_metadata(book, Metadata::Of::book, 0, 1, create.metadata)});
  HK_ASSERT(seq == 1);
  return book;
}

/// Creating it again.
ItemResult Ledger::decide(HotBook& book, const CreateBook& command) {
  const Record first = record_at(book, 1);
  const auto payload = decode(first.kind, first.payload);
  const auto* const made = payload ? std::get_if<BookCreated>(&*payload) : nullptr;
  if (made == nullptr) {
    throw CorruptRecord("the first record of the ledger book " + book.row.id);
  }
  const char* different = nullptr;
  if (made->name != command.name) {
    different = "name";
  } else if (!same_metadata(book, Metadata::Of::book, 0, 1, 0, command.metadata)) {
    different = "metadata";
  } else if (made->indexed != command.indexed) {
    different = "indexed";
  }
  if (different != nullptr) {
    return refuse({.code = Code::exists_with_different,
                   .member = different,
                   .detail = "the book " + book.row.id + " exists with another " + different});
  }
  HK_SOMETIMES(ledger_book_made_again);
  return Applied{.id = book.row.id, .seq = 1, .replayed = true};
}

ItemResult Ledger::decide(HotBook& book, const ChangeBook& command) {
  if (command.name && command.name->size() > book_name_max) {
    return refuse_member("name", "the name of a book has at most 256 bytes");
  }
  if (command.indexed && command.indexed->size() > book_indexed_max) {
    return refuse_member("indexed", "a book has at most 50 indexed keys");
  }
  if (auto fine = check_metadata(book, Metadata::Of::book, 0, command.metadata); !fine) {
    return std::unexpected(fine.error());
  }
  if (!command.name && !command.indexed && command.metadata.empty()) {
    return Applied{.id = book.row.id};
  }
  Book& row = change(book);
  row.name = command.name.value_or(row.name);
  row.indexed = command.indexed.value_or(row.indexed);
  const Instant recorded_at = next_instant(book);
  const std::uint64_t seq =
      record(book, BookChanged{.recorded_at = recorded_at,
                               .name = command.name,
                               .indexed = command.indexed,
                               .metadata = set_metadata(book, Metadata::Of::book, 0, book.seq + 1,
                                                        command.metadata)});
  tell_of_book(book, "ledger.book.updated", seq);
  return Applied{.id = row.id, .seq = seq};
}

ItemResult Ledger::decide(HotBook& book, const AddCurrency& command) {
  if (!is_currency_code(command.code)) {
    return refuse_member("code", "a currency code is 2 to 16 of A-Z 0-9 _");
  }
  if (command.exponent > currency_exponent_max) {
    return refuse_member("exponent", "the exponent of a currency is 0 to 38");
  }
  if (const Currency* const known = currency_of(book, command.code)) {
    if (known->exponent != command.exponent) {
      return refuse({.code = Code::exists_with_different,
                     .member = "exponent",
                     .currency = command.code,
                     .detail = command.code + " has the exponent " +
                               std::to_string(known->exponent) + ", which cannot change"});
    }
    return Applied{.id = command.code, .replayed = true};
  }
  if (book.row.currencies.size() >= book_currencies_max) {
    return refuse({.code = Code::too_many,
                   .member = "currencies",
                   .limit = {false, book_currencies_max},
                   .detail = "a book has at most 10000 currencies of its own"});
  }
  Book& row = change(book);
  const auto number = own_currencies_from + static_cast<CurrencyNumber>(row.currencies.size());
  row.currencies.push_back({number, command.code, command.exponent});
  const std::uint64_t seq = record(book, CurrencyAdded{.recorded_at = next_instant(book),
                                                       .code = command.code,
                                                       .exponent = command.exponent});
  tell_of_book(book, "ledger.book.updated", seq);
  return Applied{.id = command.code, .seq = seq, .created = true};
}

ItemResult Ledger::decide(HotBook& book, const CloseBook& command) {
  const std::optional<Instant>& before = book.row.closed_through;
  const bool reopens = before && (!command.through || *command.through < *before);
  if (command.through == before) {
    return Applied{.id = book.row.id};
  }
  if (reopens && command.reason.empty()) {
    return refuse_member("reason", "a book is reopened with a reason");
  }
  if (command.through && *command.through > now()) {
    return refuse_member("through", "a book is closed up to now at the latest");
  }
  if (command.through && !reopens) {
    for (const OpenHold& hold :
         holds_.scan(Range<OpenHold>::of(book.row.tenant, book.row.number))) {
      if (hold.effective_at <= *command.through) {
        HK_SOMETIMES(ledger_close_finds_open_holds);
        return refuse({.code = Code::open_holds,
                       .transaction = transaction_of(book, hold.seq).id,
                       .detail = "holds of that time are open; post or void them first"});
      }
    }
  }
  if (reopens) {
    HK_SOMETIMES(ledger_book_reopened);
  } else {
    HK_SOMETIMES(ledger_book_closed);
  }
  Book& row = change(book);
  row.closed_through = command.through;
  const std::uint64_t seq = record(book, BookClosed{.recorded_at = next_instant(book),
                                                    .through = command.through,
                                                    .reason = command.reason});
  tell_of_book(book, "ledger.book.closed", seq);
  return Applied{.id = row.id, .seq = seq};
}

// ---- who is told ----

ItemResult Ledger::decide(HotBook& book, AddSubscription& command) {
  const int targets = static_cast<int>(!command.url.empty()) +
                      static_cast<int>(!command.url_group.empty()) +
                      static_cast<int>(!command.queue.empty());
  if (targets != 1) {
    return refuse_member("destination", "a subscription has a destination or a queue");
  }
  if (!command.queue.empty() && !queues_.find_pulled(book.row.tenant, command.queue)) {
    return refuse_member("queue", "there is no queue " + command.queue +
                                      " that messages are received from; create it first");
  }
  if (book.row.subscriptions.size() >= limits_.ledger_subscriptions_max) {
    return refuse({.code = Code::too_many,
                   .member = "subscriptions",
                   .limit = {false, limits_.ledger_subscriptions_max},
                   .detail = "a book has at most " +
                             std::to_string(limits_.ledger_subscriptions_max) + " subscriptions"});
  }
  Subscription made{.id = sortable_id("lsub_", now(), book.seq, context_.rng.next()),
                    .url = std::move(command.url),
                    .host = std::move(command.host),
                    .url_group = std::move(command.url_group),
                    .queue = std::move(command.queue),
                    .types = std::move(command.types),
                    .created_at = now()};
  Applied applied{.id = made.id, .created = true};
  change(book).subscriptions.push_back(std::move(made));
  return applied;
}

ItemResult Ledger::decide(HotBook& book, const RemoveSubscription& command) {
  const auto& all = book.row.subscriptions;
  if (std::ranges::find(all, command.id, &Subscription::id) == all.end()) {
    return refuse({.code = Code::subscription_not_found,
                   .detail = "the book has no subscription " + command.id});
  }
  std::erase_if(change(book).subscriptions,
                [&](const Subscription& one) { return one.id == command.id; });
  return Applied{.id = command.id};
}

ItemResult Ledger::decide(HotBook& book, AddMonitor& command) {
  if (command.account.empty() == command.prefix.empty()) {
    return refuse_member("account", "a monitor has an account or a prefix");
  }
  if (!command.prefix.empty() && !is_ledger_path(command.prefix)) {
    return refuse_member("prefix", "a prefix is segments of a path, joined by \":\"");
  }
  Monitor monitor{.tenant = book.row.tenant,
                  .book = book.row.number,
                  .prefix = std::move(command.prefix),
                  .reading = command.reading,
                  .compare = command.compare,
                  .value = command.value,
                  .created_at = now()};
  if (!command.account.empty()) {
    const auto account = find_account(book, command.account);
    if (!account) {
      return refuse({.code = Code::account_not_found,
                     .account = command.account,
                     .detail = "there is no account " + command.account});
    }
    monitor.account = (*account)->row.id;
  }
  const Currency* const currency = currency_of(book, command.currency);
  if (currency == nullptr) {
    return refuse({.code = Code::currency_unknown,
                   .currency = command.currency,
                   .detail = "the book does not know the currency " + command.currency});
  }
  if (book.monitors.size() >= limits_.ledger_monitors_max) {
    return refuse({.code = Code::too_many,
                   .member = "monitors",
                   .limit = {false, limits_.ledger_monitors_max},
                   .detail = "a book has at most " + std::to_string(limits_.ledger_monitors_max) +
                             " monitors"});
  }
  save(book);
  monitor.currency = currency->number;
  monitor.number = ++book.monitors_made;
  monitor.id = sortable_id("lmon_", now(), monitor.number, context_.rng.next());
  Applied applied{.id = monitor.id, .created = true};
  monitors_.put(monitor);
  book.monitors.push_back(std::move(monitor));
  return applied;
}

ItemResult Ledger::decide(HotBook& book, const RemoveMonitor& command) {
  const auto found = std::ranges::find(book.monitors, command.id, &Monitor::id);
  if (found == book.monitors.end()) {
    return refuse(
        {.code = Code::monitor_not_found, .detail = "the book has no monitor " + command.id});
  }
  save(book);
  monitors_.erase(own_key(*found));
  book.monitors.erase(found);
  return Applied{.id = command.id};
}

// ---- checkpoints ----

/// A book that was imported stays as it is until something is recorded in it: so its last hash is
/// that of its source.
bool Ledger::at_rest(const HotBook& book) {
  return book.row.importing ||
         (!book.row.next_public_key.empty() && book.seq == book.row.imported_through);
}

/// Never within a group: it covers what is decided.
void Ledger::check_point(HotBook& book) {
  HK_ASSERT(!in_group_);
  if (at_rest(book)) {
    return;
  }
  const bool due =
      !book.uncovered.empty() && Instant{book.uncovered_since} + Millis{60'000} <= now();
  if (book.uncovered.size() < checkpoint_records && !due) {
    return;
  }
  if (due) {
    HK_SOMETIMES(ledger_checkpoint_by_time);
  } else {
    HK_SOMETIMES(ledger_checkpoint_by_count);
  }
  if (!book.row.next_public_key.empty()) {
    // The first one here: from now on the book signs with the key that it has here.
    HK_SOMETIMES(ledger_key_changed);
    Book& row = change(book);
    row.former_keys.push_back({book.seq, std::exchange(row.public_key, {})});
    row.public_key = std::exchange(row.next_public_key, {});
    const std::uint64_t changed =
        record(book, KeyChanged{.recorded_at = next_instant(book), .public_key = row.public_key});
    tell_of_book(book, "ledger.book.updated", changed);
  }
  Checkpoint checkpoint{.recorded_at = next_instant(book),
                        .first_seq = book.uncovered_from,
                        .last_seq = book.seq,
                        .root = merkle_root(book.uncovered),
                        .last_hash = book.hash};
  checkpoint.signature = security::ed25519_sign(
      book.key, checkpoint_text(book.row.id, checkpoint.first_seq, checkpoint.last_seq,
                                checkpoint.root, checkpoint.last_hash));
  const std::uint64_t seq = record(book, checkpoint);
  book.uncovered.clear();
  book.uncovered_from = seq + 1;
  tell_of_checkpoint(book, checkpoint, seq);
  send_events();
}

void Ledger::on_checkpoint_timer(TenantId tenant, const std::string& id) {
  HotBook* const book = find_book(tenant, id);
  if (book != nullptr) {
    book->checkpoint_timer = never;
    release_due(*book);  // before any later record of the book
    set_timers(*book);
  }
}

}  // namespace hk::core::ledger
