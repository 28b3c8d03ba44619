/// Walks over the messages of a tenant that are not finished, in pieces of bounded work, all of
/// them as they stood in one durable view. For calls about many messages: an I/O thread takes one
/// piece at a time. Throws what the reader throws.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/reader.h"

namespace hk::api {

class UnfinishedMessages {
 public:
  /// May this lane hold messages that are looked for? One that may not is not read at all.
  using LaneFilter = std::function<bool(const core::LaneKey&)>;
  using MessageFilter = std::function<bool(const core::Message&)>;

  UnfinishedMessages(std::shared_ptr<core::Reader> view, core::TenantId tenant, LaneFilter lanes,
                     MessageFilter messages);

  /// The next ones that fit, perhaps none, after looking at no more than a bounded number of
  /// records and bytes. One can come twice: when it was accepted a moment ago and waits already.
  /// Those that are being cancelled are left out. REQUIRES: !done().
  std::vector<core::MessageId> next();
  [[nodiscard]] bool done() const { return phase_ == Phase::done; }

 private:
  enum class Phase : std::uint8_t { lanes, young, done };
  struct Piece {
    std::vector<core::MessageId> found{};
    std::size_t work = 0;
    [[nodiscard]] bool full() const;
    void count(const core::Message& message);
  };

  void read_lanes(Piece& piece);
  void read_young(Piece& piece);
  void next_lane();

  std::shared_ptr<core::Reader> view_;  ///< shared with whoever reads this view, too
  core::TenantId tenant_;
  LaneFilter lane_fits_;
  MessageFilter message_fits_;
  Phase phase_ = Phase::lanes;
  core::LaneKey lane_;
  std::optional<core::LanePlace> place_;
  core::Seq young_after_;
};

}  // namespace hk::api
