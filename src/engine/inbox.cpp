#include "engine/inbox.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/limits.h"
#include "engine/weight.h"

namespace hk::engine {

namespace {

/// Commands that a tenant may put into a batch before the next one's turn.
constexpr std::size_t quantum = 16;
/// So many batches after somebody else's, the next of theirs is still expected.
constexpr std::size_t remembered_batches = 64;
constexpr core::TenantId nobody{0};

/// Outcomes of attempts and changes of tenants wait for no tenant's turn.
core::TenantId waits_for(const core::Command& command) {
  return command.is<core::UpsertTenant>() ? nobody : core::tenant_of(command);
}

}  // namespace

bool Inbox::fits(core::TenantId tenant, const Waiting* waiting, std::size_t weight) const {
  if (count_ >= count_max_) {
    return false;
  }
  const bool crowds = tenant != nobody && waiting != nullptr;
  if (crowds && !core::within_share(waiting->commands.size(), count_max_ - count_)) {
    return false;
  }
  if (weight == 0 || bytes_ == 0) {
    return true;  // one message always fits
  }
  if (bytes_ >= bytes_max_ || weight > bytes_max_ - bytes_) {
    return false;
  }
  return !crowds || core::within_share(waiting->bytes, bytes_max_ - bytes_);
}

std::size_t Inbox::put(std::vector<Submission>& batch) {
  if (count_ >= count_max_) {
    return batch.size();
  }
  std::vector<core::TenantId> refused;
  std::size_t left = 0;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const core::TenantId tenant = waits_for(batch[i].command);
    batch[i].weight = weight_of(batch[i].command);
    const std::size_t weight = batch[i].weight.carried;
    const auto found = tenants_.find(tenant);
    const Waiting* waiting = found == tenants_.end() ? nullptr : &found->second;
    const bool out = std::find(refused.begin(), refused.end(), tenant) != refused.end();
    if (out || !fits(tenant, waiting, weight)) {
      if (!out) {
        refused.push_back(tenant);
      }
      if (left != i) {
        batch[left] = std::move(batch[i]);
      }
      ++left;
      continue;
    }
    if (waiting == nullptr) {
      round_.push_back(tenant);
    }
    Waiting& own = tenants_[tenant];
    own.commands.push_back(std::move(batch[i]));
    own.bytes += weight;
    bytes_ += weight;
    ++count_;
  }
  batch.erase(batch.begin() + static_cast<std::ptrdiff_t>(left), batch.end());
  return left;
}

bool Inbox::has_several_tenants() const {
  return tenants_.size() > 2 || (tenants_.size() == 2 && !tenants_.contains(nobody));
}

std::vector<Submission> Inbox::take(std::size_t most, std::size_t bytes_max,
                                    std::size_t beside_others) {
  if (has_several_tenants()) {
    others_expected_ = remembered_batches;
  } else if (others_expected_ > 0) {
    --others_expected_;
  }
  const bool alone = others_expected_ == 0;
  std::vector<Submission> taken;
  taken.reserve(std::min(most, count_));
  std::size_t bytes = 0;
  for (std::size_t of_each = 0; alone || of_each < beside_others; of_each += quantum) {
    for (std::size_t left = round_.size(); left > 0; --left) {
      if (taken.size() >= most || !take_turn(most, bytes_max, bytes, taken)) {
        return taken;
      }
    }
    if (round_.empty()) {
      break;
    }
  }
  return taken;
}

/// Of the tenant whose turn it is. False: the batch is full.
bool Inbox::take_turn(std::size_t most, std::size_t bytes_max, std::size_t& bytes,
                      std::vector<Submission>& taken) {
  const core::TenantId tenant = round_.front();
  const auto found = tenants_.find(tenant);
  Waiting& waiting = found->second;
  for (std::size_t turn = 0; turn < quantum && taken.size() < most && !waiting.commands.empty();
       ++turn) {
    Submission& next = waiting.commands.front();
    bytes += next.weight.written + next.writes_more;
    if (bytes > bytes_max && !taken.empty()) {
      return false;
    }
    waiting.bytes -= next.weight.carried;
    taken.push_back(std::move(next));
    waiting.commands.pop_front();
    --count_;
  }
  round_.pop_front();
  if (waiting.commands.empty()) {
    tenants_.erase(found);
  } else {
    round_.push_back(tenant);
  }
  return true;
}

}  // namespace hk::engine
