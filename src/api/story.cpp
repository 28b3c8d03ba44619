#include "api/story.h"

#include <algorithm>

#include "api/text.h"
#include "core/message/callback.h"

namespace hk::api {

using core::EventKind;
using core::Status;

const core::Attempt* Story::attempt(std::uint32_t number) const {
  for (const core::Attempt& one : attempts) {
    if (one.fence.attempt == number) {
      return &one;
    }
  }
  return nullptr;
}

Moment Story::next_delivery(std::uint32_t after_attempt) const {
  if (after_attempt == 0) {
    return std::max(message->not_before, message->created_at);
  }
  for (const core::Attempt& one : attempts) {
    if (one.fence.attempt > after_attempt) {
      return one.started_at;
    }
  }
  return state.due;
}

Moment Story::not_before() const {
  return std::max({message->not_before, message->created_at, state.due});
}

Story read_story(core::Reader& reader, core::Seq seq, bool with_attempts) {
  Story story;
  story.message = reader.get<core::Message>(seq);
  if (!story.message) {
    return story;
  }
  if (std::optional<core::MessageState> stored = reader.get<core::MessageState>(seq)) {
    story.state = std::move(*stored);
  } else {
    story.state.due = std::max(story.message->not_before, story.message->created_at);
  }
  if (with_attempts) {
    if (story.state.attempts > 1) {
      for (auto& [key, attempt] : reader.scan(core::Range<core::Attempt>::of(seq))) {
        story.attempts.push_back(std::move(attempt));
      }
    }
    if (story.state.last) {
      story.attempts.push_back(*story.state.last);
    }
  }
  return story;
}

std::optional<Story> find_story(core::Reader& reader, core::TenantId tenant,
                                std::string_view id_text, bool with_attempts) {
  const std::optional<core::MessageId> id = core::parse_message_id(id_text);
  if (!id) {
    return std::nullopt;
  }
  Story story = read_story(reader, id->seq, with_attempts);
  // The delivery of a webhook is known by other names (jobs/job.cpp).
  if (!story.message || story.message->id != *id || story.message->tenant != tenant ||
      story.message->webhook) {
    return std::nullopt;
  }
  return story;
}

namespace {

/// Appends with times that never run backwards.
class Timeline {
 public:
  void add(EventKind kind, std::uint32_t attempt, Moment time) {
    last_ = std::max(last_, time);
    entries_.push_back({kind, attempt, last_});
  }
  std::vector<HistoryEntry> take() { return std::move(entries_); }

 private:
  std::vector<HistoryEntry> entries_;
  Moment last_{};
};

/// Did the wish to cancel come while the last finished attempt ran? A message that waits is
/// canceled in the very batch of the wish; one that runs, when its attempt ends.
bool canceled_while_last_ran(const core::MessageState& state) {
  return state.cancel_requested && core::is_final(state.status) &&
         (state.status != Status::canceled || state.finished_at > state.cancel_requested_at);
}

/// The events that ended a finished attempt.
void add_end(Timeline& line, const core::MessageState& state, const core::Attempt& attempt,
             bool is_last) {
  const std::uint32_t number = attempt.fence.attempt;
  const bool ended_it = is_last && core::is_final(state.status);
  if (ended_it && state.status == Status::succeeded) {
    line.add(EventKind::delivered, number, state.finished_at);
    return;
  }
  line.add(EventKind::error, number, attempt.ended_at);
  if (ended_it && state.status == Status::failed) {
    line.add(EventKind::failed, number, state.finished_at);
  } else if (!ended_it || !canceled_while_last_ran(state)) {
    line.add(EventKind::retry, number, attempt.ended_at);
  }
}

}  // namespace

std::vector<HistoryEntry> history(const Story& story) {
  const core::MessageState& state = story.state;
  Timeline line;
  line.add(EventKind::created, 0, story.message->created_at);
  bool cancel_told = !state.cancel_requested;
  for (std::size_t i = 0; i < story.attempts.size(); ++i) {
    const core::Attempt& attempt = story.attempts[i];
    const bool is_last = i + 1 == story.attempts.size();
    line.add(EventKind::active, attempt.fence.attempt, attempt.started_at);
    if (is_last && canceled_while_last_ran(state)) {
      line.add(EventKind::cancel_requested, 0, state.cancel_requested_at);
      cancel_told = true;
    }
    add_end(line, state, attempt, is_last);
  }
  if (story.running && !core::is_final(state.status)) {
    line.add(EventKind::active, story.running->attempt, story.running->started_at);
  }
  if (!cancel_told) {
    line.add(EventKind::cancel_requested, 0, state.cancel_requested_at);
  }
  if (state.status == Status::canceled) {
    line.add(EventKind::canceled, 0, state.finished_at);
  }
  return line.take();
}

std::optional<core::DeadLetterKey> parse_dead_letter_id(core::TenantId tenant,
                                                        std::string_view text) {
  const std::size_t dash = text.find('-');
  if (dash == std::string_view::npos) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> failed_at = parse_unsigned(text.substr(0, dash));
  const std::optional<std::uint64_t> seq = parse_unsigned(text.substr(dash + 1));
  if (!failed_at || !seq || *failed_at > static_cast<std::uint64_t>(to_ms(never))) {
    return std::nullopt;
  }
  return core::DeadLetterKey{tenant, moment_from_ms(static_cast<std::int64_t>(*failed_at)),
                             core::Seq{*seq}};
}

std::string dead_letter_id(const core::DeadLetterKey& key) { return core::to_text(key); }

core::DeadLetterKey dead_letter_key(const Story& story) {
  return {story.message->tenant, story.state.finished_at, story.message->id.seq};
}

}  // namespace hk::api
