/// How long this disk takes to make a small append durable: 4 KiB, then fdatasync, one after the
/// other. Latencies of the server are judged in multiples of it.
///
///   sync_probe --dir DIR [--count 300]
#include <string>

#include "wire.h"

int main(int argc, char** argv) {
  using namespace hk::bench;
  std::string dir = ".";
  std::int64_t count = 300;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (flag == "--dir" && i + 1 < argc) {
      dir = argv[++i];
    } else if (flag == "--count" && i + 1 < argc) {
      count = to_number(argv[++i], flag);
    } else {
      die("usage: sync_probe --dir DIR [--count N]");
    }
  }

  const std::string path = dir + "/sync_probe." + std::to_string(getpid());
  const int fd = open(path.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
  if (fd < 0) {
    die("cannot create " + path + ": " + std::strerror(errno));
  }
  unlink(path.c_str());

  const std::string block(4096, 'x');
  Latencies latencies;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t start = now_ns();
    if (write(fd, block.data(), block.size()) != static_cast<ssize_t>(block.size()) ||
        fdatasync(fd) != 0) {
      die("write or fdatasync failed in " + dir + ": " + std::strerror(errno));
    }
    latencies.add(now_ns() - start);
  }
  close(fd);
  std::printf("{\"count\":%lld,%s}\n", static_cast<long long>(count), latencies.json().c_str());
}
