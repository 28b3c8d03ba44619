#include "store/rocksdb/witness_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/bytes.h"

namespace hk::store {
namespace {

constexpr std::size_t slot_bytes = 4096;
constexpr std::string_view magic = "HKWITNES";
constexpr std::size_t content_bytes = 8 + 8 + 16 + 8 + 32;

struct Slot {
  std::uint64_t generation = 0;
  StoreId id{};
  Link link{};
};

std::string to_bytes(const Slot& slot) {
  std::string bytes(magic);
  append_be(bytes, slot.generation);
  bytes.append(slot.id.begin(), slot.id.end());
  append_be(bytes, slot.link.seq);
  bytes.append(slot.link.hash.begin(), slot.link.hash.end());
  append_be(bytes, security::crc32c(bytes));
  bytes.resize(slot_bytes);
  return bytes;
}

std::optional<Slot> parse_slot(std::string_view bytes) {
  if (bytes.size() != slot_bytes || !bytes.starts_with(magic) ||
      read_be<std::uint32_t>(bytes.substr(content_bytes)) !=
          security::crc32c(bytes.substr(0, content_bytes))) {
    return std::nullopt;
  }
  const auto to_byte = [](char c) { return static_cast<std::uint8_t>(c); };
  Slot slot;
  slot.generation = read_be<std::uint64_t>(bytes.substr(8));
  std::ranges::transform(bytes.substr(16, slot.id.size()), slot.id.begin(), to_byte);
  slot.link.seq = read_be<std::uint64_t>(bytes.substr(32));
  std::ranges::transform(bytes.substr(40, slot.link.hash.size()), slot.link.hash.begin(), to_byte);
  return slot;
}

/// O_DSYNC: a write returns when its bytes are on the disk.
constexpr int write_flags = O_RDWR | O_DSYNC | O_CLOEXEC;

}  // namespace

Result<WitnessFile> WitnessFile::create(const std::string& directory, const StoreId& id,
                                        const Link& link) {
  // Both slots are written whole, so that later writes change no metadata.
  const Slot first{.generation = 0, .id = id, .link = link};
  const Slot second{.generation = 1, .id = id, .link = link};
  if (auto written = write_whole_file(directory, "WITNESS", to_bytes(first) + to_bytes(second));
      !written) {
    return std::unexpected(written.error());
  }
  return open(directory + "/WITNESS");
}

Result<WitnessFile> WitnessFile::open(const std::string& path) {
  auto content = read_whole_file(path, 2 * slot_bytes);
  if (!content) {
    return std::unexpected(content.error());
  }
  std::optional<Slot> newest;
  for (std::size_t at = 0; at + slot_bytes <= content->size(); at += slot_bytes) {
    const auto slot = parse_slot(std::string_view(*content).substr(at, slot_bytes));
    if (slot && (!newest || slot->generation > newest->generation)) {
      newest = slot;
    }
  }
  if (!newest) {
    return fail(ErrorKind::corruption,
                path +
                    " is damaged: neither of its two slots is whole, so nobody can say which "
                    "batch was acknowledged last. Restore the directory from a backup.");
  }
  Fd fd(::open(path.c_str(), write_flags));
  if (!fd.valid()) {
    return io_error("cannot open for writing", path, errno);
  }
  WitnessFile file(path, std::move(fd));
  file.id_ = newest->id;
  file.link_ = newest->link;
  file.generation_ = newest->generation;
  return file;
}

Result<void> WitnessFile::write(const Link& link) {
  const Slot slot{.generation = generation_ + 1, .id = id_, .link = link};
  const std::string bytes = to_bytes(slot);
  const auto offset = static_cast<off_t>(slot.generation % 2 * slot_bytes);
  ssize_t written = 0;
  do {
    written = ::pwrite(fd_.get(), bytes.data(), bytes.size(), offset);
  } while (written < 0 && errno == EINTR);
  if (written != static_cast<ssize_t>(bytes.size())) {
    return io_error("cannot write", path_, written < 0 ? errno : ENOSPC);
  }
  generation_ = slot.generation;
  link_ = link;
  return {};
}

}  // namespace hk::store
