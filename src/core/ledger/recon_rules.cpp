// The rules of reconciliation, in their order. Pure.
#include <algorithm>

#include "core/ledger/recon.h"
#include "security/digest.h"

namespace hk::core::ledger {

namespace {

constexpr std::size_t several_of_max = 32;  // entries that are combined
constexpr std::size_t several_max = 4;      // of which are taken
constexpr std::size_t sums_max = 50'000;

Instant::duration apart(Instant a, Instant b) { return a < b ? b - a : a - b; }

/// Within the days, the closest first; of those that are as close the one that was recorded first.
std::vector<const FreeEntry*> near_to(const ReconLine& line, const std::vector<FreeEntry>& entries,
                                      std::uint32_t window_days) {
  const std::chrono::days window{window_days};
  std::vector<const FreeEntry*> near;
  for (const FreeEntry& entry : entries) {
    if (apart(day_of(entry.effective_at), line.date) <= window) {
      near.push_back(&entry);
    }
  }
  std::ranges::sort(near, [&](const FreeEntry* a, const FreeEntry* b) {
    const auto far = [&](const FreeEntry* one) {
      return apart(day_of(one->effective_at), line.date);
    };
    return std::tuple(far(a), a->place) < std::tuple(far(b), b->place);
  });
  return near;
}

/// Entries from `from` on that come to what is left; taken ones are at the end of `taken`.
bool add_up(const std::vector<const FreeEntry*>& near, std::size_t from, const Signed& left,
            std::vector<EntryPlace>& taken, std::size_t& looked) {
  if (left.magnitude == 0 && taken.size() >= 2) {
    return true;
  }
  if (taken.size() == several_max) {
    return false;
  }
  for (std::size_t i = from; i < near.size(); ++i) {
    if (++looked > sums_max) {
      return false;
    }
    // Of the same direction, and not more than what is left: the sum only grows.
    const Signed& amount = near[i]->amount;
    if (amount.negative != left.negative || amount.magnitude > left.magnitude) {
      continue;
    }
    taken.push_back(near[i]->place);
    if (add_up(near, i + 1, {left.negative, left.magnitude - amount.magnitude}, taken, looked)) {
      return true;
    }
    taken.pop_back();
  }
  return false;
}

void add_recon_part(std::string& out, std::string_view part) {
  out += std::to_string(part.size());
  out += ':';
  out += part;
}

}  // namespace

Instant day_of(Instant moment) { return std::chrono::floor<std::chrono::days>(moment); }

Hash hash_of(const ReconLine& line) {
  std::string text;
  add_recon_part(text, line.external_id);
  add_recon_part(text, std::to_string(to_ns(line.date)));
  add_recon_part(text, to_text(line.amount));
  add_recon_part(text, line.reference);
  add_recon_part(text, line.text);
  return security::sha256(text);
}

std::optional<ReconFound> match_by_reference(const ReconLine& line,
                                             const std::vector<FreeEntry>& entries) {
  if (line.reference.empty() || entries.empty()) {
    return std::nullopt;
  }
  ReconFound found{.rule = ReconRule::reference};
  std::size_t equal = 0;
  Signed sum{};
  for (const FreeEntry& entry : entries) {
    sum = saturating_sum(sum, entry.amount);
    if (entry.amount == line.amount && ++equal == 1) {
      found.entries = {entry.place};
    }
  }
  if (equal == 0 && sum == line.amount) {
    for (const FreeEntry& entry : entries) {
      found.entries.push_back(entry.place);
    }
    equal = 1;
  }
  found.sure = equal == 1;
  return equal == 0 ? std::nullopt : std::optional(found);
}

std::optional<ReconFound> match_by_amount(const ReconLine& line,
                                          const std::vector<FreeEntry>& entries,
                                          std::uint32_t window_days, const Rivals& rivals) {
  auto near = near_to(line, entries, window_days);
  std::erase_if(near, [&](const FreeEntry* one) { return one->amount != line.amount; });
  if (near.empty()) {
    return std::nullopt;
  }
  const auto on_the_day = std::ranges::count_if(
      near, [&](const FreeEntry* one) { return day_of(one->effective_at) == line.date; });
  return ReconFound{.rule = ReconRule::amount_date,
                    .entries = {near.front()->place},
                    .sure = on_the_day == 0 ? near.size() == 1 && !rivals.near
                                            : on_the_day == 1 && !rivals.same_day};
}

std::optional<ReconFound> match_several(const ReconLine& line,
                                        const std::vector<FreeEntry>& entries,
                                        std::uint32_t window_days) {
  auto near = near_to(line, entries, window_days);
  std::erase_if(near, [&](const FreeEntry* one) {
    return one->amount.negative != line.amount.negative ||
           one->amount.magnitude > line.amount.magnitude;
  });
  near.resize(std::min(near.size(), several_of_max));
  ReconFound found{.rule = ReconRule::several};
  std::size_t looked = 0;
  return add_up(near, 0, line.amount, found.entries, looked) ? std::optional(found) : std::nullopt;
}

}  // namespace hk::core::ledger
