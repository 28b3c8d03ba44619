#include "api/limits/fair_bucket.h"

namespace hk::api::limits {

FairBucket::FairBucket(std::uint64_t rate, std::uint64_t burst) : rate_(rate) {
  whole_.set(rate, burst, Time{0});
  newcomers_ = newcomers_most_ = rate * one_token;
}

void FairBucket::advance(const Now& now) {
  now_ = {std::max(now_.flow, now.flow), std::max(now_.real, now.real)};
  whole_.refill(now_.flow);
  if (now_.real - looked_at_.real >= look_every) {
    look_at_all();
  }
}

void FairBucket::seen(Member& member, std::uint64_t weight, const Now& now) {
  advance(now);
  member.weight = weight;
  member.seen_at = now_.real;
  if (member.active) {
    fill(member);
  } else {
    join(member);
  }
}

/// It has its part of what was kept for the next one; the rest is kept for the one after it. Its
/// share flows from the next look on.
void FairBucket::join(Member& member) {
  joined_ += member.weight;
  const std::uint64_t weights = weights_ + joined_ + places_kept(1);
  const Nano most = rate_ * member.weight * one_token / weights;
  member = {.weight = member.weight,
            .active = true,
            .reserve = std::min(newcomers_, most),
            .most = most,
            .filled_at = now_.flow,
            .seen_at = now_.real};
  newcomers_most_ = places_kept(1) * (rate_ * one_token / weights);
  newcomers_ = std::min(newcomers_ - member.reserve, newcomers_most_);
  held_ += member.reserve;
  held_most_ += member.most;
  active_.push_back(&member);
}

/// For one who may come, when so many more are there.
std::uint64_t FairBucket::places_kept(std::size_t more) const {
  return known_ > active_.size() + more ? 1 : 0;
}

void FairBucket::fill(Member& member) {
  if (member.inflow == 0) {
    return;
  }
  const auto passed = static_cast<std::uint64_t>((now_.flow - member.filled_at).count());
  member.filled_at = now_.flow;
  const Nano before = member.reserve;
  // A reserve is a second of the share at most; longer, and the product below could overflow.
  if (passed >= one_token) {
    member.reserve = member.most;
  } else {
    const std::uint64_t gained = passed * member.inflow + member.carry;
    member.reserve = std::min(member.most, member.reserve + gained / weights_);
    member.carry = gained % weights_;
  }
  held_ += member.reserve - before;
}

/// Its share since it joined, as far as the others have left it.
void FairBucket::fill_late(Member& member) {
  const auto passed = std::min<std::uint64_t>(
      static_cast<std::uint64_t>((now_.flow - member.filled_at).count()), one_token);
  member.filled_at = now_.flow;
  const Nano gained =
      std::min({passed * member.inflow / weights_, member.most - member.reserve, pool()});
  member.reserve += gained;
  held_ += gained;
}

void FairBucket::look_at_all() {
  looked_at_ = now_;
  for (Member* const one : active_) {
    fill(*one);
    one->active = now_.real - one->seen_at < active_for;
  }
  std::erase_if(active_, [](const Member* one) { return !one->active; });
  weights_ = joined_ = 0;
  for (const Member* const one : active_) {
    weights_ += one->weight;
  }
  const std::uint64_t kept = places_kept(0);
  held_ = held_most_ = 0;
  std::vector<Member*> joined;
  for (Member* const one : active_) {
    if (one->inflow == 0) {
      joined.push_back(one);
    }
    one->inflow = rate_ * one->weight;
    one->carry = 0;
    one->most = one->inflow * one_token / (weights_ + kept);
    one->reserve = std::min(one->reserve, one->most);
    held_ += one->reserve;
    held_most_ += one->most;
  }
  newcomers_most_ = kept == 0 ? 0 : rate_ * one_token / (weights_ + kept);
  newcomers_ = std::min(newcomers_, newcomers_most_);
  for (Member* const one : joined) {
    fill_late(*one);
  }
  // Those beyond their share get nothing before the next newcomer has its part.
  newcomers_ += std::min(newcomers_most_ - newcomers_, pool());
}

/// Since the last look the reserves may have grown by all that has come in.
Nano FairBucket::pool() const {
  const auto passed = static_cast<std::uint64_t>((now_.flow - looked_at_.flow).count());
  const Nano claims = newcomers_ + std::min(held_most_, held_ + passed * rate_);
  return whole_.level() - std::min(whole_.level(), claims);
}

Nano FairBucket::available(const Member& member, Nano cost) const {
  const Nano there = member.reserve + pool();
  // What does not fit beside the newcomers' reserve, even when nobody else is there, may have that:
  // otherwise it would be refused for ever.
  return std::min(whole_.level(),
                  cost > whole_.full() - newcomers_most_ ? there + newcomers_ : there);
}

FairBucket::Taken FairBucket::take(Member& member, Nano cost) {
  const Nano of_reserve = std::min(member.reserve, cost);
  const Nano of_pool = std::min(cost - of_reserve, pool());
  const Nano of_newcomers = cost - of_reserve - of_pool;
  HK_ASSERT(of_newcomers <= newcomers_);
  newcomers_ -= of_newcomers;
  member.reserve -= of_reserve;
  held_ -= of_reserve;
  whole_.take(cost);
  return {cost, of_reserve};
}

void FairBucket::give_back(Member& member, const Taken& taken) {
  whole_.give_back(taken.cost);
  if (member.active) {
    const Nano back = std::min(taken.of_reserve, member.most - member.reserve);
    member.reserve += back;
    held_ += back;
  }
}

Time FairBucket::until(const Member& member, Nano missing) const {
  // In thousandths of a token a second. One that has just come has no share yet: nearly all of it.
  const std::uint64_t weights = weights_ + (member.inflow == 0 ? member.weight : 0);
  const std::uint64_t share = std::max<std::uint64_t>(1, rate_ * member.weight * 1000 / weights);
  const Nano bounded = std::min<Nano>(missing, 10'000'000 * one_token);
  return Time{static_cast<Time::rep>((bounded * 1000 + share - 1) / share)};
}

}  // namespace hk::api::limits
