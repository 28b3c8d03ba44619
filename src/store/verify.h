/// Checks what is stored against the rules that hold between records, by reading all of it once:
/// `hikyaku verify`, the simulator at the end of a run, and tests. On any thread, on a snapshot:
/// the store may go on meanwhile. Memory: 8 bytes for each index entry and each dead letter, and a
/// little for each source of callbacks that are not final and each application of webhooks.
///
///   - every key and every record can be read;
///   - every unfinished message will be found at the next start: it has exactly one entry in its
///   lane, at
///     its place; or it is too young for one (no state record, and seq > Meta::indexed_up_to);
///   - no index entry belongs to a missing message or to another lane; one of a final message says
///     so, and that message waits in its queue for exactly the callbacks that are not final;
///   - a dead letter is a failed message whose state says that it is one, and the other way round;
///   - attempts and states belong to a message; a dedup entry names the message that has its id;
///   - a task that has ended says so; those that move messages, and counts of delayed messages, are
///   of
///     a queue that is there;
///   - event batches of a tenant are in order and refer to numbers that were given out;
///   - a name of webhooks leads to what has that name, and the other way round; endpoints, tokens
///   and integrations are of an application that is there, and it counts them;
///   - counters are conserved, and equal what can be counted again.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "store/store.h"

namespace hk::store {

struct VerifyReport {
  std::array<std::uint64_t, table_places> rows{};  ///< by table
  std::uint64_t unfinished = 0;
  std::uint64_t without_index = 0;  ///< of them: too young for an index entry
  std::uint64_t problem_count = 0;
  std::vector<std::string> problems{};  ///< the first ones, each a sentence

  [[nodiscard]] bool ok() const { return problem_count == 0; }
};

inline constexpr std::size_t problems_listed_max = 100;

/// Damage is a problem of the report. An error means that reading failed for another reason.
Result<VerifyReport> verify(Reader& reader);

}  // namespace hk::store
