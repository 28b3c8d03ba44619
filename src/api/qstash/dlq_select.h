/// Which dead letters a call means (§14.2, §14.4 of the wire specification): by ids, by message, or
/// by scanning the tenant's list in bounded pieces. For reads on I/O threads.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "api/call.h"
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
  core::MessageFilter filter{};
  Paging paging{};
};

/// From the query, and from a JSON object in the body for the calls that take one.
/// invalid_argument: an unknown parameter or a bad value.
Result<DeadLetterQuery> read_dead_letter_query(const Call& call, bool with_json_body);

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

/// Those of query.ids that are there, once each, without looking at any filter. not_found: one of
/// them is not there and `all_must_exist`.
Result<std::vector<core::DeadLetterKey>> select_by_ids(core::Reader& reader,
                                                       const DeadLetterQuery& query,
                                                       bool all_must_exist);

/// One page of what the filters fit. invalid_argument: the cursor is not ours.
Result<DeadLetterPage> select_by_filter(core::Reader& reader, const DeadLetterQuery& query,
                                        const Options& options);

bool matches(const DeadLetterQuery& query, const DeadLetter& letter);

}  // namespace hk::api::qstash
