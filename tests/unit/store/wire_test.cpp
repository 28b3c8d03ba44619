/// What is written without Protocol Buffers must be what Protocol Buffers would write.
#include "store/wire.h"

#include <gtest/gtest.h>

#include <limits>

#include "store/codec.h"
#include "store/records.pb.h"
#include "unit/store/samples.h"

namespace hk::store {
namespace HK_TEST_FILE {

/// Read and written again by the generated code.
template <class Record>
std::string again(const std::string& bytes) {
  Record record;
  EXPECT_TRUE(record.ParseFromString(bytes));
  EXPECT_EQ(record.GetReflection()->GetUnknownFields(record).field_count(), 0);
  return record.SerializeAsString();
}

core::Callback callback(core::RetryDelay delay) {
  core::Callback made{.url = "https://example.com/told", .host = "https://example.com:443"};
  made.headers = {{"a", ""}, {"", "b"}, {"", ""}};
  made.retry = {.retries_max = 2, .delay = std::move(delay)};
  made.timeout = Millis{-1};
  made.delay = Millis{1'000'000};
  return made;
}

std::vector<core::Message> messages() {
  std::vector<core::Message> all{core::Message{}, samples::message()};
  core::Message& plain = all.emplace_back();
  plain.method.clear();
  plain.trace.flags = 0;
  plain.retry = {.retries_max = 0,
                 .delay = core::ExponentialDelay{
                     .first = Millis{0}, .factor = 0, .cap = Millis{0}, .jitter_percent = 0}};
  core::Message& full = all.emplace_back(samples::message());
  full.topic = "topic";
  full.endpoint = "endpoint";
  full.schedule = "schedule";
  full.labels = {"", "x"};
  full.callback_of = {core::Seq{std::numeric_limits<std::uint64_t>::max()}, 1};
  full.callback = callback(core::TableDelay{{Millis{1}, Millis{0}, Millis{300}, Millis{-5}}});
  full.failure_callback = callback(core::ExpressionDelay{"retried * 2"});
  full.edited = true;
  full.notification = true;
  full.webhook = core::WebhookPart{.application = std::numeric_limits<std::uint64_t>::max(),
                                   .endpoint = 8,
                                   .event = 9,
                                   .generation = 1,
                                   .manual = true,
                                   .settles = {core::Seq{300}, 7},
                                   .replay = 4,
                                   .bytes = 3};
  core::Message& pulled = all.emplace_back(samples::message());
  pulled.retry.delay = core::TableDelay{};
  pulled.pull = core::PullPart{.fifo = true,
                               .attributes = {{"n", "Number", "1"}, {"", "", ""}},
                               .system = {{"SenderId", "5"}},
                               .first_id = {core::Seq{9}, 8},
                               .moved_from = "elsewhere",
                               .receives_before = 3,
                               .first_received_at = moment_from_ms(5),
                               .sent_at = moment_from_ms(6)};
  core::Message& bare = all.emplace_back();
  bare.pull.emplace();
  bare.retry.delay = core::ExpressionDelay{};
  // Lengths take one byte, two and three: in a text, and in a record within the record.
  for (const std::size_t length : {126, 127, 128, 129, 16'382, 16'383, 16'384, 70'000}) {
    core::Message& one = all.emplace_back();
    one.body.assign(length, 'b');
    one.headers = {{"name", std::string(length - 8, 'v')}, {"name", std::string(length, 'v')}};
    one.trace.state.assign(length, 's');
    one.pull = core::PullPart{.attributes = {{"n", "Binary", std::string(length, '\0')}}};
  }
  return all;
}

TEST(Wire, MessagesAreWhatProtocolBuffersWrites) {
  for (const core::Message& message : messages()) {
    const std::string bytes = Codec<core::Message>::encode(message);
    EXPECT_EQ(bytes, again<records::Message>(bytes));
    EXPECT_EQ(Codec<core::Message>::decode(message.id.seq, bytes), message);
  }
}

TEST(Wire, StatesAndAttemptsAreWhatProtocolBuffersWrites) {
  core::Attempt failed = samples::attempt();
  failed.response_status = -1;
  failed.response_body.assign(200, 'x');
  for (const core::Attempt& attempt : {core::Attempt{}, samples::attempt(), failed}) {
    const std::string bytes = Codec<core::Attempt>::encode(attempt);
    EXPECT_EQ(bytes, again<records::Attempt>(bytes));
    EXPECT_EQ(Codec<core::Attempt>::decode({}, bytes), attempt);

    const core::MessageState state{.status = core::Status::succeeded,
                                   .attempts = 300,
                                   .due = moment_from_ms(1),
                                   .cancel_requested = true,
                                   .cancel_requested_at = moment_from_ms(2),
                                   .finished_at = moment_from_ms(3),
                                   .expires_at = moment_from_ms(4),
                                   .in_dlq = true,
                                   .callbacks_open = 5,
                                   .last = attempt,
                                   .cancel_reason = core::CancelReason::skipped};
    const std::string stored = Codec<core::MessageState>::encode(state);
    EXPECT_EQ(stored, again<records::MessageState>(stored));
    EXPECT_EQ(Codec<core::MessageState>::decode({}, stored), state);
  }
  const std::string empty = Codec<core::MessageState>::encode({});
  EXPECT_EQ(empty, again<records::MessageState>(empty));
}

TEST(Wire, IdempotencyKeysAreWhatProtocolBuffersWrites) {
  for (const core::IdempotencyKey& key :
       {core::IdempotencyKey{}, samples::idempotency_key(), samples::answered_key()}) {
    const std::string bytes = Codec<core::IdempotencyKey>::encode(key);
    EXPECT_EQ(bytes, again<records::IdempotencyKey>(bytes));
  }
}

TEST(Wire, LaneEntriesAreWhatProtocolBuffersWrites) {
  core::LaneRow full;
  full.entry = {.place = {},
                .not_before = moment_from_ms(1'700'000'000'000),
                .attempts = 2,
                .flow_key = "flow",
                .host = std::string(200, 'h'),
                .started = true,
                .cancel_requested = true,
                .finished = true,
                .first_received_at = moment_from_ms(7),
                .forgiven = 1};
  for (const core::LaneRow& row : {core::LaneRow{}, full}) {
    const std::string bytes = Codec<core::LaneRow>::encode(row);
    EXPECT_EQ(bytes, again<records::LaneEntry>(bytes));
    EXPECT_EQ(Codec<core::LaneRow>::decode({}, bytes), row);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
