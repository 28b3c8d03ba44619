#include "api/unfinished.h"

#include <utility>

namespace hk::api {

namespace {

/// Of one piece, in records looked at: some ms of reading. A message counts by its size as well.
constexpr std::size_t work_per_piece = 256;
constexpr std::size_t bytes_per_work = std::size_t{16} * 1024;
constexpr std::size_t entries_per_read = 64;
constexpr std::size_t young_per_read = 8;

}  // namespace

UnfinishedMessages::UnfinishedMessages(std::shared_ptr<core::Reader> view, core::TenantId tenant,
                                       LaneFilter lanes, MessageFilter messages)
    : view_(std::move(view)),
      tenant_(tenant),
      lane_fits_(std::move(lanes)),
      message_fits_(std::move(messages)),
      lane_{.tenant = tenant},  // sorts before every other lane of the tenant
      young_after_(view_->get<core::Meta>({}).value_or(core::Meta{}).indexed_up_to) {}

bool UnfinishedMessages::Piece::full() const { return work >= work_per_piece; }

void UnfinishedMessages::Piece::count(const core::Message& message) {
  work += 1 + message.body.size() / bytes_per_work;
}

std::vector<core::MessageId> UnfinishedMessages::next() {
  Piece piece;
  if (phase_ == Phase::lanes) {
    read_lanes(piece);
  }
  if (phase_ == Phase::young && !piece.full()) {
    read_young(piece);
  }
  return std::move(piece.found);
}

/// Everything up to Meta::indexed_up_to that is unfinished has an entry in its lane.
void UnfinishedMessages::read_lanes(Piece& piece) {
  while (phase_ == Phase::lanes && !piece.full()) {
    ++piece.work;
    if (!lane_fits_(lane_)) {
      next_lane();
      continue;
    }
    const std::vector<core::LaneEntry> entries =
        view_->lane_entries(lane_, place_, entries_per_read);
    for (const core::LaneEntry& entry : entries) {
      if (piece.full()) {
        return;
      }
      place_ = entry.place;
      ++piece.work;
      if (entry.finished || entry.cancel_requested) {
        continue;
      }
      const auto message = view_->get<core::Message>(entry.place.seq);
      if (message == nullptr) {
        continue;
      }
      piece.count(*message);
      if (message->tenant == tenant_ && message_fits_(*message)) {
        piece.found.push_back(message->id);
      }
    }
    if (entries.size() < entries_per_read) {
      next_lane();
    }
  }
}

void UnfinishedMessages::next_lane() {
  place_.reset();
  std::optional<core::LaneKey> found = view_->next_lane(lane_);
  if (found && found->tenant == tenant_) {
    lane_ = std::move(*found);
  } else {
    phase_ = Phase::young;
  }
}

/// What was accepted after that may have none yet.
void UnfinishedMessages::read_young(Piece& piece) {
  while (phase_ == Phase::young && !piece.full()) {
    const auto messages =
        view_->scan(core::Range<core::Message>().after(young_after_), young_per_read);
    for (const auto& message : messages) {
      young_after_ = message->id.seq;
      piece.count(*message);
      if (message->tenant != tenant_ || !message_fits_(*message)) {
        continue;
      }
      const std::optional<core::MessageState> state =
          view_->get<core::MessageState>(message->id.seq);
      const bool over = state && (core::is_final(state->status) || state->cancel_requested);
      if (!over) {
        piece.found.push_back(message->id);
      }
    }
    if (messages.size() < young_per_read) {
      phase_ = Phase::done;
    }
  }
}

}  // namespace hk::api
