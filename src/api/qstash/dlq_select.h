/// Which dead letters a call means (§14.2, §14.4 of the wire specification): by ids, by message, or
/// by scanning the tenant's list in bounded pieces. For reads on I/O threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/options.h"
#include "api/qstash/filter.h"
#include "api/story.h"
#include "core/reader.h"

namespace hk::api::qstash {

inline constexpr std::size_t dead_letters_per_call_max = 100;
inline constexpr std::size_t dead_letter_ids_max = 1000;

struct DeadLetterQuery {
  core::TenantId tenant{};
  std::vector<std::string> ids{};
  std::optional<std::string> message_id{};
  std::vector<std::uint64_t> statuses{};
  Filter filter{};
  Paging paging{};
};

/// invalid_argument: an unknown parameter, a bad value, a cursor that is not ours.
Result<DeadLetterQuery> read_dead_letter_query(core::TenantId tenant, const Parameters& parameters);

struct DeadLetter {
  core::DeadLetterKey key{};
  Story story{};
};
struct DeadLetterPage {
  std::vector<DeadLetter> letters{};
  std::optional<std::string> cursor{};  ///< nullopt: nothing follows
};

/// The entry at `key`, or nullopt.
std::optional<DeadLetter> read_dead_letter(core::Reader& reader, const core::DeadLetterKey& key);

/// Entries named by query.ids, without looking at any filter. not_found: one of them is not there
/// and `all_must_exist`.
Result<std::vector<DeadLetter>> select_by_ids(core::Reader& reader, const DeadLetterQuery& query,
                                              bool all_must_exist);

/// One page of what the filters fit. invalid_argument: the cursor is not ours.
Result<DeadLetterPage> select_by_filter(core::Reader& reader, const DeadLetterQuery& query,
                                        const Options& options);

bool matches(const DeadLetterQuery& query, const DeadLetter& letter);

}  // namespace hk::api::qstash
