#include "edge/http/pipeline.h"

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
  HK_ASSERT(slot >= first_slot_ && slot - first_slot_ < waiting());
  const std::size_t index = front_ + static_cast<std::size_t>(slot - first_slot_);
  HK_ASSERT(!slots_[index].answered);
  slots_[index].answered = true;
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

void Pipeline::write(Slot& slot, const Response& response, std::string_view common_lines,
                     std::string& out) {
  slot.options.close = slot.options.close || response.close || closing_;
  append_response(out, response, slot.options, common_lines);
}

void Pipeline::pop() {
  constexpr std::size_t compact_at = 64;
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
