#include "api/ledger/parse.h"

#include <array>
#include <utility>

#include "api/ledger/errors.h"
#include "api/ledger/input.h"
#include "base/ascii.h"
#include "base/date.h"
#include "base/duration.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

namespace ledger = core::ledger;
using ledger::Code;
using Names = std::string_view;

template <class Enum>
Enum enum_at(std::size_t place) {
  return static_cast<Enum>(place + 1);  // those of core/ledger begin at 1
}
template <class Enum>
bool read_enum(Input& input, std::span<const std::string_view> names, Enum& out) {
  std::size_t place = 0;
  if (!input.one_of(names, place)) {
    return false;
  }
  out = enum_at<Enum>(place);
  return true;
}

/// Reads the whole body; `read` reads its value.
template <class T, class Read>
Parsed<T> whole(std::string_view body, T out, Read read) {
  Input input(body);
  if (!read(input, out)) {
    return std::unexpected(input.refusal());
  }
  input.json().end();
  if (input.broken()) {
    return std::unexpected(input.refusal());
  }
  return out;
}

std::string_view or_empty_object(std::string_view body) {
  return trim(body, white_space).empty() ? "{}" : body;
}

// ---- accounts ----

/// {"USD": {"min_available": "0", "max_balance": null}, "EUR": null}
bool read_limits(Input& input, std::vector<ledger::LimitsIn>& out,
                 std::vector<std::string>* removed) {
  static constexpr std::array<Names, 2> names = {"min_available", "max_balance"};
  if (input.json().kind() != Input::Kind::object) {
    return input.refuse("must be an object with a member for each currency");
  }
  input.json().begin_object();
  std::string_view name;
  while (input.json().next_member(name)) {
    const std::string currency(name);
    input.enter(currency);
    const auto is_it = [&](const auto& one) { return one.currency == currency; };
    if (std::ranges::any_of(out, is_it) ||
        (removed != nullptr && std::ranges::find(*removed, currency) != removed->end())) {
      return input.refuse("is given twice");
    }
    constexpr std::size_t currencies_max = 1000;  // keeps the look above short
    if (out.size() + (removed != nullptr ? removed->size() : 0) == currencies_max) {
      return input.refuse("is one currency too many for one request");
    }
    if (removed != nullptr && input.json().kind() == Input::Kind::null) {
      input.json().null();
      removed->push_back(currency);
      input.leave();
      continue;
    }
    ledger::LimitsIn limits{.currency = currency};
    std::uint32_t seen = 0;
    const bool read = input.object(
        names, seen,
        [&](std::size_t i) {
          auto& limit = (i == 0 ? limits.min_available : limits.max_balance).emplace();
          if (input.json().kind() == Input::Kind::null) {
            input.json().null();
            return true;
          }
          return input.signed_amount(limit.emplace());
        },
        Input::Nulls::given);
    if (!read) {
      return false;
    }
    out.push_back(std::move(limits));
    input.leave();
  }
  return !input.broken();
}

bool read_account_body(Input& input, ledger::CreateAccount& out) {
  static constexpr std::array<Names, 6> names = {"id",       "path",   "type",
                                                 "currency", "limits", "metadata"};
  std::uint32_t seen = 0;
  return input.object(names, seen, [&](std::size_t i) {
    switch (i) {
      case 0: return input.text(out.id);
      case 1: return input.text(out.path);
      case 2: return read_enum(input, ledger::account_type_names, out.type);
      case 3: return input.text(out.currency);
      case 4: return read_limits(input, out.limits, nullptr);
      default: return input.metadata(out.metadata, false);
    }
  }) && input.required(names, seen, {2});
}

// ---- conditions ----

constexpr std::array<Names, 10> condition_names = {
    "account", "currency", "balance", "at", "expect_version", "gte", "gt", "lte", "lt", "eq"};
constexpr std::size_t first_compare = 5;
constexpr std::array<Names, 8> when_names = {"balance", "at", "expect_version", "gte", "gt", "lte",
                                             "lt",      "eq"};

/// `i`: the place in condition_names, from `balance` on.
bool read_condition_member(Input& input, std::size_t i, ledger::Condition& out) {
  static constexpr std::array<Names, 2> at_names = {"before", "after"};
  switch (i) {
    case 2: return read_enum(input, ledger::reading_names, out.reading);
    case 3: return read_enum(input, at_names, out.at);
    case 4: return input.number(out.expect_version.emplace(), UINT64_MAX);
    default:
      out.compare = enum_at<ledger::Compare>(i - first_compare);
      return input.signed_amount(out.value);
  }
}

