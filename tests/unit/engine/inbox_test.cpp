#include "engine/next_batch.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hk::engine {
namespace {

constexpr std::size_t kib = 1024;

core::Publish publish(std::size_t body_kib, std::string topic = {}) {
  core::Publish command{.message = std::make_unique<core::Message>()};
  command.message->body.assign(body_kib * kib, 'x');
  command.message->url = topic.empty() ? "http://h" : "";
  command.message->topic = std::move(topic);
  return command;
}

core::PublishBatch batch(std::size_t items, std::size_t body_kib) {
  core::PublishBatch command;
  for (std::size_t i = 0; i < items; ++i) {
    command.items.push_back(publish(body_kib));
  }
  return command;
}

template <class... Commands>
std::vector<Submission> inbox(Commands... commands) {
  std::vector<Submission> all;
  (all.push_back({core::Command{std::move(commands)}, {}, nullptr}), ...);
  return all;
}

TEST(NextBatch, EndsWhereItsNumberOrItsBytesEnd) {
  struct Row {
    std::string_view name;
    std::vector<Submission> waiting;
    std::size_t taken;
  };
  Row rows[4];
  rows[0] = {"nothing", inbox(), 0};
  rows[1] = {"small ones, by number",
             inbox(publish(0), core::Inspect{}, publish(1), publish(1), publish(1)), 4};
  rows[2] = {"large ones, by bytes", inbox(publish(40), publish(40), publish(40)), 2};
  rows[3] = {"one that is too large comes alone", inbox(publish(200), publish(0)), 1};
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    EXPECT_EQ(next_batch(row.waiting, 4, 100 * kib), row.taken);
  }
}

TEST(NextBatch, CountsWhatABatchHoldsAndWhatAGroupMayBecome) {
  EXPECT_EQ(next_batch(inbox(batch(10, 2), batch(10, 2), batch(10, 2)), 4, 100 * kib), 2U);
  EXPECT_EQ(next_batch(inbox(batch(90, 0), publish(50)), 4, 100 * kib), 1U);
  EXPECT_EQ(next_batch(inbox(publish(0), publish(1, "group")), 4, 100 * kib), 1U);
}

}  // namespace
}  // namespace hk::engine
