/// The adapter `hikyaku`: the row is published into a Hikyaku, which delivers it from then on. The
/// idempotency key is the deduplication id, so that a row sent twice is accepted once. I/O thread.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "outbox/send/request_builder.h"

namespace hk::outbox {

struct HikyakuSettings {
  std::string broker_url{};  ///< without a slash at its end
  Secret token{};            ///< "" = none is sent
  std::string destination{};
  std::string idempotency_header{};
};

/// A destination is a URL, the name of a URL group, `queue:<name>/<either>` (delivered in order),
/// or `queue:<name>` (a queue that is pulled from).
class HikyakuBuilder final : public RequestBuilder {
 public:
  explicit HikyakuBuilder(HikyakuSettings settings) : settings_(std::move(settings)) {}

  [[nodiscard]] std::string_view name() const override { return "hikyaku"; }
  [[nodiscard]] std::string broker() const override { return settings_.broker_url; }
  [[nodiscard]] Faults faults() const override { return Faults::of_broker; }
  Built build(Row row, Moment now) override;

 private:
  struct Target {
    std::string path{};
    bool pulled = false;
    bool fifo = false;  ///< of a queue that is pulled from
  };
  [[nodiscard]] static std::expected<Target, Outcome> find_target(std::string_view destination);
  [[nodiscard]] std::expected<std::vector<core::Header>, Outcome> make_headers(
      Row& row, const Target& target) const;

  const HikyakuSettings settings_;
};

}  // namespace hk::outbox