/// Bits of `seen` from expect_version on: exactly one.
bool check_condition(Input& input, std::uint32_t comparisons) {
  return std::popcount(comparisons) == 1 ||
         input.refuse("must have exactly one of gte, gt, lte, lt, eq and expect_version");
}

bool read_conditions(Input& input, std::vector<ledger::Condition>& out) {
  return input.array([&](std::uint32_t /*index*/) {
    ledger::Condition& one = out.emplace_back();
    std::uint32_t seen = 0;
    return input.object(condition_names, seen,
                        [&](std::size_t i) {
                          switch (i) {
                            case 0: return input.text(one.account);
                            case 1: return input.text(one.currency);
                            default: return read_condition_member(input, i, one);
                          }
                        }) &&
           input.required(condition_names, seen, {0, 1}) &&
           check_condition(input, seen >> (first_compare - 1));
  });
}

/// One, or an array of them.
bool read_when(Input& input, std::vector<ledger::Condition>& out) {
  const auto read_one = [&] {
    ledger::Condition& one = out.emplace_back();
    std::uint32_t seen = 0;
    return input.object(when_names, seen, [&](std::size_t i) {
      return read_condition_member(input, i + 2, one);
    }) && check_condition(input, seen >> (first_compare - 3));
  };
  if (input.json().kind() == Input::Kind::array) {
    return input.array([&](std::uint32_t /*index*/) { return read_one(); });
  }
  return read_one();
}

// ---- transactions ----

/// "12.5": digits with at most one point.
bool read_percent(Input& input, ledger::SplitPart& out) {
  constexpr std::size_t digits_max = 18;
  const std::string_view text =
      input.json().kind() == Input::Kind::string ? input.json().string() : "";
  std::size_t digits = 0;
  std::optional<std::size_t> point;
  bool good = !text.empty() && is_digit(text.front()) && is_digit(text.back());
  for (std::size_t i = 0; good && i < text.size(); ++i) {
    if (text[i] == '.' && !point) {
      point = i;
    } else if (is_digit(text[i]) && digits < digits_max) {
      out.percent = out.percent * 10 + static_cast<std::uint64_t>(text[i] - '0');
      ++digits;
    } else {
      good = false;
    }
  }
  if (!good) {
    return input.refuse("must be a string with a decimal number, such as \"12.5\"");
  }
  out.percent_decimals = point ? static_cast<std::uint32_t>(text.size() - *point - 1) : 0;
  return true;
}

bool read_split(Input& input, std::vector<ledger::SplitPart>& out) {
  using How = ledger::SplitPart::How;
  static constexpr std::array<Names, 4> names = {"account", "ratio", "percent", "remainder"};
  return input.array([&](std::uint32_t /*index*/) {
    ledger::SplitPart& part = out.emplace_back();
    std::uint32_t seen = 0;
    const bool read = input.object(names, seen, [&](std::size_t i) {
      bool remainder = false;
      switch (i) {
        case 0: return input.text(part.account);
        case 1: part.how = How::ratio; return input.number(part.ratio, UINT32_MAX);
        case 2: part.how = How::percent; return read_percent(input, part);
        default:
          part.how = How::remainder;
          return input.boolean(remainder) && (remainder || input.refuse("must be true"));
      }
    });
    return read && input.required(names, seen, {0}) &&
           (std::popcount(seen >> 1U) == 1 ||
            input.refuse("must have exactly one of ratio, percent and remainder"));
  });
}

bool read_entry_amount(Input& input, ledger::EntryIn& out) {
  if (input.json().kind() == Input::Kind::string) {
    const auto before = input.json().mark();
    if (input.json().string() == "all") {
      out.given = ledger::EntryIn::Given::all;
      return true;
    }
    input.json().go_back(before);
  }
  out.given = ledger::EntryIn::Given::amount;
  return input.amount(out.amount);
}

