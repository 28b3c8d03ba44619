#include "store/rocksdb/recovery.h"

#include <sys/random.h>

#include <cerrno>

namespace hk::store {
namespace {

Result<StoreId> random_id() {
  StoreId id{};
  if (::getrandom(id.data(), id.size(), 0) != static_cast<ssize_t>(id.size())) {
    return io_error("cannot read random bytes from", "the operating system", errno);
  }
  return id;
}

std::string short_hex(const ChainHash& hash) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    out.push_back(digits[hash[i] >> 4U]);
    out.push_back(digits[hash[i] & 15U]);
  }
  return out;
}

std::unexpected<Error> refuse(const DataDir& dir, const Link& witnessed, const Link& recovered,
                              const std::string& what) {
  return fail(
      ErrorKind::corruption,
      "refusing to start: " + what + ". " + dir.witness_path() + " says that batch " +
          std::to_string(witnessed.seq) + " (chain " + short_hex(witnessed.hash) +
          ") was acknowledged; the log and tables in " + dir.path() + " hold batches up to " +
          std::to_string(recovered.seq) + " (chain " + short_hex(recovered.hash) +
          "). Keep a copy of the directory, check the disk and who has touched its files (*.log, "
          "*.sst, MANIFEST-*), and restore the last backup or the missing files." +
          // 0 stands for none: there would be nothing to go on with.
          (recovered.seq == 0
               ? std::string()
               : " To go on without what is missing, start once with --accept-loss-after " +
                     std::to_string(recovered.seq) + "."));
}

}  // namespace

Result<WitnessFile> open_witness(const DataDir& dir) {
  if (file_exists(dir.witness_path())) {
    return WitnessFile::open(dir.witness_path());
  }
  // The witness is made before the database, so a database without one has lost it.
  if (dir.has_database()) {
    return fail(ErrorKind::corruption,
                dir.witness_path() +
                    " is missing, so nobody can say which batch was acknowledged last. Put the "
                    "file back, or restore the directory from a backup.");
  }
  auto id = random_id();
  if (!id) {
    return std::unexpected(id.error());
  }
  return WitnessFile::create(dir.path(), *id, Link{});
}

Result<Link> recover(Database& database, const DataDir& dir, const WitnessFile& witness,
                     std::optional<BatchSeq> accept_loss_after) {
  const Link witnessed = witness.link();
  auto id = database.read_id();
  if (!id) {
    return std::unexpected(id.error());
  }
  auto chain = database.read_chain();
  if (!chain) {
    return std::unexpected(chain.error());
  }
  const Link recovered = chain->last();
  if (*id && **id != witness.id()) {
    return fail(ErrorKind::corruption, dir.witness_path() +
                                           " belongs to another data directory. Put the right "
                                           "file back, or restore the directory from a backup.");
  }
  if (!*id && recovered.seq != 0) {
    return refuse(dir, witnessed, recovered, "the store's id is gone");
  }

  const bool accepted = accept_loss_after && *accept_loss_after == recovered.seq;
  if (recovered.seq < witnessed.seq && !accepted) {
    return refuse(dir, witnessed, recovered,
                  "acknowledged batches " + std::to_string(recovered.seq + 1) + " to " +
                      std::to_string(witnessed.seq) + " are missing");
  }
  if (recovered.seq >= witnessed.seq && chain->at(witnessed.seq) != witnessed.hash && !accepted) {
    return refuse(dir, witnessed, recovered,
                  "the history up to batch " + std::to_string(witnessed.seq) +
                      " is not the one that was acknowledged");
  }
  if (!*id) {
    if (auto written = database.write_id(witness.id()); !written) {
      return std::unexpected(written.error());
    }
  }
  return recovered;
}

}  // namespace hk::store
