#include "observe/process_metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fstream>
#include <memory>
#include <sstream>
#include <string>

namespace hk::observe {
namespace {

/// Seconds since the Unix epoch at which the machine was started; 0 if it does not say.
double boot_time_seconds() {
  std::ifstream file("/proc/stat");
  std::string word;
  while (file >> word) {
    if (word == "btime") {
      double seconds = 0;
      file >> seconds;
      return seconds;
    }
  }
  return 0;
}

double read_start_time() {
  std::ifstream file("/proc/self/stat");
  std::string line;
  std::getline(file, line);
  // The second field is the name of the program in parentheses and may hold anything; the start, in
  // ticks after the boot, is the 22nd.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) {
    return 0;
  }
  std::istringstream rest(line.substr(name_end + 1));
  std::string skipped;
  for (int field = 3; field < 22; ++field) {
    rest >> skipped;
  }
  double ticks = 0;
  rest >> ticks;
  return boot_time_seconds() + ticks / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

struct CloseDirectory {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

}  // namespace

double resident_memory_bytes() {
  std::ifstream file("/proc/self/statm");
  double total_pages = 0;
  double resident_pages = 0;
  file >> total_pages >> resident_pages;
  return resident_pages * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

double open_descriptors() {
  const std::unique_ptr<DIR, CloseDirectory> directory(::opendir("/proc/self/fd"));
  if (directory == nullptr) {
    return 0;
  }
  int entries = 0;
  while (::readdir(directory.get()) != nullptr) {
    ++entries;
  }
  return entries - 3;  // ".", ".." and the descriptor of this listing
}

double descriptors_max() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : 0;
}

double start_time_seconds() {
  static const double seconds = read_start_time();
  return seconds;
}

double cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) {
    return 0;
  }
  return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

}  // namespace hk::observe
