#include "outbox/relay_outcomes.h"

#include <algorithm>

namespace hk::outbox {
namespace {

constexpr std::size_t written_together = 1'024;

}  // namespace

DatabaseResult<void> RelayOutcomes::begin(Store& store) {
  if (finished_.empty()) {
    return {};
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(finished_.size(), written_together));
  writing_.assign(finished_.begin(), finished_.begin() + count);
  writing_since_ = Clock::now();
  return store.begin_finish(writing_);
}

DatabaseResult<void> RelayOutcomes::end(Store& store) {
  if (writing_.empty()) {
    return {};
  }
  const auto written = store.end_finish(writing_);
  if (!written) {
    return std::unexpected(written.error());
  }
  metrics_.took(RelayMetrics::Phase::commit, Clock::now() - writing_since_);
  for (std::size_t i = 0; i < writing_.size(); ++i) {
    settle(writing_[i], (*written)[i]);
  }
  log_.rows_locked(locked_.size());
  finished_.erase(finished_.begin(),
                  finished_.begin() + static_cast<std::ptrdiff_t>(writing_.size()));
  writing_.clear();
  return {};
}

DatabaseResult<void> RelayOutcomes::write(Store& store) {
  while (!finished_.empty()) {
    if (auto begun = begin(store); !begun) {
      return begun;
    }
    if (auto ended = end(store); !ended) {
      return ended;
    }
  }
  return {};
}

DatabaseResult<void> RelayOutcomes::write_locked(Store& store, Clock::time_point now) {
  if (locked_.empty() || now < next_locked_) {
    return {};
  }
  const auto written = store.finish_unlocked(locked_);
  if (!written) {
    return std::unexpected(written.error());
  }
  const std::vector<Finished> tried = std::exchange(locked_, {});
  for (std::size_t i = 0; i < tried.size(); ++i) {
    settle(tried[i], (*written)[i]);
  }
  log_.rows_locked(locked_.size());
  return {};
}

void RelayOutcomes::lost() {
  for (std::size_t i = 0; i < writing_.size(); ++i) {
    finished_[i].again = true;
  }
  writing_.clear();
}

void RelayOutcomes::settle(const Finished& row, Written written) {
  if (written == Written::later) {
    locked_.push_back(row);
    locked_.back().again = true;
    next_locked_ = Clock::now() + locked_again;
    return;
  }
  const auto found = sending_.find(name_of(row.claim));
  note(row, found->second, written);
  sending_.erase(found);
}

void RelayOutcomes::note(const Finished& row, const Sending& sending, Written written) {
  metrics_.processed(written);
  news_.written = true;
  if (written == Written::failed) {
    metrics_.retried(row.claim.attempts + 1);
    news_.failed = true;
  }
  log_.processed(row, written, sending.span, Clock::now() - sending.since);
}

}  // namespace hk::outbox
