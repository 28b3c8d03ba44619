#include "store/rocksdb/file_checksum.h"

#include <cstdint>
#include <string>

#include "base/bytes.h"
#include "security/digest.h"

namespace hk::store {
namespace {

constexpr const char* name_on_disk = "FileChecksumCrc32c";

class Crc32cOfFile final : public rocksdb::FileChecksumGenerator {
 public:
  void Update(const char* data, std::size_t count) override {
    checksum_ = security::crc32c({data, count}, checksum_);
  }
  void Finalize() override { append_be(bytes_, checksum_); }
  [[nodiscard]] std::string GetChecksum() const override { return bytes_; }
  [[nodiscard]] const char* Name() const override { return name_on_disk; }

 private:
  std::uint32_t checksum_ = 0;
  std::string bytes_;
};

class Factory final : public rocksdb::FileChecksumGenFactory {
 public:
  std::unique_ptr<rocksdb::FileChecksumGenerator> CreateFileChecksumGenerator(
      const rocksdb::FileChecksumGenContext& context) override {
    const std::string& wanted = context.requested_checksum_func_name;
    return wanted.empty() || wanted == name_on_disk ? std::make_unique<Crc32cOfFile>() : nullptr;
  }
  [[nodiscard]] const char* Name() const override { return "FileChecksumGenCrc32cFactory"; }
};

}  // namespace

std::shared_ptr<rocksdb::FileChecksumGenFactory> make_file_checksums() {
  return std::make_shared<Factory>();
}

}  // namespace hk::store
