#include "observe/log.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <mutex>

#include "observe/json_text.h"

namespace hk::observe {
namespace {

std::atomic<Level> lowest{Level::info};

/// Where lines go. The mutex keeps lines whole even where the system may split a write (a full
/// pipe).
class Sink {
 public:
  bool open(const std::string& path) {
    int descriptor = STDERR_FILENO;
    if (!path.empty()) {
      descriptor = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0640);
      if (descriptor < 0) {
        return false;
      }
    }
    const std::lock_guard lock(mutex_);
    if (descriptor_ != STDERR_FILENO) {
      ::close(descriptor_);
    }
    descriptor_ = descriptor;
    torn_ = false;
    return true;
  }

  /// A line that cannot be written is dropped: there is nowhere to say so, and work goes on.
  void write(std::string_view line) {
    const std::lock_guard lock(mutex_);
    if (torn_) {  // a full disk took half of a line: end it, so that the next one can be read
      if (::write(descriptor_, "\n", 1) != 1) {
        return;
      }
      torn_ = false;
    }
    const std::size_t whole = line.size();
    while (!line.empty()) {
      const ssize_t done = ::write(descriptor_, line.data(), line.size());
      if (done > 0) {
        line.remove_prefix(static_cast<std::size_t>(done));
      } else if (done < 0 && errno == EAGAIN) {
        pollfd ready{.fd = descriptor_, .events = POLLOUT, .revents = 0};
        constexpr int patience_ms = 100;
        if (::poll(&ready, 1, patience_ms) <= 0) {
          break;
        }
      } else if (done == 0 || errno != EINTR) {
        break;
      }
    }
    torn_ = !line.empty() && line.size() != whole;
  }

 private:
  std::mutex mutex_;
  int descriptor_ = STDERR_FILENO;
  bool torn_ = false;
};

Sink& sink() {
  static auto* const one = new Sink;  // never destroyed: threads may log until the process is gone
  return *one;
}

std::string_view name_of(Level level) {
  switch (level) {
    case Level::debug: return "debug";
    case Level::info: return "info";
    case Level::warn: return "warn";
    case Level::error: return "error";
    case Level::off: break;
  }
  return "off";
}

template <class Number>
void append_number(std::string& out, Number number) {
  char text[32];
  const auto end = std::to_chars(std::begin(text), std::end(text), number);
  out.append(text, end.ptr);
}

void append_padded(std::string& out, unsigned number, unsigned width) {
  char text[10];
  for (unsigned i = width; i-- > 0;) {
    text[i] = static_cast<char>('0' + number % 10);
    number /= 10;
  }
  out.append(text, width);
}

void append_time(std::string& out) {
  using std::chrono::floor;
  const auto now = floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  const auto day = floor<std::chrono::days>(now);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss time(now - day);
  append_padded(out, static_cast<unsigned>(static_cast<int>(date.year())), 4);
  out.push_back('-');
  append_padded(out, static_cast<unsigned>(date.month()), 2);
  out.push_back('-');
  append_padded(out, static_cast<unsigned>(date.day()), 2);
  out.push_back('T');
  append_padded(out, static_cast<unsigned>(time.hours().count()), 2);
  out.push_back(':');
  append_padded(out, static_cast<unsigned>(time.minutes().count()), 2);
  out.push_back(':');
  append_padded(out, static_cast<unsigned>(time.seconds().count()), 2);
  out.push_back('.');
  append_padded(out, static_cast<unsigned>(time.subseconds().count()), 3);
  out.push_back('Z');
}

struct AppendValue {
  std::string& out;

  void operator()(std::string_view text) const { append_json_text(out, text); }
  void operator()(std::int64_t number) const { append_number(out, number); }
  void operator()(std::uint64_t number) const { append_number(out, number); }
  void operator()(bool value) const { out += value ? "true" : "false"; }
  void operator()(double number) const {
    if (std::isfinite(number)) {
      append_number(out, number);
    } else {
      out += "null";  // JSON has no infinity
    }
  }
};

}  // namespace

void log(Level level, std::string_view event, std::initializer_list<LogField> fields) {
  if (!log_enabled(level)) {
    return;
  }
  std::string line;
  constexpr std::size_t usual_bytes = 512;
  line.reserve(usual_bytes);
  line += R"({"time":")";
  append_time(line);
  line += R"(","level":")";
  line += name_of(level);
  line += R"(","event":)";
  append_json_text(line, event);
  for (const LogField& field : fields) {
    line.push_back(',');
    append_json_text(line, field.name);
    line.push_back(':');
    std::visit(AppendValue{line}, field.value);
  }
  line += "}\n";
  sink().write(line);
}

std::optional<Level> parse_level(std::string_view text) {
  for (const Level level : {Level::debug, Level::info, Level::warn, Level::error, Level::off}) {
    if (text == name_of(level)) {
      return level;
    }
  }
  return std::nullopt;
}

void set_log_level(Level level) { lowest.store(level, std::memory_order_relaxed); }

bool set_log_file(const std::string& path) { return sink().open(path); }

bool log_enabled(Level level) {
  return level != Level::off && level >= lowest.load(std::memory_order_relaxed);
}

}  // namespace hk::observe