bool read_entry(Input& input, ledger::EntryIn& out) {
  static constexpr std::array<Names, 7> names = {"account", "side",     "amount", "currency",
                                                 "split",   "metadata", "when"};
  out.given = ledger::EntryIn::Given::rest;
  std::shared_ptr<ledger::EntryIn::More> more;
  const auto with_more = [&more]() -> ledger::EntryIn::More& {
    if (!more) {
      more = std::make_shared<ledger::EntryIn::More>();
    }
    return *more;
  };
  std::uint32_t seen = 0;
  const bool read = input.object(names, seen, [&](std::size_t i) {
    switch (i) {
      case 0: return input.text(out.account);
      case 1: return read_enum(input, ledger::side_names, out.side);
      case 2: return read_entry_amount(input, out);
      case 3: return input.text(out.currency);
      case 4: return read_split(input, with_more().split);
      case 5: return input.metadata(with_more().metadata, false);
      default: return read_when(input, with_more().when);
    }
  });
  if (!read || !input.required(names, seen, {1, 3})) {
    return false;
  }
  const bool is_split = (seen >> 4U & 1U) != 0;
  if (!is_split && !input.required(names, seen, {0})) {
    return false;
  }
  if (is_split && (seen & 1U) != 0) {
    return input.refuse("must have account or split, not both");
  }
  if (is_split && more->split.empty()) {
    return input.refuse("split must have at least one part");
  }
  out.more = std::move(more);
  return true;
}

/// Seconds as a number, or a text such as "90s" or "7d".
bool read_timeout(Input& input, std::uint64_t& out) {
  constexpr std::uint64_t seconds_max = duration_max.count() / 1000;
  if (input.json().kind() != Input::Kind::string) {
    return input.number(out, seconds_max);
  }
  const auto length = parse_duration(input.json().string(), BareNumber::seconds);
  if (!length || length->count() % 1000 != 0) {
    return input.refuse("must be a whole number of seconds, or a text such as \"90s\" or \"7d\"");
  }
  out = static_cast<std::uint64_t>(length->count() / 1000);
  return true;
}

bool read_transaction_body(Input& input, ledger::CreateTransaction& out) {
  static constexpr std::array<Names, 13> names = {
      "id",      "idempotency_key", "kind",         "effective_at", "expires_at",
      "timeout", "description",     "reference",    "parent",       "metadata",
      "entries", "conditions",      "check_history"};
  static constexpr std::array<Names, 2> kinds = {"posted", "pending"};
  std::uint32_t seen = 0;
  const bool read = input.object(names, seen, [&](std::size_t i) {
    switch (i) {
      case 0: return input.text(out.id);
      case 1: return input.text(out.idempotency_key);
      case 2: return read_enum(input, kinds, out.kind.emplace());
      case 3: return input.time(out.effective_at, Code::effective_at_invalid);
      case 4: return input.time(out.expires_at);
      case 5: return read_timeout(input, out.timeout_s.emplace());
      case 6: return input.text(out.description);
      case 7: return input.text(out.reference);
      case 8: return input.text(out.parent);
      case 9: return input.metadata(out.metadata, false);
      case 10:
        out.entries.reserve(2);
        return input.array(
            [&](std::uint32_t /*index*/) { return read_entry(input, out.entries.emplace_back()); });
      case 11: return read_conditions(input, out.conditions);
      default: return input.boolean(out.check_history);
    }
  });
  return read && input.required(names, seen, {10});
}

// ---- what follows a transaction ----

/// Members of all three, then of post and reverse, then of one of them.
constexpr std::array<Names, 4> void_names = {"id", "idempotency_key", "description", "metadata"};
constexpr std::array<Names, 7> post_names = {
    "id", "idempotency_key", "description", "metadata", "amounts", "effective_at", "final"};
constexpr std::array<Names, 7> reverse_names = {
    "id", "idempotency_key", "description", "metadata", "amounts", "effective_at", "force"};
/// Of an item: op, group, book and `of` stand before them.
template <std::size_t n>
consteval std::array<Names, n + 4> with_item_names(const std::array<Names, n>& names) {
  std::array<Names, n + 4> all = {"op", "group", "book", "of"};
  std::copy(names.begin(), names.end(), all.begin() + 4);
  return all;
}

bool read_following(Input& input, std::size_t i, ledger::Following& out) {
  switch (i) {
    case 0: return input.text(out.id);
    case 1: return input.text(out.idempotency_key);
    case 2: return input.text(out.description);
    default: return input.metadata(out.metadata, false);
  }
}

bool read_follow_member(Input& input, std::size_t i, ledger::VoidHold& out) {
  return read_following(input, i, out);
}
bool read_follow_member(Input& input, std::size_t i, ledger::PostHold& out) {
  switch (i) {
    case 4: return input.amounts(out.amounts);
    case 5: return input.time(out.effective_at, Code::effective_at_invalid);
    case 6: return input.boolean(out.final);
    default: return read_following(input, i, out);
  }
}
bool read_follow_member(Input& input, std::size_t i, ledger::ReverseTransaction& out) {
  switch (i) {
    case 4: return input.amounts(out.amounts);
    case 5: {
      const auto before = input.json().mark();
      if (input.json().kind() == Input::Kind::string && input.json().string() == "original") {
        out.effective_original = true;
        return true;
      }
      input.json().go_back(before);
      return input.time(out.effective_at, Code::effective_at_invalid);
    }
    case 6: return input.boolean(out.force);
    default: return read_following(input, i, out);
  }
}

