/// JSON logs: one line an event, an event name and fields, never a payload, a secret or a query
/// string. error = a person should act; warn = we coped; info = life of the process; debug = per
/// request. Callable from any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace hk::observe {

enum class Level : std::uint8_t { debug, info, warn, error, off };

struct LogField {
  std::string_view name{};
  std::variant<std::string_view, std::int64_t, std::uint64_t, double, bool> value{};

  LogField(std::string_view n, std::string_view v) : name(n), value(v) {}
  LogField(std::string_view n, const char* v) : name(n), value(std::string_view(v)) {}
  LogField(std::string_view n, const std::string& v) : name(n), value(std::string_view(v)) {}
  LogField(std::string_view n, bool v) : name(n), value(v) {}
  LogField(std::string_view n, double v) : name(n), value(v) {}
  template <class Int>
    requires(std::is_integral_v<Int> && !std::is_same_v<Int, bool>)
  LogField(std::string_view n, Int v) : name(n) {
    if constexpr (std::is_signed_v<Int>) {
      value = static_cast<std::int64_t>(v);
    } else {
      value = static_cast<std::uint64_t>(v);
    }
  }
};

/// {"time":"2026-01-02T03:04:05.678Z","level":"warn","event":"delivery.attempt_failed",…}. Control
/// bytes are escaped, invalid UTF-8 is replaced, a value is cut at 2,048 bytes.
void log(Level level, std::string_view event, std::initializer_list<LogField> fields = {});

/// debug, info, warn, error or off.
std::optional<Level> parse_level(std::string_view text);

/// Lines below the level are dropped; the default is info. To stderr unless a file is named.
void set_log_level(Level level);
bool set_log_file(const std::string& path);  ///< false: cannot be opened
bool log_enabled(Level level);

}  // namespace hk::observe
