#include "api/qstash/dlq_select.h"

#include <algorithm>
#include <array>

#include "api/cursor.h"
#include "api/text.h"

namespace hk::api::qstash {

namespace {

constexpr std::array<std::string_view, 18> dlq_parameters = {
    "messageId",      "url",      "topicName", "queueName",      "scheduleId", "label",
    "flowControlKey", "callerIp", "callerIP",  "responseStatus", "fromDate",   "toDate",
    "dlqIds",         "count",    "cursor",    "order",          "trimBody",   "dlqId",
};

constexpr std::array<std::string_view, 2> dlq_id_parameters = {"dlqIds", "dlqId"};

constexpr std::size_t scan_step = 100;

/// Where the scan begins: behind the cursor, or at the edge of the asked-for dates.
std::optional<core::DeadLetterKey> first_place(const DeadLetterQuery& query) {
  const core::MessageFilter& filter = query.filter;
  if (query.paging.latest_first) {
    return filter.to == never ? std::nullopt
                              : std::optional(core::DeadLetterKey{
                                    query.tenant, filter.to + Millis{1}, core::Seq{0}});
  }
  return filter.from == Moment{}
             ? std::nullopt
             : std::optional(core::DeadLetterKey{query.tenant, filter.from - Millis{1},
                                                 core::Seq{UINT64_MAX}});
}

bool beyond_dates(const DeadLetterQuery& query, Moment failed_at) {
  return query.paging.latest_first ? failed_at < query.filter.from : failed_at > query.filter.to;
}

std::size_t weight(const DeadLetter& letter) {
  const Story& story = letter.story;
  return story.message->body.size() +
         (story.state.last ? story.state.last->response_body.size() : 0);
}

Result<DeadLetterQuery> understand(core::TenantId tenant, const Parameters& parameters) {
  if (const Result<void> known = parameters.only(dlq_parameters); !known) {
    return std::unexpected(known.error());
  }
  DeadLetterQuery query;
  query.tenant = tenant;
  query.ids = parameters.all("dlqIds");
  for (std::string& id : parameters.all("dlqId")) {
    query.ids.push_back(std::move(id));
  }
  if ((parameters.given("dlqIds") || parameters.given("dlqId")) && query.ids.empty()) {
    return fail(ErrorKind::invalid_argument,
                "dlqIds is empty: give at least one id, or leave it out to select by filter");
  }
  if (query.ids.size() > dead_letter_ids_max) {
    return fail(ErrorKind::invalid_argument,
                "at most " + std::to_string(dead_letter_ids_max) + " dlqIds in one call");
  }
  Result<std::optional<std::string>> message_id = parameters.one("messageId");
  if (!message_id) {
    return std::unexpected(message_id.error());
  }
  query.message_id = std::move(*message_id);
  const std::vector<std::string> statuses = parameters.all("responseStatus");
  if (const Result<void> few = check_count("responseStatus", statuses.size()); !few) {
    return std::unexpected(few.error());
  }
  for (const std::string& text : statuses) {
    const std::optional<std::uint64_t> status = parse_unsigned(text);
    if (!status) {
      return fail(ErrorKind::invalid_argument,
                  "responseStatus: \"" + text + "\" is not a whole number");
    }
    query.statuses.push_back(*status);
  }
  Result<core::MessageFilter> filter = read_filter(parameters);
  if (!filter) {
    return std::unexpected(filter.error());
  }
  query.filter = std::move(*filter);
  Result<Paging> paging =
      read_paging(parameters, dead_letters_per_call_max, dead_letters_per_call_max, false);
  if (!paging) {
    return std::unexpected(paging.error());
  }
  query.paging = std::move(*paging);
  return query;
}

/// `after` is exclusive, in the direction asked for.
std::vector<core::DeadLetterKey> read_step(core::Reader& reader, const DeadLetterQuery& query,
                                           const std::optional<core::DeadLetterKey>& after) {
  const bool latest_first = query.paging.latest_first;
  auto range = core::Range<core::DeadLetterKey>::of(query.tenant);
  if (after) {
    latest_first ? range.before(after->tenant, after->failed_at, after->seq)
                 : range.after(after->tenant, after->failed_at, after->seq);
  }
  return reader.scan(range, scan_step,
                     latest_first ? core::Order::descending : core::Order::ascending);
}

}  // namespace

Result<DeadLetterQuery> read_dead_letter_query(const Call& call, bool with_json_body) {
  Result<Parameters> parameters = Parameters::from_query(call.request.query());
  if (!parameters) {
    return std::unexpected(parameters.error());
  }
  if (with_json_body) {
    if (const Result<void> added = parameters->add_json(call.request.body, dlq_id_parameters);
        !added) {
      return std::unexpected(added.error());
    }
    const auto filled = check_filters_have_values(*parameters, {"messageId", "responseStatus"});
    if (!filled) {
      return std::unexpected(filled.error());
    }
  }
  return understand(call.tenant->id, *parameters);
}

std::optional<DeadLetter> read_dead_letter(core::Reader& reader, const core::DeadLetterKey& key) {
  if (!reader.get<core::DeadLetterKey>(key_of(key))) {
    return std::nullopt;
  }
  DeadLetter letter{key, read_story(reader, key.seq, false)};
  if (!letter.story.message || letter.story.message->tenant != key.tenant) {
    return std::nullopt;
  }
  return letter;
}

bool matches(const DeadLetterQuery& query, const DeadLetter& letter) {
  const Story& story = letter.story;
  if (letter.key.failed_at < query.filter.from || letter.key.failed_at > query.filter.to ||
      !query.filter.matches(*story.message)) {
    return false;
  }
  if (query.message_id && core::to_text(story.message->id) != *query.message_id) {
    return false;
  }
  const std::uint64_t status =
      story.state.last ? static_cast<std::uint64_t>(std::max(story.state.last->response_status, 0))
                       : 0;
  return query.statuses.empty() ||
         std::ranges::find(query.statuses, status) != query.statuses.end();
}

Result<std::vector<core::DeadLetterKey>> select_by_ids(core::Reader& reader,
                                                       const DeadLetterQuery& query,
                                                       bool all_must_exist) {
  std::vector<core::DeadLetterKey> found;
  for (const std::string& id : query.ids) {
    const std::optional<core::DeadLetterKey> key = parse_dead_letter_id(query.tenant, id);
    if (key && reader.get<core::DeadLetterKey>(key_of(*key))) {
      if (std::ranges::find(found, *key) == found.end()) {
        found.push_back(*key);
      }
    } else if (all_must_exist) {
      return fail(ErrorKind::not_found, "dead letter " + id + " not found; nothing was done");
    }
  }
  return found;
}

Result<DeadLetterPage> select_by_filter(core::Reader& reader, const DeadLetterQuery& query,
                                        const Options& options) {
  const CursorScope scope{Listing::dead_letters, query.tenant, query.paging.latest_first};
  std::optional<core::DeadLetterKey> after = first_place(query);
  if (query.paging.cursor) {
    const std::optional<CursorPlace> place = decode_cursor(scope, *query.paging.cursor);
    if (!place) {
      return fail(ErrorKind::invalid_argument, "cursor: not a cursor of this list in this order");
    }
    after =
        core::DeadLetterKey{query.tenant, moment_from_ms(static_cast<std::int64_t>((*place)[0])),
                            core::Seq{(*place)[1]}};
  }
  const auto cursor_at = [&](const core::DeadLetterKey& key) {
    return encode_cursor(scope,
                         {static_cast<std::uint64_t>(to_ms(key.failed_at)), key.seq.value(), 0});
  };

  DeadLetterPage page;
  if (query.message_id) {  // it can be in one place only
    std::optional<Story> story = find_story(reader, query.tenant, *query.message_id, false);
    if (story && story->state.in_dlq) {
      std::optional<DeadLetter> letter = read_dead_letter(reader, dead_letter_key(*story));
      if (letter && matches(query, *letter)) {
        page.letters.push_back(std::move(*letter));
      }
    }
    return page;
  }

  std::size_t scanned = 0;
  std::size_t bytes = 0;  // of all that is read: what does not fit costs as much as what does
  while (true) {
    const std::vector<core::DeadLetterKey> keys = read_step(reader, query, after);
    for (const core::DeadLetterKey& key : keys) {
      if (beyond_dates(query, key.failed_at)) {
        return page;
      }
      if (scanned++ == options.scanned_per_listing_max || bytes > options.listing_bytes_max) {
        page.cursor = cursor_at(*after);
        return page;
      }
      std::optional<DeadLetter> letter = read_dead_letter(reader, key);
      bytes += letter ? weight(*letter) : 0;
      if (letter && matches(query, *letter)) {
        // One more that fits is how we know that a next page is not empty.
        if (page.letters.size() == query.paging.count ||
            (!page.letters.empty() && bytes > options.listing_bytes_max)) {
          page.cursor = cursor_at(*after);
          return page;
        }
        page.letters.push_back(std::move(*letter));
      }
      after = key;
    }
    if (keys.size() < scan_step) {
      return page;
    }
  }
}

}  // namespace hk::api::qstash