template <class Follow, std::size_t n>
Parsed<Follow> read_follow(std::string_view body, std::string of,
                           const std::array<Names, n>& names) {
  Follow follow;
  follow.of = std::move(of);
  return whole(or_empty_object(body), std::move(follow), [&](Input& input, Follow& out) {
    std::uint32_t seen = 0;
    return input.object(names, seen,
                        [&](std::size_t i) { return read_follow_member(input, i, out); });
  });
}

// ---- items ----

/// What every item has; `i` is below 3.
bool read_item_name(Input& input, std::size_t i, const ItemForm& form, ItemIn& out) {
  std::string op;
  switch (i) {
    case 0: return input.text(op);  // known already
    case 1:
      return form.has_group ? input.text(out.group) : input.refuse("is for batches of mode groups");
    default:
      return form.has_book ? input.text(out.book)
                           : input.refuse("is named by the path of the request");
  }
}

/// The member at `body` is read by `read`.
template <std::size_t n, class Read>
bool read_item_object(Input& input, const std::array<Names, n>& names, const ItemForm& form,
                      ItemIn& out, std::initializer_list<std::size_t> required, Read read) {
  std::uint32_t seen = 0;
  return input.object(names, seen, [&](std::size_t i) {
    return i < 3 ? read_item_name(input, i, form, out) : read(i);
  }) && input.required(names, seen, required);
}

template <class Follow, std::size_t n>
bool read_follow_item(Input& input, const std::array<Names, n>& names, const ItemForm& form,
                      ItemIn& out) {
  Follow& follow = out.operation.emplace<Follow>();
  return read_item_object(input, names, form, out, {3}, [&](std::size_t i) {
    return i == 3 ? input.text(follow.of) : read_follow_member(input, i - 4, follow);
  });
}

bool read_limits_item(Input& input, const ItemForm& form, ItemIn& out) {
  static constexpr std::array<Names, 5> names = {"op", "group", "book", "of", "limits"};
  auto& change = out.operation.emplace<ledger::ChangeAccount>();
  return read_item_object(input, names, form, out, {3, 4}, [&](std::size_t i) {
    return i == 3 ? input.text(change.account)
                  : read_limits(input, change.limits, &change.limits_removed);
  });
}

bool read_metadata_item(Input& input, const ItemForm& form, ItemIn& out) {
  static constexpr std::array<Names, 5> names = {"op", "group", "book", "of", "metadata"};
  auto& set = out.operation.emplace<ledger::SetTransactionMetadata>();
  set.or_account = true;
  return read_item_object(input, names, form, out, {3, 4}, [&](std::size_t i) {
    return i == 3 ? input.text(set.transaction) : input.metadata(set.metadata, true);
  });
}

/// The op stands anywhere in its item; mostly first.
bool find_op(Input& input, std::string& op) {
  if (input.json().kind() != Input::Kind::object) {
    return input.refuse("must be an object");
  }
  const Input::Place begin = input.place();
  input.json().begin_object();
  std::string_view name;
  while (input.json().next_member(name)) {
    if (name != "op") {
      input.json().skip();
      continue;
    }
    input.enter("op");
    if (!input.text(op)) {
      return false;
    }
    input.go_back(begin);
    return true;
  }
  input.enter("op");
  return input.refuse("must be given");
}

