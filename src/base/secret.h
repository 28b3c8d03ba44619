/// A secret text: it cannot be printed, formatted or compared with ==; its memory is wiped. Compare
/// digests with security/digest.h. Access is spelled out, so that a reader can grep for it.
#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace hk {

class Secret {
 public:
  Secret() = default;
  explicit Secret(std::string text) : text_(std::move(text)) {}
  Secret(const Secret&) = default;
  Secret& operator=(const Secret& other) {
    if (this != &other) {
      wipe();
      text_ = other.text_;
    }
    return *this;
  }
  Secret(Secret&& other) noexcept : text_(std::move(other.text_)) { other.wipe(); }
  Secret& operator=(Secret&& other) noexcept {
    if (this != &other) {
      wipe();
      text_ = std::move(other.text_);
      other.wipe();
    }
    return *this;
  }
  ~Secret() { wipe(); }

  [[nodiscard]] std::string_view reveal() const { return text_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

  friend bool operator==(const Secret&, const Secret&) = delete;
  template <class Stream>
  friend Stream& operator<<(Stream&, const Secret&) = delete;

 private:
  void wipe() noexcept {
    text_.resize(text_.capacity());  // a short text that was moved away is still in the buffer
    volatile char* bytes = text_.data();
    for (std::size_t i = 0; i < text_.size(); ++i) {
      bytes[i] = 0;
    }
    text_.clear();
  }

  std::string text_;
};

}  // namespace hk
