#include "api/story.h"

#include <gtest/gtest.h>

#include "fixture.h"

namespace hk::api::testing {
namespace HK_TEST_FILE {

using core::EventKind;
using core::Status;

Moment at(std::int64_t ms) { return now + Millis{ms}; }

core::Attempt attempt(std::uint32_t number, std::int64_t started, std::int64_t ended) {
  core::Attempt made;
  made.fence = {1, number};
  made.started_at = at(started);
  made.ended_at = at(ended);
  return made;
}

struct Told {
  EventKind kind;
  std::uint32_t attempt;
  std::int64_t ms;
};

TEST(History, TellsEveryPathThatAMessageCanTake) {
  struct Row {
    std::string_view name;
    core::MessageState state;
    std::vector<core::Attempt> attempts;
    std::optional<Story::Running> running;
    std::vector<Told> events;
  };
  const auto canceled = [](std::int64_t asked, std::int64_t finished, std::uint32_t attempts) {
    core::MessageState state;
    state.status = Status::canceled;
    state.attempts = attempts;
    state.cancel_requested = true;
    state.cancel_requested_at = at(asked);
    state.finished_at = at(finished);
    return state;
  };
  const auto ended = [](Status status, std::int64_t finished, std::uint32_t attempts) {
    core::MessageState state;
    state.status = status;
    state.attempts = attempts;
    state.finished_at = at(finished);
    return state;
  };
  core::MessageState waiting_again;
  waiting_again.attempts = 1;
  core::MessageState asked_while_running;
  asked_while_running.cancel_requested = true;
  asked_while_running.cancel_requested_at = at(3);
  core::MessageState delivered_although_canceled = ended(Status::succeeded, 9, 1);
  delivered_although_canceled.cancel_requested = true;
  delivered_although_canceled.cancel_requested_at = at(5);

  const Row rows[] = {
      {"accepted", {}, {}, {}, {{EventKind::created, 0, 0}}},
      {"running",
       {},
       {},
       Story::Running{1, at(2)},
       {{EventKind::created, 0, 0}, {EventKind::active, 1, 2}}},
      {"delivered at once",
       ended(Status::succeeded, 5, 1),
       {attempt(1, 1, 5)},
       {},
       {{EventKind::created, 0, 0}, {EventKind::active, 1, 1}, {EventKind::delivered, 1, 5}}},
      {"failed without retries",
       ended(Status::failed, 6, 1),
       {attempt(1, 1, 5)},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 1},
        {EventKind::error, 1, 5},
        {EventKind::failed, 1, 6}}},
      {"one retry, then failed",
       ended(Status::failed, 30, 2),
       {attempt(1, 1, 5), attempt(2, 20, 30)},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 1},
        {EventKind::error, 1, 5},
        {EventKind::retry, 1, 5},
        {EventKind::active, 2, 20},
        {EventKind::error, 2, 30},
        {EventKind::failed, 2, 30}}},
      {"waits for its retry",
       waiting_again,
       {attempt(1, 1, 5)},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 1},
        {EventKind::error, 1, 5},
        {EventKind::retry, 1, 5}}},
      {"canceled before the first attempt",
       canceled(3, 3, 0),
       {},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::cancel_requested, 0, 3},
        {EventKind::canceled, 0, 3}}},
      {"cancel asked for while it runs",
       asked_while_running,
       {},
       Story::Running{1, at(2)},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 2},
        {EventKind::cancel_requested, 0, 3}}},
      {"canceled while it ran",
       canceled(3, 9, 1),
       {attempt(1, 1, 8)},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 1},
        {EventKind::cancel_requested, 0, 3},
        {EventKind::error, 1, 8},
        {EventKind::canceled, 0, 9}}},
      {"delivered although canceled",
       delivered_although_canceled,
       {attempt(1, 1, 8)},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 1},
        {EventKind::cancel_requested, 0, 5},
        {EventKind::delivered, 1, 9}}},
      {"canceled while it waited for its retry",
       canceled(12, 12, 1),
       {attempt(1, 1, 8)},
       {},
       {{EventKind::created, 0, 0},
        {EventKind::active, 1, 1},
        {EventKind::error, 1, 8},
        {EventKind::retry, 1, 8},
        {EventKind::cancel_requested, 0, 12},
        {EventKind::canceled, 0, 12}}},
      {"a clock that stepped back is told in order",
       ended(Status::succeeded, 2, 1),
       {attempt(1, 4, 3)},
       {},
       {{EventKind::created, 0, 0}, {EventKind::active, 1, 4}, {EventKind::delivered, 1, 4}}},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    auto message = std::make_shared<core::Message>();
    message->created_at = now;
    Story story;
    story.message = message;
    story.state = row.state;
    story.attempts = row.attempts;
    story.running = row.running;

    std::vector<HistoryEntry> expected;
    for (const Told& one : row.events) {
      expected.push_back({one.kind, one.attempt, at(one.ms)});
    }
    EXPECT_EQ(history(story), expected);
  }
}

TEST(DeadLetterId, IsReadBackAndNothingElseIs) {
  const core::DeadLetterKey key{core::TenantId{3}, at(0), core::Seq{42}};

  EXPECT_EQ(dead_letter_id(key), "1700000000000-42");
  EXPECT_EQ(parse_dead_letter_id(core::TenantId{3}, "1700000000000-42"), key);
  for (const std::string_view text :
       {"", "-", "1-", "-1", "1", "a-1", "1-a", "1--1", "99999999999999999-1"}) {
    EXPECT_FALSE(parse_dead_letter_id(core::TenantId{3}, text)) << text;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::testing
