#include "store/rocksdb/info_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>

namespace hk::store {
namespace {

/// Of one life of the server.
constexpr std::size_t bytes_max = std::size_t{4} << 20U;
constexpr std::size_t line_bytes_max = 2000;

}  // namespace

InfoLog::InfoLog(const std::string& directory) : Logger(rocksdb::InfoLogLevel::WARN_LEVEL) {
  const std::string path = directory + "/LOG";
  const bool kept = std::rename(path.c_str(), (path + ".old").c_str()) == 0;
  file_ = Fd(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | (kept ? 0 : O_TRUNC), 0600));
  bytes_left_ = file_.valid() ? bytes_max : 0;
}

void InfoLog::Logv(const char* format, std::va_list arguments) {
  std::array<char, line_bytes_max> line{};
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::size_t size = std::strftime(line.data(), line.size(), "%FT%TZ ", &utc);
  const int text = std::vsnprintf(line.data() + size, line.size() - size, format, arguments);
  // The last byte is for the end of the line.
  size = std::min(size + static_cast<std::size_t>(std::max(text, 0)), line.size() - 1);
  line[size++] = '\n';
  std::size_t left = bytes_left_.load();
  while (left >= size && !bytes_left_.compare_exchange_weak(left, left - size)) {
  }
  if (left < size || ::write(file_.get(), line.data(), size) < 0) {
    // Nobody to tell: what matters is said by the call that failed.
  }
}

}  // namespace hk::store
