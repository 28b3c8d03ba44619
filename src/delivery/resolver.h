/// Host names to addresses, off the I/O threads. Names that need no look-up (literals, localhost)
/// and recent answers are known at once; everything else is asked of the system on a few threads of
/// its own, each name once at a time however many wait for it. One Resolver serves all dispatchers;
/// any thread.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "delivery/address.h"

namespace hk::delivery {

using Addresses = std::vector<Address>;

class Resolver {
 public:
  using Done = std::move_only_function<void(const Result<Addresses>&)>;

  Resolver() = default;
  Resolver(const Resolver&) = delete;
  Resolver& operator=(const Resolver&) = delete;
  virtual ~Resolver() = default;

  /// The answer if it takes no look-up; never blocks.
  virtual std::optional<Addresses> known(const std::string& host) = 0;
  /// Calls `done` once, from any thread, perhaps before it returns. unavailable: not found, or no
  /// answer in time. limit_exceeded, internal: this process cannot ask. A failure is not
  /// remembered.
  virtual void look_up(const std::string& host, Done done) = 0;
};

struct ResolverOptions {
  /// A name that hangs holds one for seconds: so many may hang before others wait for them.
  std::size_t threads = 32;
  std::chrono::milliseconds timeout{2'000};
  std::chrono::milliseconds remember{5'000};
  std::size_t names_remembered_max = 4'096;
  std::size_t answers_max = 32;
  std::size_t waiting_names_max = 4'096;
  /// What asks the system; replaced in tests. Called on a resolver thread; may block.
  std::function<Result<Addresses>(const std::string&)> ask{};
};

std::unique_ptr<Resolver> make_resolver(ResolverOptions options = {});

}  // namespace hk::delivery