bool read_item_value(Input& input, const ItemForm& form, ItemIn& out) {
  static constexpr std::array<Names, 8> ops = {"transaction", "account", "post",     "void",
                                               "reverse",     "limits",  "metadata", "assert"};
  static constexpr std::array<Names, 4> transaction_names = {"op", "group", "book", "transaction"};
  static constexpr std::array<Names, 4> account_names = {"op", "group", "book", "account"};
  static constexpr std::array<Names, 4> assert_names = {"op", "group", "book", "conditions"};
  static constexpr auto post_item_names = with_item_names(post_names);
  static constexpr auto void_item_names = with_item_names(void_names);
  static constexpr auto reverse_item_names = with_item_names(reverse_names);

  std::string given;
  if (!find_op(input, given)) {
    return false;
  }
  std::string_view op = given;
  const bool prefixed = op.starts_with(form.op_prefix);
  op.remove_prefix(prefixed ? form.op_prefix.size() : 0);
  const auto found = std::ranges::find(ops, op);
  if (!prefixed || found == ops.end()) {
    std::string known;
    for (const std::string_view one : ops) {
      known += (known.empty() ? "" : ", ") + std::string(form.op_prefix) + std::string(one);
    }
    input.enter("op");
    return input.refuse("must be one of " + known);
  }
  switch (found - ops.begin()) {
    case 0: {
      auto& create = out.operation.emplace<ledger::CreateTransaction>();
      return read_item_object(input, transaction_names, form, out, {3}, [&](std::size_t /*i*/) {
        return read_transaction_body(input, create);
      });
    }
    case 1: {
      auto& create = out.operation.emplace<ledger::CreateAccount>();
      return read_item_object(input, account_names, form, out, {3},
                              [&](std::size_t /*i*/) { return read_account_body(input, create); });
    }
    case 2: return read_follow_item<ledger::PostHold>(input, post_item_names, form, out);
    case 3: return read_follow_item<ledger::VoidHold>(input, void_item_names, form, out);
    case 4:
      return read_follow_item<ledger::ReverseTransaction>(input, reverse_item_names, form, out);
    case 5: return read_limits_item(input, form, out);
    case 6: return read_metadata_item(input, form, out);
    default: {
      auto& check = out.operation.emplace<ledger::AssertConditions>();
      return read_item_object(input, assert_names, form, out, {3}, [&](std::size_t /*i*/) {
        return read_conditions(input, check.conditions);
      });
    }
  }
}

/// An item that is wrong is passed over. False: nothing behind it can be read.
bool read_batch_item(Input& input, bool has_group, ledger::Item& out) {
  const Input::Place begin = input.place();
  ItemIn item;
  if (read_item_value(input, {.has_group = has_group}, item)) {
    out.operation = std::move(item.operation);
    out.group = std::move(item.group);
    return true;
  }
  if (input.broken()) {
    return false;
  }
  auto refusal = std::make_shared<ledger::Refusal>(input.refusal());
  input.go_back(begin);
  // Its group must be known all the same: it fails with it.
  std::string_view name;
  if (input.json().kind() == Input::Kind::object) {
    input.json().begin_object();
    while (input.json().next_member(name)) {
      if (name == "group" && input.json().kind() == Input::Kind::string) {
        out.group = input.json().string();
      } else {
        input.json().skip();
      }
    }
  } else {
    input.json().skip();
  }
  out.operation = ledger::Unreadable{std::move(refusal)};
  return !input.broken();
}

bool read_items(Input& input, BatchIn& out) {
  if (input.json().kind() != Input::Kind::array) {
    return input.refuse("must be an array");
  }
  input.json().begin_array();
  input.name_from_here();
  while (input.json().next_item()) {
    if (out.items.size() == ledger::batch_items_max) {
      out.too_large = true;
      return false;
    }
    // `group` is refused where it means nothing, once the mode is known: it may stand behind.
    if (!read_batch_item(input, true, out.items.emplace_back())) {
      return false;
    }
  }
  input.name_from_start();
  return !input.broken();
}

/// A group is for mode groups alone, and there every item has one.
void check_groups(BatchIn& batch) {
  const bool wanted = batch.mode == ledger::Apply::Mode::groups;
  for (ledger::Item& item : batch.items) {
    if (item.group.empty() == wanted &&
        !std::holds_alternative<ledger::Unreadable>(item.operation)) {
      item.operation = ledger::Unreadable{std::make_shared<ledger::Refusal>(
          invalid("group",
                  wanted ? "must be given: the mode is groups" : "is for batches of mode groups"))};
    }
  }
}

}  // namespace

Parsed<NewBook> read_new_book(std::string_view body) {
  static constexpr std::array<Names, 4> names = {"id", "name", "metadata", "indexed"};
  return whole(body, NewBook{}, [](Input& input, NewBook& out) {
    std::uint32_t seen = 0;
    return input.object(names, seen, [&](std::size_t i) {
      switch (i) {
        case 0: return input.text(out.id);
        case 1: return input.text(out.book.name);
        case 2: return input.metadata(out.book.metadata, false);
        default: return input.texts(out.book.indexed);
      }
    }) && input.required(names, seen, {0});
  });
}

