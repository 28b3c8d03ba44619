// The two ways to a page of events: scanning the log, and telling what happened to named messages.
#include <algorithm>
#include <tuple>
#include <unordered_map>

#include "api/cursor.h"
#include "api/qstash/event_query.h"
#include "api/text.h"

namespace hk::api::qstash {

namespace {

constexpr std::size_t batches_per_read = 32;
constexpr std::size_t story_bytes_kept = std::size_t{8} * 1024 * 1024;

std::unexpected<Error> bad_cursor() {
  return fail(ErrorKind::invalid_argument,
              "cursor: neither a cursor of this list in this order nor a time in milliseconds");
}

/// Takes events until the page is full; then the next one only proves that more follow.
class PageWriter {
 public:
  PageWriter(core::Reader& reader, const EventQuery& query, const Options& options)
      : flows_(reader),
        style_{query.paging.with_bodies, options.timeout_default},
        count_max_(query.paging.count),
        bytes_max_(options.listing_bytes_max),
        json_(page_.events) {
    page_.events.clear();
    json_.begin_array();
  }

  /// False: the page was full before this one.
  bool add(const HistoryEntry& event, const Story& story) {
    if (page_.count == count_max_ || (page_.count > 0 && page_.events.size() > bytes_max_)) {
      return false;
    }
    write_event(json_, event, story, flows_, style_);
    ++page_.count;
    return true;
  }

  EventPage finish(std::optional<std::string> cursor) {
    json_.end_array();
    page_.cursor = std::move(cursor);
    return std::move(page_);
  }

 private:
  EventPage page_;
  FlowLimits flows_;
  EventStyle style_;
  std::size_t count_max_;
  std::size_t bytes_max_;
  JsonWriter json_;
};

/// The events of one message stand close together: read each message once while they pass by.
class Stories {
 public:
  explicit Stories(core::Reader& reader) : reader_(reader) {}

  const Story& of(core::Seq seq) {
    const auto known = stories_.find(seq);
    if (known != stories_.end()) {
      return known->second;
    }
    Story story = read_story(reader_, seq, true);
    const std::size_t size = weight(story);
    read_ += size;
    bytes_ += 1024 + size;
    if (bytes_ > story_bytes_kept) {
      stories_.clear();
      bytes_ = 0;
    }
    return stories_.emplace(seq, std::move(story)).first->second;
  }
  /// Since the beginning.
  [[nodiscard]] std::size_t bytes_read() const { return read_; }

 private:
  static std::size_t weight(const Story& story) {
    std::size_t bytes = story.message ? story.message->body.size() : 0;
    for (const core::Attempt& one : story.attempts) {
      bytes += one.response_body.size();
    }
    return bytes;
  }

