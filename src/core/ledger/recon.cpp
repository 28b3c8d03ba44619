// Reconciliation: sources, their lines, and what is decided about them. A decision is a record; the
// lines stand beside the log, whose records have their hashes: what a bank writes about people can
// be deleted.
#include "core/ledger/recon.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/assert.h"
#include "base/bytes.h"
#include "base/sometimes.h"
#include "core/ledger/fresh.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"

HK_SOMETIMES_DECLARE(ledger_recon_matched)
HK_SOMETIMES_DECLARE(ledger_recon_proposed)
HK_SOMETIMES_DECLARE(ledger_recon_line_again)
HK_SOMETIMES_DECLARE(ledger_recon_line_differs)
HK_SOMETIMES_DECLARE(ledger_recon_line_of_an_import)
HK_SOMETIMES_DECLARE(ledger_recon_undone)

namespace hk::core::ledger {

namespace {

constexpr std::uint32_t sources_max = 1000;
constexpr std::uint32_t window_days_max = 60;
constexpr std::uint32_t window_days_default = 3;
constexpr std::size_t external_id_bytes_max = 255;
constexpr std::size_t line_text_bytes_max = 2000;
constexpr std::size_t movements_at_once = 50'000;  // that one request looks at
constexpr std::size_t of_reference_max = 16;       // transactions of one reference

std::unexpected<std::shared_ptr<const Refusal>> no_line(const std::string& external_id) {
  return refuse({.code = Code::line_not_found,
                 .member = "external_id",
                 .detail = "the source has no line " + external_id});
}

std::unexpected<std::shared_ptr<const Refusal>> line_differs(const std::string& external_id,
                                                             std::string member) {
  HK_SOMETIMES(ledger_recon_line_differs);
  return refuse({.code = Code::line_exists_with_different,
                 .member = member,
                 .detail = "the line " + external_id + " was imported with another " + member});
}

/// "": they are equal.
std::string different_in_line(const ReconLine& a, const ReconLine& b) {
  return a.date != b.date             ? "date"
         : a.amount != b.amount       ? "amount"
         : a.reference != b.reference ? "reference"
         : a.text != b.text           ? "text"
                                      : "";
}

bool text_is(std::string_view text, std::size_t most) {
  return text.size() <= most && text.find('\0') == std::string_view::npos;
}

Signed as_of_a_line(Side side, Amount amount) { return {side == Side::credit, amount}; }

}  // namespace

// ---- sources ----

Ledger::Or<ReconSource> Ledger::recon_source(HotBook& book, const std::string& id) {
  auto found = recon_sources_.get({book.row.tenant, book.row.number, id});
  if (!found) {
    return refuse({.code = Code::source_not_found,
                   .member = "source",
                   .detail = "the book has no source " + id});
  }
  return std::move(*found);
}

/// They are never removed, and bounded.
std::uint32_t Ledger::next_source_number(HotBook& book) {
  std::uint32_t most = 0;
  for (const ReconSource& one :
       recon_sources_.scan(Range<ReconSource>::of(book.row.tenant, book.row.number))) {
    most = std::max(most, one.number);
  }
  return most + 1;
}

ItemResult Ledger::decide(HotBook& book, const SetReconSource& command) {
  if (!is_ledger_id(command.id)) {
    return refuse_member("source", "the id of a source is 1 to 128 of A-Z a-z 0-9 . _ ~ : @ -");
  }
  if (command.window_days.value_or(0) > window_days_max) {
    return refuse_member("window_days", "a window has at most 60 days");
  }
  const auto account = find_account(book, command.account);
  if (!account) {
    return refuse({.code = Code::account_not_found,
                   .account = command.account,
                   .detail = "there is no account " + command.account});
  }
  const Currency* const currency = currency_of(book, command.currency);
  if (currency == nullptr) {
    return refuse({.code = Code::currency_unknown,
                   .currency = command.currency,
                   .detail = "the book does not know the currency " + command.currency});
  }
  const Account& row = (*account)->row;
  if (row.currency != 0 && row.currency != currency->number) {
    return refuse({.code = Code::currency_mismatch,
                   .account = row.id,
                   .currency = currency->code,
                   .detail = "the account " + row.id + " is locked to another currency"});
  }
  const auto before = recon_sources_.get({book.row.tenant, book.row.number, command.id});
  if (before && before->used &&
      (before->account != row.id || before->currency != currency->number)) {
    return refuse({.code = Code::exists_with_different,
                   .member = before->account != row.id ? "account" : "currency",
                   .detail = "the source " + command.id + " has lines of another account"});
  }
  const std::uint32_t number = next_source_number(book);
  if (!before && number > sources_max) {
    return refuse({.code = Code::too_many,
                   .member = "sources",
                   .limit = {false, sources_max},
                   .detail = "a book has at most 1000 sources"});
  }
  ReconSource source = before.value_or(ReconSource{.tenant = book.row.tenant,
                                                   .book = book.row.number,
                                                   .id = command.id,
                                                   .number = number,
                                                   .window_days = window_days_default,
                                                   .created_at = next_instant(book)});
  source.account = row.id;
  source.account_number = row.number;
  source.currency = currency->number;
  source.window_days = command.window_days.value_or(source.window_days);
  source.automatic = command.automatic.value_or(source.automatic);
  Applied applied{.id = command.id, .created = !before};
  if (before == source) {
    return applied;
  }
  recon_sources_.put(source);
  applied.seq = record(book, ReconSourceSet{.recorded_at = next_instant(book),
                                            .id = source.id,
                                            .account = source.account,
                                            .currency = currency->code,
                                            .window_days = source.window_days,
                                            .automatic = source.automatic});
  tell_of_book(book, "ledger.book.updated", applied.seq);
  return applied;
}

// ---- entries ----

bool Ledger::is_free(const ReconSource& source, const EntryPlace& place) {
  return !recon_entries_.get(
      {source.tenant, source.book, source.account_number, place.seq, place.index});
}

/// Posted entries of the account within the days, that nobody has matched.
Ledger::Or<std::vector<FreeEntry>> Ledger::free_entries(HotBook& book, const ReconSource& source,
                                                        Instant from, Instant to) {
  const auto account = find_account(book, source.account);
  HK_ASSERT(account);
  std::vector<FreeEntry> entries;
  std::uint64_t least = UINT64_MAX;
  std::uint64_t most = 0;
  std::size_t looked = 0;
  Fresh sight(*this, batch_.reader());
  sight.by_effective((*account)->row, source.currency, from, to, [&](const Movement& movement) {
    if (movement.phase == Movement::Phase::posted) {
      entries.push_back({.place = {movement.seq, movement.index},
                         .effective_at = movement.effective_at,
                         .amount = as_of_a_line(movement.side, movement.amount)});
      least = std::min(least, movement.seq);
      most = std::max(most, movement.seq);
    }
    return ++looked <= movements_at_once;
  });
  if (looked > movements_at_once) {
    return refuse({.code = Code::too_many,
                   .member = "lines",
                   .limit = {false, movements_at_once},
                   .detail =
                       "the days of these lines have more than 50000 entries: send fewer days "
                       "at once"});
  }
  std::set<EntryPlace> taken;
  if (!entries.empty()) {
    for (const ReconEntry& one : recon_entries_.scan(
             Range<ReconEntry>::of(source.tenant, source.book, source.account_number)
                 .from(source.tenant, source.book, source.account_number, least)
                 .up_to(source.tenant, source.book, source.account_number, most))) {
      taken.insert({one.seq, one.index});
    }
  }
  std::erase_if(entries, [&](const FreeEntry& one) { return taken.contains(one.place); });
  return entries;
}

/// The free entries of the transactions that have this reference.
std::vector<FreeEntry> Ledger::entries_of_reference(HotBook& book, const ReconSource& source,
                                                    const std::string& reference) {
  std::vector<FreeEntry> out;
  if (reference.empty()) {
    return out;
  }
  constexpr auto kind = static_cast<std::uint32_t>(IndexEntry::Kind::reference);
  const std::string begin = index_name(IndexEntry::Kind::reference, reference, {});
  const std::string code = ledger::find_currency(book.row, source.currency)->code;
  for (const IndexEntry& found :
       index_.scan(Range<IndexEntry>::of(source.tenant, source.book, kind)
                       .from(source.tenant, source.book, kind, begin)
                       .before(source.tenant, source.book, kind, begin + std::string(9, '\xff')),
                   of_reference_max)) {
    if (found.name.size() != begin.size() + 8) {
      continue;
    }
    const auto seq = read_be<std::uint64_t>(std::string_view(found.name).substr(begin.size()));
    const TransactionMade made = transaction_of(book, seq);
    for (std::size_t i = 0; i < made.entries.size(); ++i) {
      const Entry& entry = made.entries[i];
      const EntryPlace place{seq, static_cast<std::uint32_t>(i)};
      if (made.kind == TransactionMade::Kind::posted && entry.account == source.account &&
          entry.currency == code && is_free(source, place)) {
        out.push_back({place, made.effective_at, as_of_a_line(entry.side, entry.amount)});
      }
    }
  }
  return out;
}

// ---- decisions ----

/// What a decision makes of its line (none: it is about entries alone), and of the entries.
void Ledger::settle(const ReconSource& source, std::optional<ReconLine> line,
                    ReconDecision::Action action, ReconRule rule,
                    const std::vector<EntryPlace>& entries) {
  const auto free = [&](const std::vector<EntryPlace>& places) {
    for (const EntryPlace& place : places) {
      recon_entries_.erase(
          {source.tenant, source.book, source.account_number, place.seq, place.index});
    }
  };
  const auto take = [&](const std::string& external_id) {
    for (const EntryPlace& place : entries) {
      recon_entries_.put({.tenant = source.tenant,
                          .book = source.book,
                          .account = source.account_number,
                          .seq = place.seq,
                          .index = place.index,
                          .source = source.id,
                          .external_id = external_id});
    }
  };
  using Action = ReconDecision::Action;
  if (!line) {
    action == Action::ignore ? take("") : free(entries);
    return;
  }
  switch (action) {
    case Action::match:
      HK_SOMETIMES(ledger_recon_matched);
      line->state = ReconState::matched;
      line->rule = rule;
      line->entries = entries;
      take(line->external_id);
      break;
    case Action::unmatch:
      HK_SOMETIMES(ledger_recon_undone);
      if (line->state == ReconState::matched) {
        free(line->entries);
      }
      line->state = ReconState::unmatched;
      line->rule = ReconRule::none;
      line->entries.clear();
      break;
    case Action::ignore:
      line->state = ReconState::ignored;
      line->rule = ReconRule::manual;
      line->entries.clear();
      break;
  }
  recon_lines_.put(std::move(*line));
}

/// A decision in the words of a record.
ReconDecision Ledger::decision_of(HotBook& book, const ReconLine* line,
                                  ReconDecision::Action action, ReconRule rule,
                                  const std::vector<EntryPlace>& entries) {
  ReconDecision out{.action = action, .rule = rule};
  if (line != nullptr) {
    out.external_id = line->external_id;
    out.line = line->hash;
  }
  for (const EntryPlace& place : entries) {
    out.entries.push_back({transaction_of(book, place.seq).id, place.index});
  }
  return out;
}

std::uint64_t Ledger::record_decisions(HotBook& book, const std::string& source,
                                       std::vector<ReconDecision> decisions) {
  const std::uint64_t seq = record(book, Reconciled{.recorded_at = next_instant(book),
                                                    .source = source,
                                                    .decisions = std::move(decisions)});
  tell_of_book(book, "ledger.book.updated", seq);
  return seq;
}

// ---- lines ----

Ledger::Or<ReconLine> Ledger::read_line(HotBook& book, const ReconSource& source,
                                        const ReconLineIn& in) {
  ReconLine line{.tenant = book.row.tenant,
                 .book = book.row.number,
                 .source = source.number,
                 .external_id = in.external_id,
                 .date = in.date,
                 .amount = in.amount,
                 .reference = in.reference,
                 .text = in.text};
  if (line.external_id.empty() || !text_is(line.external_id, external_id_bytes_max)) {
    return refuse_member("external_id", "the id of a line has 1 to 255 bytes");
  }
  if (line.date != day_of(line.date)) {
    return refuse_member("date", "a line has a day, without a time");
  }
  if (line.amount.magnitude == 0) {
    return refuse({.code = Code::amount_invalid,
                   .member = "amount",
                   .detail = "the line " + line.external_id + " has the amount 0"});
  }
  if (!text_is(line.reference, reference_bytes_max)) {
    return refuse_member("reference", "a reference has at most 255 bytes");
  }
  if (!text_is(line.text, line_text_bytes_max)) {
    return refuse_member("text", "the text of a line has at most 2000 bytes");
  }
  const std::string code = ledger::find_currency(book.row, source.currency)->code;
  if (in.currency != code) {
    return refuse({.code = Code::currency_mismatch,
                   .member = "currency",
                   .currency = in.currency,
                   .detail = "the source " + source.id + " has lines in " + code});
  }
  line.hash = hash_of(line);
  const auto before = recon_lines_.get(own_key(line));
  if (!before) {
    return line;
  }
  if (!before->known) {
    HK_SOMETIMES(ledger_recon_line_of_an_import);
    if (before->hash != line.hash) {
      return line_differs(line.external_id, "content");
    }
    line.state = before->state;
    line.rule = before->rule;
    line.entries = before->entries;
    return line;
  }
  if (std::string member = different_in_line(*before, line); !member.empty()) {
    return line_differs(line.external_id, std::move(member));
  }
  return *before;
}

std::optional<ReconFound> Ledger::find_match(HotBook& book, const ReconSource& source,
                                             const ReconLine& line,
                                             const std::vector<FreeEntry>& free,
                                             const Rivals& rivals) {
  if (auto found = match_by_reference(line, entries_of_reference(book, source, line.reference))) {
    return found;
  }
  if (auto found = match_by_amount(line, free, source.window_days, rivals)) {
    return found;
  }
  return match_several(line, free, source.window_days);
}

ItemResult Ledger::decide(HotBook& book, const ImportReconLines& command) {
  auto source = recon_source(book, command.source);
  if (!source) {
    return std::unexpected(source.error());
  }
  if (command.lines.empty() || command.lines.size() > recon_lines_max) {
    return refuse_member("lines", "lines has 1 to 500 of them");
  }
  // Everything is looked at first.
  std::map<std::string, ReconLine> lines;
  std::vector<std::string> order;
  Instant first = no_end;
  Instant last = long_ago;
  for (const ReconLineIn& in : command.lines) {
    auto line = read_line(book, *source, in);
    if (!line) {
      return std::unexpected(line.error());
    }
    first = std::min(first, line->date);
    last = std::max(last, line->date);
    const auto [at, fresh] = lines.try_emplace(in.external_id, *line);
    if (fresh) {
      order.push_back(in.external_id);
    } else if (std::string member = different_in_line(at->second, *line); !member.empty()) {
      return line_differs(in.external_id, std::move(member));
    }
  }
  const std::chrono::days window{source->window_days};
  auto free = free_entries(book, *source, first - window, last + window + std::chrono::days{1});
  if (!free) {
    return std::unexpected(free.error());
  }

  save(book);
  ReconImported counts{.duplicates = command.lines.size()};
  for (const std::string& id : order) {
    const ReconLine& line = lines.at(id);
    const auto before = recon_lines_.get(own_key(line));
    if (before && before->known) {
      HK_SOMETIMES(ledger_recon_line_again);
      continue;
    }
    ++counts.imported;
    --counts.duplicates;
    recon_lines_.put(line);
    recon_days_.put({.tenant = line.tenant,
                     .book = line.book,
                     .source = line.source,
                     .day = ordered(line.date),
                     .external_id = line.external_id});
  }
  if (!source->used) {
    source->used = true;
    recon_sources_.put(*source);
  }
  std::vector<ReconDecision> decisions;
  for (const std::string& id : order) {
    ReconLine& line = lines.at(id);
    if (line.state == ReconState::matched || line.state == ReconState::ignored) {
      continue;
    }
    Rivals rivals;
    for (const auto& [other_id, other_line] : lines) {
      if (other_id != id && other_line.amount == line.amount &&
          other_line.state != ReconState::matched && other_line.state != ReconState::ignored) {
        rivals.same_day = rivals.same_day || other_line.date == line.date;
        const auto apart =
            other_line.date < line.date ? line.date - other_line.date : other_line.date - line.date;
        rivals.near = rivals.near || apart <= 2 * window;
      }
    }
    const auto found = find_match(book, *source, line, *free, rivals);
    if (found && found->sure && source->automatic) {
      ++counts.matched;
      decisions.push_back(
          decision_of(book, &line, ReconDecision::Action::match, found->rule, found->entries));
      settle(*source, line, ReconDecision::Action::match, found->rule, found->entries);
      line.state = ReconState::matched;
      std::erase_if(*free, [&](const FreeEntry& one) {
        return std::ranges::find(found->entries, one.place) != found->entries.end();
      });
      continue;
    }
    ReconLine proposed = line;
    proposed.state = found ? ReconState::proposed : ReconState::unmatched;
    proposed.rule = found ? found->rule : ReconRule::none;
    proposed.entries = found ? found->entries : std::vector<EntryPlace>{};
    if (found) {
      HK_SOMETIMES(ledger_recon_proposed);
      ++counts.proposed;
    }
    if (proposed != line) {
      recon_lines_.put(std::move(proposed));
    }
  }
  Applied applied{.id = source->id};
  if (!decisions.empty()) {
    applied.seq = record_decisions(book, source->id, std::move(decisions));
  }
  applied.imported = counts;
  return applied;
}

// ---- by hand ----

/// The entries that are named: posted ones of the source's account.
Ledger::Or<std::vector<EntryPlace>> Ledger::named_entries(HotBook& book, const ReconSource& source,
                                                          const std::vector<EntryName>& names,
                                                          Signed& sum) {
  const std::string code = ledger::find_currency(book.row, source.currency)->code;
  std::vector<EntryPlace> out;
  sum = {};
  for (const EntryName& name : names) {
    const auto target = find_target(book, name.transaction);
    if (!target) {
      return std::unexpected(target.error());
    }
    const auto& [seq, made] = *target;
    const EntryPlace place{seq, name.index};
    if (made.kind != TransactionMade::Kind::posted || name.index >= made.entries.size() ||
        made.entries[name.index].account != source.account ||
        made.entries[name.index].currency != code || std::ranges::find(out, place) != out.end()) {
      return refuse_member("entries", "entry " + std::to_string(name.index) + " of " +
                                          name.transaction + " is no posted entry of the account " +
                                          source.account + " in " + code + ", or is named twice");
    }
    const Entry& entry = made.entries[name.index];
    sum = saturating_sum(sum, as_of_a_line(entry.side, entry.amount));
    out.push_back(place);
  }
  return out;
}

ItemResult Ledger::decide(HotBook& book, const DecideRecon& command) {
  using Action = ReconDecision::Action;
  auto source = recon_source(book, command.source);
  if (!source) {
    return std::unexpected(source.error());
  }
  if (command.entries && (command.entries->empty() || command.entries->size() > entries_max)) {
    return refuse_member("entries", "entries has 1 to 1000 of them");
  }
  Signed sum{};
  std::vector<EntryPlace> entries;
  if (command.entries) {
    auto named = named_entries(book, *source, *command.entries, sum);
    if (!named) {
      return std::unexpected(named.error());
    }
    entries = std::move(*named);
  }
  const auto is_taken = [&](const EntryPlace& place) { return !is_free(*source, place); };
  const auto taken = [&](const EntryPlace& place) {
    return refuse({.code = Code::already_matched,
                   .transaction = transaction_of(book, place.seq).id,
                   .detail = "the entry is matched with a line, or ignored; take that back first"});
  };
  std::optional<ReconLine> line;
  if (command.external_id.empty()) {
    if (entries.empty() || command.action == Action::match) {
      return refuse_member("external_id", "a line is matched: name it by its external_id");
    }
    for (const EntryPlace& place : entries) {
      const auto row = recon_entries_.get(
          {source->tenant, source->book, source->account_number, place.seq, place.index});
      if (row && !row->external_id.empty()) {
        return taken(place);
      }
    }
    std::erase_if(entries, [&](const EntryPlace& place) {
      return is_taken(place) == (command.action == Action::ignore);
    });
    if (entries.empty()) {
      return Applied{.id = source->id};
    }
  } else {
    line = recon_lines_.get({source->tenant, source->book, source->number, command.external_id});
    if (!line || !line->known) {
      return no_line(command.external_id);
    }
    const bool matched = line->state == ReconState::matched;
    const bool ignored = line->state == ReconState::ignored;
    if (command.action != Action::match && command.entries) {
      return refuse_member("entries", "only a match of a line has entries");
    }
    if (command.action == Action::match) {
      if (!command.entries) {
        entries = line->entries;
        if (entries.empty()) {
          return refuse_member("entries", "nothing is proposed for the line: name its entries");
        }
        sum = line->amount;
      }
      if (matched && entries == line->entries) {
        return Applied{.id = source->id};
      }
      if (matched || ignored) {
        return refuse({.code = Code::already_matched,
                       .detail = "the line " + line->external_id +
                                 " is matched or ignored; take that back first"});
      }
      if (const auto found = std::ranges::find_if(entries, is_taken); found != entries.end()) {
        return taken(*found);
      }
      if (sum != line->amount) {
        return refuse({.code = Code::match_differs,
                       .limit = line->amount,
                       .value = sum,
                       .detail = "the line is " + to_text(line->amount) + ", its entries are " +
                                 to_text(sum) + ": book the difference first"});
      }
    } else if (command.action == Action::unmatch ? !matched && !ignored : ignored) {
      return Applied{.id = source->id};  // it is so
    } else if (command.action == Action::ignore && matched) {
      return refuse({.code = Code::already_matched,
                     .detail = "the line " + line->external_id + " is matched; unmatch it first"});
    }
  }
  std::vector<ReconDecision> decisions;
  decisions.push_back(
      decision_of(book, line ? &*line : nullptr, command.action, ReconRule::manual, entries));
  settle(*source, line, command.action, ReconRule::manual, entries);
  return Applied{.id = source->id, .seq = record_decisions(book, source->id, std::move(decisions))};
}

// ---- from an imported log ----

Ledger::Or<void> Ledger::take_in(HotBook& book, const ReconSourceSet& set) {
  const auto account = imported_account(book, set.account);
  if (!account) {
    return std::unexpected(account.error());
  }
  const Currency* const currency = currency_of(book, set.currency);
  if (!is_ledger_id(set.id) || currency == nullptr || set.window_days > window_days_max) {
    return refuse_member("source", "the source " + set.id + " cannot be");
  }
  ReconSource source = recon_sources_.get({book.row.tenant, book.row.number, set.id})
                           .value_or(ReconSource{.tenant = book.row.tenant,
                                                 .book = book.row.number,
                                                 .id = set.id,
                                                 .number = next_source_number(book),
                                                 .created_at = set.recorded_at});
  if (source.used && (source.account != set.account || source.currency != currency->number)) {
    return refuse_member("source", "the source " + set.id + " has decisions of another account");
  }
  source.account = set.account;
  source.account_number = (*account)->row.number;
  source.currency = currency->number;
  source.window_days = set.window_days;
  source.automatic = set.automatic;
  recon_sources_.put(std::move(source));
  record(book, set);
  return {};
}

Ledger::Or<void> Ledger::take_in(HotBook& book, const Reconciled& made) {
  auto source = recon_source(book, made.source);
  if (!source) {
    return std::unexpected(source.error());
  }
  using Action = ReconDecision::Action;
  for (const ReconDecision& decision : made.decisions) {
    Signed sum{};
    const auto entries = named_entries(book, *source, decision.entries, sum);
    if (!entries) {
      return std::unexpected(entries.error());
    }
    std::optional<ReconLine> line;
    if (!decision.external_id.empty()) {
      line = recon_lines_.get({source->tenant, source->book, source->number, decision.external_id});
      if (!line) {
        line = ReconLine{.tenant = source->tenant,
                         .book = source->book,
                         .source = source->number,
                         .external_id = decision.external_id,
                         .known = false,
                         .hash = decision.line};
      }
    }
    const bool settled =
        line && (line->state == ReconState::matched || line->state == ReconState::ignored);
    const bool takes =
        decision.action == Action::match || (!line && decision.action == Action::ignore);
    const bool good = (!line || line->hash == decision.line) &&
                      (line || (decision.action != Action::match && !entries->empty())) &&
                      (decision.action != Action::match || (!entries->empty() && !settled)) &&
                      (!takes || std::ranges::all_of(*entries, [&](const EntryPlace& place) {
                        return is_free(*source, place);
                      }));
    if (!good) {
      return refuse_member("decisions", "a decision about " + decision.external_id + " cannot be");
    }
    settle(*source, std::move(line), decision.action, decision.rule, *entries);
  }
  source->used = true;
  recon_sources_.put(std::move(*source));
  record(book, made);
  return {};
}

}  // namespace hk::core::ledger
