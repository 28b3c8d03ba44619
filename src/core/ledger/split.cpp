#include "core/ledger/split.h"

#include <algorithm>
#include <numeric>

namespace hk::core::ledger {

namespace {

constexpr std::size_t split_parts_max = 1000;
constexpr std::uint32_t percent_decimals_max = 9;
constexpr std::uint64_t ratio_max = 1'000'000'000'000;

/// What each part weighs; their sum is what the amount is divided by.
std::expected<std::vector<std::uint64_t>, std::string> weights(
    const std::vector<SplitPart>& parts) {
  using How = SplitPart::How;
  const auto is = [&](How how) {
    return std::ranges::any_of(parts, [how](const SplitPart& part) { return part.how == how; });
  };
  if (parts.empty() || parts.size() > split_parts_max) {
    return std::unexpected("a split has 1 to 1000 parts");
  }
  if (is(How::ratio) && (is(How::percent) || is(How::remainder))) {
    return std::unexpected("a split has ratios, or percents and at most one remainder");
  }
  std::vector<std::uint64_t> all;
  if (is(How::ratio)) {
    for (const SplitPart& part : parts) {
      if (part.ratio == 0 || part.ratio > ratio_max) {
        return std::unexpected("a ratio is a whole number from 1 to 10^12");
      }
      all.push_back(part.ratio);
    }
    return all;
  }
  std::uint64_t hundred = 100;
  for (std::uint32_t i = 0; i < percent_decimals_max; ++i) {
    hundred *= 10;
  }
  std::uint64_t left = hundred;
  std::size_t remainders = 0;
  for (const SplitPart& part : parts) {
    std::uint64_t weight = part.percent;
    if (part.how == How::remainder) {
      ++remainders;
      weight = 0;
    } else if (part.percent_decimals > percent_decimals_max || part.percent == 0 ||
               part.percent > hundred) {
      return std::unexpected("a percent is more than 0, at most 100, with at most 9 decimals");
    } else {
      for (std::uint32_t i = part.percent_decimals; i < percent_decimals_max && weight <= hundred;
           ++i) {
        weight *= 10;
      }
    }
    if (weight > left) {
      return std::unexpected("the percents of a split are more than 100");
    }
    left -= weight;
    all.push_back(weight);
  }
  if (remainders > 1 || (remainders == 0 && left != 0)) {
    return std::unexpected("the percents of a split are 100, or one part has the remainder");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].how == How::remainder) {
      all[i] = left;
    }
  }
  return all;
}

}  // namespace

std::expected<std::vector<Amount>, std::string> split_amount(Amount amount,
                                                             const std::vector<SplitPart>& parts) {
  const auto all = weights(parts);
  if (!all) {
    return std::unexpected(all.error());
  }
  const Amount sum = std::accumulate(all->begin(), all->end(), Amount{0});
  const Amount each = amount / sum;
  const Amount rest = amount % sum;  // less than 2^64: no product below is more than 128 bits
  std::vector<Amount> shares;
  std::vector<Amount> remainders;
  Amount left = amount;
  for (const std::uint64_t weight : *all) {
    shares.push_back(each * weight + rest * weight / sum);
    remainders.push_back(rest * weight % sum);
    left -= shares.back();
  }
  std::vector<std::size_t> order(parts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; left > 0; ++i, --left) {
    ++shares[order[i]];
  }
  return shares;
}

}  // namespace hk::core::ledger
