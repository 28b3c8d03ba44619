// Metadata: the chain has salted hashes, the values stand beside it and can be erased.
#include <algorithm>
#include <set>

#include "base/bytes.h"
#include "base/json_string.h"
#include "base/sometimes.h"
#include "core/ledger/inside.h"
#include "core/ledger/ledger.h"
#include "core/ledger/recording.h"
#include "security/digest.h"

HK_SOMETIMES_DECLARE(ledger_metadata_set)
HK_SOMETIMES_DECLARE(ledger_metadata_erased)
HK_SOMETIMES_DECLARE(ledger_metadata_removed)

namespace hk::core::ledger {

namespace {

constexpr std::size_t metadata_keys_max = 50;
constexpr std::size_t metadata_key_max = 40;
constexpr std::size_t metadata_value_max = 500;

/// Characters, not bytes.
std::size_t length_of(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U; }));
}

std::string salt_from(Rng& rng) {
  std::string salt;
  append_be(salt, rng.next());
  append_be(salt, rng.next());
  return salt;
}

}  // namespace

Ledger::Or<void> Ledger::check_metadata_of_new(const std::vector<MetadataIn>& metadata) {
  std::set<std::string_view> keys;
  for (const MetadataIn& one : metadata) {
    if (one.key.empty() || length_of(one.key) > metadata_key_max || !valid_utf8(one.key) ||
        one.key.find('\0') != std::string::npos) {
      return refuse_member("metadata", "a key of metadata has 1 to 40 characters");
    }
    if (one.value && (length_of(*one.value) > metadata_value_max || !valid_utf8(*one.value) ||
                      one.value->find('\0') != std::string::npos)) {
      return refuse_member("metadata", "a value of metadata has at most 500 characters");
    }
    if (!keys.insert(one.key).second) {
      return refuse_member("metadata", "metadata has the key " + one.key + " twice");
    }
  }
  if (keys.size() > metadata_keys_max) {
    return refuse_member("metadata", "metadata has at most 50 keys");
  }
  return {};
}

Ledger::Or<void> Ledger::check_metadata(HotBook& book, Metadata::Of of, std::uint64_t number,
                                        const std::vector<MetadataIn>& metadata) {
  if (metadata.empty()) {
    return {};
  }
  if (auto fine = check_metadata_of_new(metadata); !fine) {
    return fine;
  }
  std::set<std::string> keys;
  for (const MetadataValue& value : metadata_now(book, of, number)) {
    if (value.entry == 0) {
      keys.insert(value.key);
    }
  }
  for (const MetadataIn& one : metadata) {
    if (one.value) {
      keys.insert(one.key);
    } else {
      keys.erase(one.key);
    }
  }
  if (keys.size() > metadata_keys_max) {
    return refuse_member("metadata", "metadata has at most 50 keys");
  }
  return {};
}

std::vector<MetadataValue> Ledger::metadata_now(const HotBook& book, Metadata::Of of,
                                                std::uint64_t number) {
  return folded(metadata_.scan(Range<Metadata>::of(book.row.tenant, book.row.number,
                                                   static_cast<std::uint32_t>(of), number)),
                std::nullopt);
}

void Ledger::index(HotBook& book, Metadata::Of of, std::uint64_t number, const std::string& key,
                   const std::string* before, const std::string* after) {
  if (of == Metadata::Of::book ||
      std::ranges::find(book.row.indexed, key) == book.row.indexed.end()) {
    return;
  }
  const auto kind = of == Metadata::Of::account ? IndexEntry::Kind::account_metadata
                                                : IndexEntry::Kind::transaction_metadata;
  const auto entry = [&](const std::string& value) {
    IndexEntry one{.tenant = book.row.tenant,
                   .book = book.row.number,
                   .kind = kind,
                   .name = index_name(kind, key, value)};
    append_be(one.name, number);
    return one;
  };
  if (before != nullptr) {
    index_.erase(own_key(entry(*before)));
  }
  if (after != nullptr) {
    index_.put(entry(*after));
  }
}

std::vector<MetadataHash> Ledger::set_metadata(HotBook& book, Metadata::Of of, std::uint64_t number,
                                               std::uint64_t seq,
                                               const std::vector<MetadataIn>& metadata,
                                               const std::vector<EntryIn>* entries) {
  std::vector<MetadataHash> hashes;
  Metadata row{
      .tenant = book.row.tenant, .book = book.row.number, .of = of, .number = number, .seq = seq};
  // What a new object has set is the first of it.
  const bool is_new = of == Metadata::Of::book          ? seq == 1
                      : of == Metadata::Of::transaction ? seq == number
                                                        : false;
  const std::vector<MetadataValue> before =
      is_new || metadata.empty() ? std::vector<MetadataValue>{} : metadata_now(book, of, number);
  const auto set = [&](std::uint32_t entry, const MetadataIn& one) {
    MetadataValue value{.entry = entry, .key = one.key, .removed = !one.value};
    MetadataHash hash{.entry = entry, .key = one.key};
    if (one.value) {
      HK_SOMETIMES(ledger_metadata_set);
      value.value = *one.value;
      value.salt = salt_from(context_.rng);
      hash.hash = security::sha256(value.salt + value.value);
    } else {
      HK_SOMETIMES(ledger_metadata_removed);
    }
    if (entry == 0) {
      const auto known = std::ranges::find_if(
          before, [&](const MetadataValue& old) { return old.entry == 0 && old.key == one.key; });
      index(book, of, number, one.key, known == before.end() ? nullptr : &known->value,
            one.value ? &*one.value : nullptr);
    }
    row.values.push_back(std::move(value));
    hashes.push_back(std::move(hash));
  };
  for (const MetadataIn& one : metadata) {
    set(0, one);
  }
  if (entries != nullptr) {
    std::uint32_t number_of_entry = 0;
    for (const EntryIn& entry : *entries) {
      ++number_of_entry;
      if (entry.more) {
        for (const MetadataIn& one : entry.more->metadata) {
          set(number_of_entry, one);
        }
      }
    }
  }
  if (!row.values.empty()) {
    metadata_.put(std::move(row));
  }
  return hashes;
}

