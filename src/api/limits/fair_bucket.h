/// The bucket of the whole server, shared fairly. Every tenant that was seen in the last while has
/// a reserve in it, of one second of its share, that fills at the rate of its share and that nobody
/// else can take; so has the next tenant that comes. What is there beyond all reserves is the
/// common pool: whoever asks first gets it. So a tenant within its share is never refused because
/// of another, and what the others leave can be used by all.
///
/// What must hold: the reserves together never claim more than the bucket really holds. Pure: it is
/// told what time it is.
#pragma once

#include <vector>

#include "api/limits/bucket.h"

namespace hk::api::limits {

class FairBucket {
 public:
  /// After so long without a request a tenant has no reserve any more.
  static constexpr Time active_for = std::chrono::seconds{10};
  /// The reserves of all are looked at no more often: what they leave to the others comes in such
  /// pieces. A tenant's own is exact at any time.
  static constexpr Time look_every = std::chrono::milliseconds{10};

  /// Tokens flow by a clock that the factor slows down (limiter.h); who is there is told by the
  /// other one.
  struct Now {
    Time flow{};
    Time real{};
  };

  /// One tenant's part. Owned by the caller; must not move while it is active.
  struct Member {
    std::uint64_t weight = 1;

    bool active = false;
    Nano reserve = 0;
    Nano most = 0;             ///< of its reserve
    std::uint64_t inflow = 0;  ///< its reserve gains inflow / weights_ each nanosecond; 0: not yet
    std::uint64_t carry = 0;   ///< what the last division left
    Time filled_at{};          ///< flow
    Time seen_at{};            ///< real
  };
  /// Where the tokens of a request came from, so that they can go back.
  struct Taken {
    Nano cost = 0;
    Nano of_reserve = 0;
  };

  /// rate 0: it limits nothing. REQUIRES: burst >= rate.
  FairBucket(std::uint64_t rate, std::uint64_t burst);

  /// So many tenants could come. While not all are active, there is a reserve for the next one.
  void set_known(std::size_t tenants) { known_ = tenants; }

  void advance(const Now& now);
  /// A request of this tenant is here. Before available(), and at the same time. `weight` counts
  /// from the next look at all reserves on.
  void seen(Member& member, std::uint64_t weight, const Now& now);
  /// What the tenant could take for a request that costs so much.
  [[nodiscard]] Nano available(const Member& member, Nano cost) const;
  /// REQUIRES: as much is available.
  Taken take(Member& member, Nano cost);
  void give_back(Member& member, const Taken& taken);
  /// How long until its own share makes up for what is missing. REQUIRES: it was seen.
  [[nodiscard]] Time until(const Member& member, Nano missing) const;

  [[nodiscard]] const Bucket& whole() const { return whole_; }
  /// What is claimed: never more than whole().level(). For tests.
  [[nodiscard]] Nano claimed() const { return held_ + newcomers_; }

 private:
  void look_at_all();
  void join(Member& member);
  void fill(Member& member);
  void fill_late(Member& member);
  [[nodiscard]] std::uint64_t places_kept(std::size_t more) const;
  [[nodiscard]] Nano pool() const;

  const std::uint64_t rate_;
  Bucket whole_;
  std::vector<Member*> active_;
  std::uint64_t weights_ = 0;  ///< of those that were active at the last look
  std::uint64_t joined_ = 0;   ///< the same of those that have joined since
  Nano held_ = 0;              ///< the reserves of the active ones, as they were last filled
  Nano held_most_ = 0;         ///< the same when all are full
  Nano newcomers_ = 0;         ///< the reserve of the next tenant that comes
  Nano newcomers_most_ = 0;
  std::size_t known_ = 0;
  Now looked_at_{};
  Now now_{};
};

}  // namespace hk::api::limits