  core::Reader& reader_;
  std::unordered_map<core::Seq, Story> stories_;
  std::size_t bytes_ = 0;  ///< kept
  std::size_t read_ = 0;
};

/// One event of the log and its place there.
struct LogPlace {
  Moment time{};
  std::uint64_t batch = 0;
  std::size_t index = 0;
};

/// What is left to read of the log. One page may end in the middle of a batch: the next begins with
/// that batch again.
core::Range<core::Events> rest_of_log(const EventQuery& query,
                                      const std::optional<LogPlace>& resume) {
  auto range = core::Range<core::Events>()
                   .from(query.tenant, query.filter.from)
                   .up_to(query.tenant, query.filter.to);
  if (resume) {
    query.paging.latest_first ? range.up_to(query.tenant, resume->time, resume->batch)
                              : range.from(query.tenant, resume->time, resume->batch);
  }
  return range;
}

}  // namespace

Result<EventPage> scan_events(core::Reader& reader, EventQuery query, const Options& options) {
  const bool latest_first = query.paging.latest_first;
  const CursorScope scope{Listing::event_log, query.tenant, latest_first};
  std::optional<LogPlace> resume;
  if (query.paging.cursor) {
    if (const std::optional<std::uint64_t> ms = parse_unsigned(*query.paging.cursor)) {
      const auto latest = static_cast<std::uint64_t>(to_ms(query.filter.to));
      query.filter.to = moment_from_ms(static_cast<std::int64_t>(std::min(*ms, latest)));
    } else if (const std::optional<CursorPlace> place =
                   decode_cursor(scope, *query.paging.cursor)) {
      resume = LogPlace{moment_from_ms(static_cast<std::int64_t>((*place)[0])), (*place)[1],
                        static_cast<std::size_t>((*place)[2])};
    } else {
      return bad_cursor();
    }
  }

  PageWriter page(reader, query, options);
  Stories stories(reader);
  core::Range<core::Events> rest = rest_of_log(query, resume);
  std::optional<LogPlace> last = resume;
  std::size_t scanned = 0;
  const auto cursor_at_last = [&] {
    return encode_cursor(scope,
                         {static_cast<std::uint64_t>(to_ms(last->time)), last->batch, last->index});
  };
  while (true) {
    const std::vector<core::Events> batches = reader.scan(
        rest, batches_per_read, latest_first ? core::Order::descending : core::Order::ascending);
    for (const core::Events& batch : batches) {
      const bool resumed = resume && resume->time == batch.time && resume->batch == batch.batch;
      const std::size_t size = batch.events.size();
      for (std::size_t step = 0; step < size; ++step) {
        const std::size_t index = latest_first ? size - 1 - step : step;
        if (resumed && (latest_first ? index >= resume->index : index <= resume->index)) {
          continue;
        }
        const core::EventRef& ref = batch.events[index];
        if (scanned++ == options.scanned_per_listing_max ||
            stories.bytes_read() > options.listing_bytes_max) {
          return page.finish(cursor_at_last());
        }
        if (query.wants(ref.kind)) {
          const Story& story = stories.of(ref.seq);
          // A message that was purged took its content along: there is nothing left to tell.
          const bool told = story.message && query.filter.matches(*story.message);
          if (told && !page.add({ref.kind, ref.attempt, batch.time}, story)) {
            return page.finish(cursor_at_last());
          }
        }
        last = LogPlace{batch.time, batch.batch, index};
      }
      latest_first ? rest.before(batch.tenant, batch.time, batch.batch)
                   : rest.after(batch.tenant, batch.time, batch.batch);
    }
    if (batches.size() < batches_per_read) {
      return page.finish(std::nullopt);
    }
  }
}

Result<EventPage> tell_events(core::Reader& reader, const EventQuery& query,
                              const std::vector<Story>& stories, const Options& options) {
  const bool latest_first = query.paging.latest_first;
  const CursorScope scope{Listing::message_events, query.tenant, latest_first};

  struct Told {
    HistoryEntry entry{};
    const Story* story = nullptr;
    std::uint64_t position = 0;  // within its message
    [[nodiscard]] std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> place() const {
      return {static_cast<std::uint64_t>(to_ms(entry.time)), story->message->id.seq.value(),
              position};
    }
  };
  Moment to = query.filter.to;
  std::optional<std::tuple<std::uint64_t, std::uint64_t, std::uint64_t>> after;
  if (query.paging.cursor) {
    if (const std::optional<std::uint64_t> ms = parse_unsigned(*query.paging.cursor)) {
      const auto latest = static_cast<std::uint64_t>(to_ms(to));
      to = moment_from_ms(static_cast<std::int64_t>(std::min(*ms, latest)));
    } else if (const std::optional<CursorPlace> place =
                   decode_cursor(scope, *query.paging.cursor)) {
      after = {(*place)[0], (*place)[1], (*place)[2]};
    } else {
      return bad_cursor();
    }
  }

  std::vector<Told> all;
  for (const Story& story : stories) {
    if (!query.filter.matches(*story.message)) {
      continue;
    }
    std::uint64_t position = 0;
    for (const HistoryEntry& entry : history(story)) {
      const bool in_range = entry.time >= query.filter.from && entry.time <= to;
      if (in_range && query.wants(entry.kind)) {
        all.push_back({entry, &story, position});
      }
      ++position;
    }
  }
  std::ranges::sort(all, [&](const Told& a, const Told& b) {
    return latest_first ? b.place() < a.place() : a.place() < b.place();
  });

  PageWriter page(reader, query, options);
  const Told* last = nullptr;
  for (const Told& one : all) {
    if (after && (latest_first ? one.place() >= *after : one.place() <= *after)) {
      continue;
    }
    if (!page.add(one.entry, *one.story)) {
      const auto [time, seq, position] = last->place();
      return page.finish(encode_cursor(scope, {time, seq, position}));
    }
    last = &one;
  }
  return page.finish(std::nullopt);
}

}  // namespace hk::api::qstash
