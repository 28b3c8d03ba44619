/// The bytes a connection has received and not yet used: contiguous, small while idle, larger while
/// a long header block or body is coming. They may lie in room that is lent, as long as they are
/// being looked at: then a connection whose requests come whole needs no memory for them. Owned by
/// a connection.
#pragma once

#include <algorithm>
#include <cstring>
#include <memory>
#include <string_view>

namespace hk::http {

class ReadBuffer {
 public:
  static constexpr std::size_t small_bytes = std::size_t{4} * 1024;
  static constexpr std::size_t large_bytes = std::size_t{64} * 1024;

  [[nodiscard]] bool empty() const { return begin_ == end_; }
  [[nodiscard]] std::string_view view() const {
    return {(lent_ != nullptr ? lent_ : data_.get()) + begin_, end_ - begin_};
  }
  [[nodiscard]] char* free_data() { return data_.get() + end_; }
  [[nodiscard]] std::size_t free_size() const { return capacity_ - end_; }

  void add(std::size_t bytes) {
    end_ += bytes;
    filled_ = end_ == capacity_;
  }
  /// How much to read next into room that is lent. `bulk` as below.
  [[nodiscard]] std::size_t lent_size(bool bulk) const {
    return bulk && filled_ ? large_bytes : small_bytes;
  }
  /// These bytes have come, into room of lent_size(). They stay there until keep(). REQUIRES:
  /// empty().
  void lend(const char* data, std::size_t bytes, std::size_t size) {
    lent_ = data;
    begin_ = 0;
    end_ = bytes;
    filled_ = bytes == size;
  }
  /// What is left of what was lent is copied: the room will be used for something else.
  void keep() {
    if (lent_ == nullptr) return;
    const std::string_view rest = view();
    lent_ = nullptr;
    begin_ = end_ = 0;
    if (rest.empty()) return;
    if (capacity_ < rest.size()) grow(std::max(rest.size(), small_bytes));
    std::memcpy(data_.get(), rest.data(), rest.size());
    end_ = rest.size();
  }
  void consume(std::size_t bytes) {
    begin_ += bytes;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }

  /// Makes free_size() > 0. `bulk`: a body is coming; if it filled the buffer, more is read at
  /// once. REQUIRES: no read is pending; fewer than `unused_bytes_max` bytes are unused.
  void make_room(bool bulk, std::size_t unused_bytes_max) {
    if (data_ == nullptr) return grow(small_bytes);
    if (begin_ != 0 && (end_ == capacity_ || free_size() < small_bytes / 4)) {
      std::memmove(data_.get(), data_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
    }
    if (bulk && filled_ && capacity_ < large_bytes) return grow(large_bytes);
    if (end_ == capacity_) {
      grow(std::max(std::min(capacity_ * 2, unused_bytes_max + 1), capacity_ + small_bytes));
    }
  }

  /// Back to the small size. REQUIRES: empty(), no read is pending.
  void shrink() {
    if (capacity_ > small_bytes) release();
  }
  void release() {
    lent_ = nullptr;
    data_.reset();
    capacity_ = begin_ = end_ = 0;
  }

 private:
  void grow(std::size_t capacity) {
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (data_ != nullptr) std::memcpy(larger.get(), data_.get() + begin_, end_ - begin_);
    data_ = std::move(larger);
    capacity_ = capacity;
    end_ -= begin_;
    begin_ = 0;
  }

  std::unique_ptr<char[]> data_{};
  std::size_t capacity_ = 0;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool filled_ = false;         ///< by the last read
  const char* lent_ = nullptr;  ///< null: what is here lies in data_
};

}  // namespace hk::http
