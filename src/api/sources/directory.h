/// Sources, ready to be used: settings read, secrets opened, the message to send prepared. What is
/// kept of one is good as long as its version is; so a secret that was added or removed counts for
/// every request that comes after the answer to that. Any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "api/sources/settings.h"
#include "base/error.h"
#include "core/command.h"

namespace hk::engine {
class Submitter;
}

namespace hk::api {
struct Options;
}

namespace hk::api::sources {

/// A token bucket in one number: the moment at which it is full again. Any thread.
class Throttle {
 public:
  /// Rate: tokens a second; it holds as many. 0: it limits nothing.
  explicit Throttle(std::uint32_t rate) : rate_(rate) {}
  [[nodiscard]] bool take(std::chrono::nanoseconds now);

 private:
  const std::uint32_t rate_;
  std::atomic<std::int64_t> full_at_{0};
};

struct OpenSource {
  core::TenantId tenant{};
  std::string id{};
  std::uint64_t version = 0;
  Settings settings{};
  std::vector<Key> keys{};                 ///< newest first
  std::unique_ptr<core::Message> to_send;  ///< without headers and body
  std::optional<core::FlowKey> flow{};
  Millis delay{};

  mutable Throttle throttle{0};
  /// Rejected requests on their way to the core; and those of which it was not told.
  mutable std::atomic<std::uint32_t> rejecting{0};
  mutable std::atomic<std::uint64_t> rejected{0};

  OpenSource(std::uint32_t rate) : throttle(rate) {}  // NOLINT: made in one place
};
using OpenSourcePtr = std::shared_ptr<const OpenSource>;

/// The place that a secret is sealed for.
std::string secret_place(core::TenantId tenant, std::string_view source, std::string_view secret);
/// As it was given. corruption: another master key has sealed it.
Result<Secret> open_secret(const Options& options, const core::Source& source,
                           const core::SourceSecret& secret);

/// The publish that each event of the source makes, without its content. invalid_argument: what is
/// wrong with the target.
Result<core::Publish> publish_to(const Options& options, Moment now, core::TenantId tenant,
                                 const Target& target);

/// corruption, invalid_argument: it cannot be used as it is stored.
Result<OpenSourcePtr> open_source(const Options& options, Moment now, const core::Source& source);

class Directory {
 public:
  static constexpr std::size_t kept_max = 10'000;

  /// By name or id. Null: there is none. Errors as open_source(). Throws PartitionUnavailable.
  Result<OpenSourcePtr> find(engine::Submitter& submitter, const Options& options, Moment now,
                             const std::string& name);

 private:
  using Table = std::map<std::string, OpenSourcePtr>;

  std::mutex writing_;
  std::shared_ptr<const Table> table_ = std::make_shared<const Table>();
};

}  // namespace hk::api::sources
