/// Reading JSON in the order in which it stands, straight into what it means: no tree is built, and
/// a text without escapes is not copied. For large bodies with a known shape. The caller asks for
/// what it expects; the first thing that is not JSON ends it (failed()), and every later call is
/// harmless and finds nothing. A name that an object has twice is the caller's to notice.
/// Any thread, one at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace hk {

class JsonReader {
 public:
  enum class Kind : std::uint8_t { none, null, boolean, number, string, array, object };

  /// The text outlives the reader and what it gives out.
  explicit JsonReader(std::string_view text, std::size_t depth_max = 16)
      : text_(text), depth_max_(depth_max) {}

  /// Of the value that comes, by how it begins. none: there is none, or it is not JSON.
  Kind kind();

  // REQUIRES: it is of that kind (kind()). What they give out of a text with escapes holds until
  // the next text is read.
  std::string_view string();
  std::string_view number();  ///< as it is written
  bool boolean();
  void null();
  /// Whatever it is.
  void skip();

  /// REQUIRES: an object comes. Then next_member() until it says false; after each, its value.
  void begin_object();
  /// `name` holds until the next call.
  bool next_member(std::string_view& name);
  /// REQUIRES: an array comes. Then next_item() until it says false; after each, its value.
  void begin_array();
  bool next_item();

  /// The value is over: nothing but white space may follow.
  void end();

  [[nodiscard]] bool failed() const { return problem_ != nullptr; }
  /// What is wrong, and at which byte. REQUIRES: failed().
  [[nodiscard]] std::string error() const;

  /// A place to return to: before a value that is to be read again.
  struct Mark {
    std::size_t at = 0;
    std::size_t depth = 0;
  };
  [[nodiscard]] Mark mark() const { return {at_, depth_}; }
  void go_back(const Mark& mark) {
    at_ = mark.at;
    depth_ = mark.depth;
    first_ = false;
  }
  /// Bytes read so far.
  [[nodiscard]] std::size_t at() const { return at_; }

 private:
  void skip_space();
  void fail(const char* problem);
  void word(std::string_view expected);
  bool open(char bracket);
  bool next(char closing);
  std::string_view read_string(std::string& unescaped);
  void unescape(std::string& out);
  std::uint32_t four_digits();

  std::string_view text_;
  std::size_t depth_max_;
  std::size_t at_ = 0;
  std::size_t depth_ = 0;
  bool first_ = false;  ///< nothing of the innermost array or object was read yet
  const char* problem_ = nullptr;
  std::size_t problem_at_ = 0;
  std::string name_{};   ///< of the last member, if it had escapes
  std::string value_{};  ///< the last text, if it had escapes
};

}  // namespace hk