Parsed<ledger::ChangeBook> read_book_change(std::string_view body) {
  static constexpr std::array<Names, 3> names = {"name", "metadata", "indexed"};
  return whole(body, ledger::ChangeBook{}, [](Input& input, ledger::ChangeBook& out) {
    std::uint32_t seen = 0;
    return input.object(names, seen, [&](std::size_t i) {
      switch (i) {
        case 0: return input.text(out.name);
        case 1: return input.metadata(out.metadata, true);
        default: return input.texts(out.indexed.emplace());
      }
    });
  });
}

Parsed<ledger::AddCurrency> read_currency(std::string_view body) {
  static constexpr std::array<Names, 2> names = {"code", "exponent"};
  return whole(body, ledger::AddCurrency{}, [](Input& input, ledger::AddCurrency& out) {
    constexpr std::uint64_t exponent_max = 38;
    std::uint32_t seen = 0;
    std::uint64_t exponent = 0;
    const bool read = input.object(names, seen, [&](std::size_t i) {
      return i == 0 ? input.text(out.code) : input.number(exponent, exponent_max);
    }) && input.required(names, seen, {0, 1});
    out.exponent = static_cast<std::uint32_t>(exponent);
    return read;
  });
}

Parsed<ledger::CloseBook> read_close(std::string_view body) {
  static constexpr std::array<Names, 2> names = {"through", "reason"};
  return whole(body, ledger::CloseBook{}, [](Input& input, ledger::CloseBook& out) {
    std::uint32_t seen = 0;
    return input.object(
               names, seen,
               [&](std::size_t i) {
                 const bool none = input.json().kind() == Input::Kind::null;
                 if (none) {
                   input.json().null();
                   return true;
                 }
                 return i == 0 ? input.time(out.through) : input.text(out.reason);
               },
               Input::Nulls::given) &&
           input.required(names, seen, {0});
  });
}

Parsed<ledger::CreateAccount> read_account(std::string_view body) {
  return whole(body, ledger::CreateAccount{}, read_account_body);
}

Parsed<ledger::ChangeAccount> read_account_change(std::string_view body, std::string account) {
  static constexpr std::array<Names, 3> names = {"limits", "state", "metadata"};
  return whole(body, ledger::ChangeAccount{.account = std::move(account)},
               [](Input& input, ledger::ChangeAccount& out) {
                 std::uint32_t seen = 0;
                 return input.object(names, seen, [&](std::size_t i) {
                   switch (i) {
                     case 0: return read_limits(input, out.limits, &out.limits_removed);
                     case 1:
                       return read_enum(input, ledger::account_state_names, out.state.emplace());
                     default: return input.metadata(out.metadata, true);
                   }
                 });
               });
}

Parsed<ledger::CreateTransaction> read_transaction(std::string_view body) {
  return whole(body, ledger::CreateTransaction{}, read_transaction_body);
}

Parsed<ledger::PostHold> read_post(std::string_view body, std::string of) {
  return read_follow<ledger::PostHold>(body, std::move(of), post_names);
}
Parsed<ledger::VoidHold> read_void(std::string_view body, std::string of) {
  return read_follow<ledger::VoidHold>(body, std::move(of), void_names);
}
Parsed<ledger::ReverseTransaction> read_reverse(std::string_view body, std::string of) {
  return read_follow<ledger::ReverseTransaction>(body, std::move(of), reverse_names);
}

Parsed<ledger::SetTransactionMetadata> read_transaction_metadata(std::string_view body,
                                                                 std::string transaction) {
  static constexpr std::array<Names, 1> names = {"metadata"};
  return whole(body, ledger::SetTransactionMetadata{.transaction = std::move(transaction)},
               [](Input& input, ledger::SetTransactionMetadata& out) {
                 std::uint32_t seen = 0;
                 return input.object(names, seen, [&](std::size_t /*i*/) {
                   return input.metadata(out.metadata, true);
                 }) && input.required(names, seen, {0});
               });
}

std::optional<ledger::Instant> parse_date(std::string_view text) {
  constexpr std::size_t date_characters = 10;
  return text.size() == date_characters ? parse_rfc3339(std::string(text) + "T00:00:00Z")
                                        : std::nullopt;
}