bool Ledger::same_metadata(HotBook& book, Metadata::Of of, std::uint64_t number, std::uint64_t seq,
                           std::uint32_t entry, const std::vector<MetadataIn>& metadata) {
  const auto row = metadata_.get(
      {book.row.tenant, book.row.number, static_cast<std::uint32_t>(of), number, seq});
  std::size_t known = 0;
  if (row) {
    for (const MetadataValue& value : row->values) {
      if (value.entry != entry) {
        continue;
      }
      ++known;
      const auto given = std::ranges::find(metadata, value.key, &MetadataIn::key);
      // Of one that was erased nobody knows any more whether it was another.
      if (given == metadata.end() || given->value.has_value() == value.removed ||
          (given->value && !value.erased && *given->value != value.value)) {
        return false;
      }
    }
  }
  return known == metadata.size();
}

ItemResult Ledger::decide(HotBook& book, const SetTransactionMetadata& command) {
  if (command.or_account && find_account(book, command.transaction)) {
    return decide(book,
                  ChangeAccount{.account = command.transaction, .metadata = command.metadata});
  }
  auto target = find_target(book, command.transaction);
  if (!target) {
    return std::unexpected(target.error());
  }
  const auto& [of, made] = *target;
  if (auto fine = check_metadata(book, Metadata::Of::transaction, of, command.metadata); !fine) {
    return std::unexpected(fine.error());
  }
  if (command.metadata.empty()) {
    return Applied{.id = made.id};
  }
  save(book);
  const Instant recorded_at = next_instant(book);
  const std::uint64_t seq =
      record(book, MetadataSet{.recorded_at = recorded_at,
                               .transaction = made.id,
                               .metadata = set_metadata(book, Metadata::Of::transaction, of,
                                                        book.seq + 1, command.metadata)});
  tell_of_metadata(book, of, recorded_at, seq);
  return Applied{.id = made.id, .seq = seq};
}

ItemResult Ledger::decide(HotBook& book, const EraseMetadata& command) {
  Metadata::Of of = Metadata::Of::book;
  std::uint64_t number = 0;
  MetadataErased erased{.keys = command.keys};
  std::optional<AccountAt> account;
  std::optional<TransactionMade> transaction;
  if (!command.account.empty()) {
    account = find_account(book, command.account);
    if (!account) {
      return refuse({.code = Code::account_not_found,
                     .account = command.account,
                     .detail = "there is no account " + command.account});
    }
    of = Metadata::Of::account;
    number = (*account)->row.number;
    erased.account = (*account)->row.id;
  } else if (!command.transaction.empty()) {
    auto target = find_target(book, command.transaction);
    if (!target) {
      return std::unexpected(target.error());
    }
    of = Metadata::Of::transaction;
    number = target->first;
    transaction = std::move(target->second);
    erased.transaction = transaction->id;
  }
  Applied applied{.id = account ? (*account)->row.id : transaction ? transaction->id : book.row.id};
  if (!erase_values(book, of, number, command.keys)) {
    return applied;
  }
  HK_SOMETIMES(ledger_metadata_erased);
  erased.recorded_at = next_instant(book);
  applied.seq = record(book, erased);
  if (account) {
    tell_of_account(book, *account, "ledger.account.updated", applied.seq);
  } else if (transaction) {
    tell_of_metadata(book, number, erased.recorded_at, applied.seq);
  } else {
    tell_of_book(book, "ledger.book.updated", applied.seq);
  }
  return applied;
}

/// False: there was nothing to erase.
bool Ledger::erase_values(HotBook& book, Metadata::Of of, std::uint64_t number,
                          const std::vector<std::string>& keys) {
  const auto wanted = [&](const std::string& key) {
    return keys.empty() || std::ranges::find(keys, key) != keys.end();
  };
  const std::vector<MetadataValue> before = metadata_now(book, of, number);
  bool any = false;
  for (Metadata& row : metadata_.scan(Range<Metadata>::of(
           book.row.tenant, book.row.number, static_cast<std::uint32_t>(of), number))) {
    bool changed = false;
    for (MetadataValue& value : row.values) {
      if (wanted(value.key) && !value.removed && !value.erased) {
        value.erased = true;
        value.value.clear();
        value.salt.clear();
        changed = true;
      }
    }
    if (changed) {
      any = true;
      metadata_.put(std::move(row));
    }
  }
  for (const MetadataValue& value : before) {
    if (value.entry == 0 && wanted(value.key)) {
      index(book, of, number, value.key, &value.value, nullptr);
    }
  }
  return any;
}

}  // namespace hk::core::ledger
