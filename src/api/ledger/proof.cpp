#include "api/ledger/proof.h"

namespace hk::api::ledger {

namespace {

using core::Reader;
using core::ledger::Checkpoint;
using core::ledger::Hash;
using core::ledger::Record;

constexpr std::size_t records_of_piece = 256;
constexpr std::string_view checkpoint_word = "checkpoint";

CheckpointAt read_checkpoint(const Record& record) {
  auto payload = core::ledger::decode(record.kind, record.payload);
  auto* const checkpoint = payload ? std::get_if<Checkpoint>(&*payload) : nullptr;
  if (checkpoint == nullptr) {
    throw core::CorruptRecord("the checkpoint " + std::to_string(record.seq) +
                              " of a ledger cannot be read");
  }
  return {record.seq, std::move(*checkpoint)};
}

/// The first one behind `after`.
std::optional<CheckpointAt> next_checkpoint(Reader& reader, const BookPlace& place,
                                            std::uint64_t after) {
  for (;;) {
    const auto records =
        core::ledger::records_after(reader, place.tenant, place.book, after, records_of_piece);
    for (const Record& record : records) {
      if (record.kind == checkpoint_word) {
        return read_checkpoint(record);
      }
    }
    if (records.size() < records_of_piece) {
      return std::nullopt;
    }
    after = records.back().seq;
  }
}

}  // namespace

std::optional<Proof> proof_of(Reader& reader, const BookPlace& place, std::uint64_t seq) {
  auto covering = next_checkpoint(reader, place, seq);
  if (!covering || covering->checkpoint.first_seq > seq) {
    return std::nullopt;
  }
  const Checkpoint& checkpoint = covering->checkpoint;
  std::vector<Hash> hashes;
  for (const Record& record : core::ledger::records_after(
           reader, place.tenant, place.book, checkpoint.first_seq - 1,
           static_cast<std::size_t>(checkpoint.last_seq - checkpoint.first_seq + 1))) {
    hashes.push_back(record.hash);
  }
  const std::uint64_t index = seq - checkpoint.first_seq;
  if (index >= hashes.size()) {
    throw core::CorruptRecord("records of a ledger's checkpoint are missing");
  }
  auto path = core::ledger::merkle_path(hashes, static_cast<std::size_t>(index));
  return Proof{std::move(*covering), index, std::move(path)};
}

}  // namespace hk::api::ledger
