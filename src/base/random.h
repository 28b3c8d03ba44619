/// The one door for randomness. The core is handed one; production seeds it from the operating
/// system, the simulator from its seed.
#pragma once

#include <cstdint>

namespace hk {

class Rng {
 public:
  Rng() = default;
  Rng(const Rng&) = delete;
  Rng& operator=(const Rng&) = delete;
  virtual ~Rng() = default;
  virtual std::uint64_t next() = 0;

  /// Uniform enough in [0, bound) for jitter and choices. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
};

/// xoshiro256**: fast, deterministic, not for secrets.
class SeededRng final : public Rng {
 public:
  explicit SeededRng(std::uint64_t seed) {
    for (auto& word : state_) {  // splitmix64 spreads the seed over the state
      seed += 0x9e3779b97f4a7c15ULL;
      std::uint64_t z = seed;
      z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31U);
    }
  }

  std::uint64_t next() override {
    const std::uint64_t result = rotate(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = rotate(state_[3], 45);
    return result;
  }

 private:
  static std::uint64_t rotate(std::uint64_t x, unsigned by) {
    return (x << by) | (x >> (64U - by));
  }
  std::uint64_t state_[4] = {};
};

}  // namespace hk
