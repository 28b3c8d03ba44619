/// The file WITNESS: the last batch that was made durable, and the chain hash after it, kept apart
/// from the log so that a log that was cut, emptied or replaced is noticed. Two slots of 4 KiB,
/// written in turn with O_DSYNC; a slot that was torn fails its checksum and the other one counts.
///
///   slot   "HKWITNES" | u64 generation | 16 bytes store id | u64 seq | 32 bytes hash | u32 CRC32C
///          of the bytes before it | zeros
///
/// The slot with the higher generation counts. One thread at a time.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "store/rocksdb/chain.h"
#include "store/rocksdb/file_io.h"

namespace hk::store {

/// Made at random with the directory: a WITNESS of another directory is told apart.
using StoreId = std::array<std::uint8_t, 16>;

class WitnessFile {
 public:
  /// A new file that witnesses `link`; replaces nothing. The directory is synced.
  static Result<WitnessFile> create(const std::string& directory, const StoreId& id,
                                    const Link& link);
  /// corruption: neither slot is whole.
  static Result<WitnessFile> open(const std::string& path);

  /// Returns when it is on the disk.
  Result<void> write(const Link& link);

  [[nodiscard]] const StoreId& id() const { return id_; }
  [[nodiscard]] const Link& link() const { return link_; }  ///< last written or found

 private:
  WitnessFile(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
  StoreId id_{};
  Link link_{};
  std::uint64_t generation_ = 0;
};

}  // namespace hk::store
