// Arbitrary bytes of a replication connection: a frame, and in it a message, is read whole or
// refused, and whatever comes, a position is confirmed only after a look and never goes back.
#include <cstdint>
#include <string_view>

#include "base/assert.h"
#include "outbox/source/slot_progress.h"

using namespace hk;
using namespace hk::outbox;

namespace {

bool within(std::string_view whole, std::string_view part) {
  return part.empty() ||
         (part.data() >= whole.data() && part.data() + part.size() <= whole.data() + whole.size());
}

void check_change(std::string_view bytes, const pgoutput::Change& change) {
  if (const auto* message = std::get_if<pgoutput::Message>(&change)) {
    HK_ASSERT(within(bytes, message->prefix) && within(bytes, message->content));
  }
  if (const auto* relation = std::get_if<pgoutput::Relation>(&change)) {
    HK_ASSERT(relation->columns.size() < bytes.size());
  }
  if (const auto* truncate = std::get_if<pgoutput::Truncate>(&change)) {
    HK_ASSERT(truncate->relations.size() * 4 < bytes.size());
  }
}

}  // namespace

/// Frames, each after a byte that is its length.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  SlotProgress progress{"hikyaku_outbox"};
  progress.restart(1);
  Lsn owed = 0;  // the last commit with a row in it
  bool row = false;
  while (!rest.empty()) {
    const std::string_view bytes = rest.substr(1, static_cast<unsigned char>(rest.front()));
    rest.remove_prefix(1 + bytes.size());
    const Lsn before = progress.confirmed();
    const auto frame = decode_frame(bytes);
    if (!frame) {
      HK_ASSERT(!frame.error().message.empty());
      continue;
    }
    if (const auto* keepalive = std::get_if<Keepalive>(&*frame)) {
      progress.on_keepalive(keepalive->end);
    } else if (const auto change = pgoutput::decode(std::get<WalData>(*frame).data)) {
      check_change(bytes, *change);
      progress.on_change(*change);
      row = (row || std::holds_alternative<pgoutput::Insert>(*change)) &&
            !std::holds_alternative<pgoutput::Begin>(*change);
      if (const auto* commit = std::get_if<pgoutput::Commit>(&*change); commit != nullptr && row) {
        owed = std::max(owed, commit->end_lsn);
        HK_ASSERT(progress.confirmed() == before);  // it was not looked for yet
      }
    }
    HK_ASSERT(progress.confirmed() >= before);
  }
  (void)progress.take_due();
  (void)progress.looked_through();
  HK_ASSERT(progress.confirmed() >= owed);
  return 0;
}