Parsed<ledger::SetReconSource> read_recon_source(std::string_view body, std::string source) {
  static constexpr std::array<Names, 4> names = {"account", "currency", "window_days", "auto"};
  return whole(body, ledger::SetReconSource{.id = std::move(source)},
               [](Input& input, ledger::SetReconSource& out) {
                 std::uint32_t seen = 0;
                 return input.object(names, seen, [&](std::size_t i) {
                   std::uint64_t days = 0;
                   switch (i) {
                     case 0: return input.text(out.account);
                     case 1: return input.text(out.currency);
                     case 2:
                       if (!input.number(days, UINT32_MAX)) {
                         return false;
                       }
                       out.window_days = static_cast<std::uint32_t>(days);
                       return true;
                     default: return input.boolean(out.automatic);
                   }
                 }) && input.required(names, seen, {0, 1});
               });
}

namespace {

bool read_recon_line(Input& input, ledger::ReconLineIn& line) {
  static constexpr std::array<Names, 6> names = {"external_id", "date",      "amount",
                                                 "currency",    "reference", "text"};
  std::uint32_t seen = 0;
  return input.object(names, seen, [&](std::size_t i) {
    std::string date;
    switch (i) {
      case 0: return input.text(line.external_id);
      case 1: {
        if (!input.text(date)) {
          return false;
        }
        const auto day = parse_date(date);
        if (!day) {
          return input.refuse("must be a day, such as \"2026-05-31\"");
        }
        line.date = *day;
        return true;
      }
      case 2: return input.signed_amount(line.amount);
      case 3: return input.text(line.currency);
      case 4: return input.text(line.reference);
      default: return input.text(line.text);
    }
  }) && input.required(names, seen, {0, 1, 2, 3});
}

bool read_entry_name(Input& input, ledger::EntryName& out) {
  static constexpr std::array<Names, 2> names = {"transaction", "index"};
  std::uint32_t seen = 0;
  return input.object(names, seen, [&](std::size_t i) {
    if (i == 0) {
      return input.text(out.transaction);
    }
    std::uint64_t index = 0;
    const bool read = input.number(index, UINT32_MAX);
    out.index = static_cast<std::uint32_t>(index);
    return read;
  }) && input.required(names, seen, {0, 1});
}

}  // namespace

Parsed<ledger::ImportReconLines> read_recon_lines(std::string_view body, std::string source) {
  static constexpr std::array<Names, 1> names = {"lines"};
  return whole(body, ledger::ImportReconLines{.source = std::move(source)},
               [](Input& input, ledger::ImportReconLines& out) {
                 std::uint32_t seen = 0;
                 return input.object(names, seen, [&](std::size_t /*i*/) {
                   return input.array([&](std::uint32_t /*index*/) {
                     // One more than are taken: the core says how many that are.
                     return out.lines.size() > ledger::recon_lines_max
                                ? input.refuse("is one line too many for one request")
                                : read_recon_line(input, out.lines.emplace_back());
                   });
                 }) && input.required(names, seen, {0});
               });
}

Parsed<ledger::DecideRecon> read_recon_decision(std::string_view body) {
  static constexpr std::array<Names, 4> names = {"source", "external_id", "action", "entries"};
  return whole(body, ledger::DecideRecon{}, [](Input& input, ledger::DecideRecon& out) {
    std::uint32_t seen = 0;
    return input.object(names, seen, [&](std::size_t i) {
      std::size_t action = 0;
      switch (i) {
        case 0: return input.text(out.source);
        case 1: return input.text(out.external_id);
        case 2:
          if (!input.one_of(ledger::recon_action_names, action)) {
            return false;
          }
          out.action = static_cast<ledger::ReconDecision::Action>(action + 1);
          return true;
        default: {
          auto& entries = out.entries.emplace();
          return input.array([&](std::uint32_t /*index*/) {
            constexpr std::size_t entries_max = 1000;
            return entries.size() == entries_max ? input.refuse("is one entry too many")
                                                 : read_entry_name(input, entries.emplace_back());
          });
        }
      }
    }) && input.required(names, seen, {0, 2});
  });
}

Parsed<ledger::SetRollup> read_rollup(std::string_view body, std::string prefix) {
  static constexpr std::array<Names, 1> names = {"rollup"};
  return whole(body, ledger::SetRollup{.prefix = std::move(prefix)},
               [](Input& input, ledger::SetRollup& out) {
                 std::uint32_t seen = 0;
                 return input.object(names, seen, [&](std::size_t /*i*/) {
                   return input.boolean(out.keep);
                 }) && input.required(names, seen, {0});
               });
}

Parsed<ledger::EraseMetadata> read_erasure(std::string_view body) {
  static constexpr std::array<Names, 3> names = {"account", "transaction", "keys"};
  return whole(
      or_empty_object(body), ledger::EraseMetadata{}, [](Input& input, ledger::EraseMetadata& out) {
        std::uint32_t seen = 0;
        return input.object(names, seen, [&](std::size_t i) {
          switch (i) {
            case 0: return input.text(out.account);
            case 1: return input.text(out.transaction);
            default: return input.texts(out.keys);
          }
        }) && ((seen & 3U) != 3 || input.refuse("must have account or transaction, not both"));
      });
}

