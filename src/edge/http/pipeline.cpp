#include "edge/http/pipeline.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace hk::http {

std::uint64_t Pipeline::open(WriteOptions options, BodyShare body) {
  slots_.push_back(Slot{.options = options, .body = std::move(body)});
  return first_slot_ + (waiting() - 1);
}

void Pipeline::answer(std::uint64_t slot, const Response& response, std::string_view common_lines,
                      std::string& out) {
  if (ended_) return;
  const std::size_t index = index_of(slot);
  HK_ASSERT(!slots_[index].answered);
  slots_[index].answered = true;
  // It may own who answers: it ends with this function, not in the middle of it.
  const auto told = std::exchange(slots_[index].told, nullptr);
  slots_[index].body.release();
  if (index != front_) {
    write(slots_[index], response, common_lines, slots_[index].bytes);
    return;
  }
  write(slots_[index], response, common_lines, out);
  bool last = slots_[front_].options.close;
  pop();
  while (!last && waiting() != 0 && slots_[front_].answered) {
    out.append(slots_[front_].bytes);
    last = slots_[front_].options.close;
    pop();
  }
  if (last) {
    ended_ = true;
    slots_.clear();
    front_ = 0;
  }
}

std::size_t Pipeline::index_of(std::uint64_t slot) const {
  HK_ASSERT(slot >= first_slot_ && slot - first_slot_ < waiting());
  return front_ + static_cast<std::size_t>(slot - first_slot_);
}

void Pipeline::watch(std::uint64_t slot, std::move_only_function<void()> told) {
  if (!ended_) slots_[index_of(slot)].told = std::move(told);
}

bool Pipeline::watched() const {
  return std::ranges::any_of(slots_, [](const Slot& slot) { return slot.told != nullptr; });
}

std::vector<std::move_only_function<void()>> Pipeline::take_watchers() {
  std::vector<std::move_only_function<void()>> all;
  for (Slot& slot : slots_) {
    if (slot.told) all.push_back(std::exchange(slot.told, nullptr));
  }
  return all;
}

void Pipeline::write(Slot& slot, const Response& response, std::string_view common_lines,
                     std::string& out) {
  slot.options.close = slot.options.close || response.close || closing_;
  append_response(out, response, slot.options, common_lines);
  slot.held = response.held;
}

void Pipeline::pop() {
  constexpr std::size_t compact_at = 64;
  if (slots_[front_].held) held_.push_back(std::move(slots_[front_].held));
  ++front_;
  ++first_slot_;
  if (front_ == slots_.size()) {
    slots_.clear();
    front_ = 0;
  } else if (front_ >= compact_at) {
    slots_.erase(slots_.begin(), slots_.begin() + static_cast<std::ptrdiff_t>(front_));
    front_ = 0;
  }
}

}  // namespace hk::http
