/// Whether comparing a secret takes a time that tells how much of it was right. Two kinds of
/// guesses, drawn at random: wrong from the first byte, and wrong in the last one only. Welch's t
/// of their times says whether the kinds can be told apart (beyond 4.5 they can). The same for a
/// comparison that stops at the first difference: it must be told apart, or the measurement sees
/// nothing.
///
///   constant_time [--samples 1000000] [--seed 1]
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "security/digest.h"
#include "wire.h"

namespace {

using namespace hk::bench;

// One call is shorter than a reading of the clock.
constexpr int calls_per_sample = 16;

struct Sample {
  bool late;
  double ns;
};

/// Of the samples below the 95th percentile: what lies above is the machine's own business.
double welch_t(std::vector<Sample> samples) {
  const auto cut = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() * 95 / 100);
  std::nth_element(samples.begin(), cut, samples.end(),
                   [](const Sample& a, const Sample& b) { return a.ns < b.ns; });
  samples.erase(cut, samples.end());
  std::array<double, 2> count{};
  std::array<double, 2> mean{};
  std::array<double, 2> squares{};
  for (const Sample& sample : samples) {
    const std::size_t kind = sample.late ? 1 : 0;
    count[kind] += 1;
    const double delta = sample.ns - mean[kind];
    mean[kind] += delta / count[kind];
    squares[kind] += delta * (sample.ns - mean[kind]);
  }
  const auto error = [&](std::size_t kind) {
    return squares[kind] / (count[kind] - 1) / count[kind];
  };
  return std::abs(mean[0] - mean[1]) / std::sqrt(error(0) + error(1));
}

template <typename Equal>
double measure(std::int64_t samples, std::uint64_t seed, Equal equal) {
  std::mt19937_64 random(seed);
  // As long as a signature in hexadecimal.
  std::string secret(64, '\0');
  std::generate(secret.begin(), secret.end(), [&] { return static_cast<char>(random()); });
  std::string guess = secret;
  std::vector<Sample> taken;
  taken.reserve(static_cast<std::size_t>(samples));
  std::int64_t equals = 0;
  for (std::int64_t i = 0; i < samples; ++i) {
    const bool late = (random() & 1) != 0;
    guess = secret;
    char& wrong = late ? guess.back() : guess.front();
    wrong = static_cast<char>(wrong ^ 0x55);
    const std::int64_t start = now_ns();
    for (int call = 0; call < calls_per_sample; ++call) {
      equals += equal(secret, guess) ? 1 : 0;
    }
    taken.push_back({late, static_cast<double>(now_ns() - start)});
  }
  if (equals != 0) {
    die("a wrong guess was taken for the secret");
  }
  return welch_t(std::move(taken));
}

bool stops_at_the_first_difference(std::string_view a, std::string_view b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) {
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t samples = 1'000'000;
  std::uint64_t seed = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--samples" && i + 1 < argc) {
      samples = to_number(argv[++i], flag);
    } else if (flag == "--seed" && i + 1 < argc) {
      seed = static_cast<std::uint64_t>(to_number(argv[++i], flag));
    } else {
      die("usage: constant_time [--samples N] [--seed N]");
    }
  }
  const double ours = measure(samples, seed, [](std::string_view a, std::string_view b) {
    return hk::security::constant_time_equal(a, b);
  });
  const double control = measure(samples, seed, stops_at_the_first_difference);
  std::printf("{\"samples\":%lld,\"t\":%.2f,\"t_of_a_comparison_that_stops\":%.2f}\n",
              static_cast<long long>(samples), ours, control);
}