Parsed<ledger::AddSubscription> read_subscription(std::string_view body) {
  static constexpr std::array<Names, 3> names = {"destination", "queue", "types"};
  return whole(body, ledger::AddSubscription{}, [](Input& input, ledger::AddSubscription& out) {
    std::uint32_t seen = 0;
    return input.object(names, seen,
                        [&](std::size_t i) {
                          switch (i) {
                            case 0: return input.text(out.url);
                            case 1: return input.text(out.queue);
                            default: return input.texts(out.types);
                          }
                        }) &&
           (std::popcount(seen & 3U) == 1 ||
            input.refuse("must have destination or queue, and not both"));
  });
}

Parsed<ledger::AddMonitor> read_monitor(std::string_view body) {
  static constexpr std::array<Names, 9> names = {"account", "prefix", "currency", "balance", "gte",
                                                 "gt",      "lte",    "lt",       "eq"};
  return whole(body, ledger::AddMonitor{}, [](Input& input, ledger::AddMonitor& out) {
    std::uint32_t seen = 0;
    const bool read = input.object(names, seen, [&](std::size_t i) {
      switch (i) {
        case 0: return input.text(out.account);
        case 1: return input.text(out.prefix);
        case 2: return input.text(out.currency);
        case 3: return read_enum(input, ledger::reading_names, out.reading);
        default:
          out.compare = enum_at<ledger::Compare>(i - 4);
          return input.signed_amount(out.value);
      }
    });
    return read && input.required(names, seen, {2}) &&
           (std::popcount(seen & 3U) == 1 ||
            input.refuse("must have account or prefix, and not both")) &&
           (std::popcount(seen >> 4U) == 1 ||
            input.refuse("must have exactly one of gte, gt, lte, lt and eq"));
  });
}

Parsed<ItemIn> read_item(std::string_view json, const ItemForm& form) {
  return whole(json, ItemIn{.book = form.has_book ? "main" : ""},
               [&form](Input& input, ItemIn& out) { return read_item_value(input, form, out); });
}

Parsed<AccountIsIn> read_account_is(std::string_view json) {
  static constexpr std::array<Names, 5> names = {"book", "account", "currency", "available_gte",
                                                 "version"};
  return whole(json, AccountIsIn{.book = "main"}, [](Input& input, AccountIsIn& out) {
    std::uint32_t seen = 0;
    const bool read = input.object(names, seen, [&](std::size_t i) {
      switch (i) {
        case 0: return input.text(out.book);
        case 1: return input.text(out.condition.account);
        case 2: return input.text(out.condition.currency);
        case 3: return input.signed_amount(out.condition.value);
        default: return input.number(out.condition.expect_version.emplace(), UINT64_MAX);
      }
    });
    return read && input.required(names, seen, {1, 2}) &&
           (std::popcount(seen >> 3U) == 1 ||
            input.refuse("must have exactly one of available_gte and version"));
  });
}

Parsed<BatchIn> read_batch(std::string_view body) {
  static constexpr std::array<Names, 3> names = {"mode", "limits", "items"};
  static constexpr std::array<Names, 3> modes = {"independent", "atomic", "groups"};
  static constexpr std::array<Names, 2> limits = {"each", "end"};
  Input input(body);
  BatchIn batch;
  std::uint32_t seen = 0;
  const bool read = input.object(names, seen, [&](std::size_t i) {
    std::size_t place = 0;
    switch (i) {
      case 0:
        if (!input.one_of(modes, place)) {
          return false;
        }
        batch.mode = static_cast<ledger::Apply::Mode>(place);
        return true;
      case 1:
        if (!input.one_of(limits, place)) {
          return false;
        }
        batch.limits_at_end = place == 1;
        return true;
      default: return read_items(input, batch);
    }
  });
  if (batch.too_large) {
    return batch;
  }
  if (!read || !input.required(names, seen, {2})) {
    return std::unexpected(input.refusal());
  }
  input.json().end();
  if (input.broken()) {
    return std::unexpected(input.refusal());
  }
  if (batch.items.empty()) {
    return std::unexpected(invalid("items", "must have at least one item"));
  }
  check_groups(batch);
  return batch;
}

}  // namespace hk::api::ledger
