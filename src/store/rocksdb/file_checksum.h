/// The CRC32C of whole files that RocksDB notes in its manifest, as RocksDB's own generator makes
/// it and under the same name, so that either reads what the other wrote. But with the processor's
/// instruction: Debian's RocksDB is built for processors that have none, and its table was a
/// quarter of what a flush takes.
#pragma once

#include <rocksdb/file_checksum.h>

#include <memory>

namespace hk::store {

std::shared_ptr<rocksdb::FileChecksumGenFactory> make_file_checksums();

}  // namespace hk::store
