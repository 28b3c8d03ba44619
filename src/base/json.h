/// Writing JSON: appends to a string, escapes correctly and never builds a tree. Used by every
/// answer and by the bodies of callbacks; the publish answer calls append_json_string() alone. Pure
/// functions, any thread.
#pragma once

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/json_string.h"

namespace hk {

/// Commas are its business; that begin and end match is the caller's.
class JsonWriter {
 public:
  explicit JsonWriter(std::string& out) : out_(out) {}

  void begin_object() { open('{'); }
  void end_object() { close('}'); }
  void begin_array() { open('['); }
  void end_array() { close(']'); }

  void key(std::string_view name);
  void string(std::string_view text);
  void number(std::int64_t value);
  void boolean(bool value);
  void null() { whole("null"); }
  /// A value that is JSON already. REQUIRES: it is.
  void whole(std::string_view json);

  void field(std::string_view name, std::string_view text) { key(name), string(text); }
  void field(std::string_view name, const char* text) { key(name), string(text); }
  void field(std::string_view name, bool value) { key(name), boolean(value); }
  template <std::integral Int>
    requires(!std::same_as<Int, bool>)
  void field(std::string_view name, Int value) {
    key(name);
    number(static_cast<std::int64_t>(value));
  }

 private:
  void separate();
  void open(char bracket);
  void close(char bracket);

  std::string& out_;
  bool need_comma_ = false;
};

}  // namespace hk
