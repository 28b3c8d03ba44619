#include "edge/http/body_budget.h"

#include <gtest/gtest.h>

#include <string>

#include "edge/http/request_reader.h"

namespace hk::http {

namespace HK_TEST_FILE {

constexpr std::size_t kib = 1024;

std::string head(std::string_view framing) {
  return "POST / HTTP/1.1\r\nHost: a\r\n" + std::string(framing) + "\r\n\r\n";
}

/// Feeds everything, and says what the last step was.
RequestReader::Step feed_all(RequestReader& reader, std::string_view bytes) {
  for (;;) {
    const RequestReader::Progress progress = reader.feed(bytes);
    bytes.remove_prefix(progress.consumed);
    if (progress.step != RequestReader::Step::head || bytes.empty()) return progress.step;
  }
}

TEST(BodyBudget, ASharePastTheBoundIsRefusedAndChangesNothing) {
  BodyBudget budget(100);
  BodyShare one(budget);
  BodyShare two(budget);
  EXPECT_TRUE(one.grow_to(60));
  EXPECT_TRUE(two.grow_to(40));

  EXPECT_FALSE(two.grow_to(41));

  EXPECT_EQ(budget.held(), 100U);
  one.release();
  EXPECT_TRUE(two.grow_to(100));
  EXPECT_EQ(budget.held(), 100U);
}

TEST(BodyBudget, AMovedShareIsGivenBackOnce) {
  BodyBudget budget(100);
  {
    BodyShare one(budget);
    ASSERT_TRUE(one.grow_to(70));
    BodyShare two(std::move(one));
    BodyShare three(budget);
    ASSERT_TRUE(three.grow_to(10));
    three = std::move(two);
    EXPECT_EQ(budget.held(), 70U);
  }
  EXPECT_EQ(budget.held(), 0U);
}

TEST(BodyBudget, ALengthThatCannotFitIsRefusedBeforeTheBody) {
  const ServerLimits limits;
  BodyBudget budget(10 * kib);
  BodyShare other(budget);
  ASSERT_TRUE(other.grow_to(6 * kib));
  RequestReader reader(limits, budget);

  EXPECT_EQ(feed_all(reader, head("Content-Length: 5000")), RequestReader::Step::refused);

  EXPECT_EQ(reader.refusal(), no_room);
}

TEST(BodyBudget, AnAnnouncedLengthHoldsNothingUntilItComes) {
  const ServerLimits limits;
  BodyBudget budget(10 * kib);
  RequestReader reader(limits, budget);

  feed_all(reader, head("Content-Length: 10000") + "0123456789");

  EXPECT_EQ(budget.held(), 10U);
}

TEST(BodyBudget, ABodyThatOutgrowsTheBudgetIsRefusedAndLetGo) {
  const ServerLimits limits;
  BodyBudget budget(10 * kib);
  BodyShare other(budget);
  RequestReader reader(limits, budget);
  ASSERT_EQ(
      feed_all(reader, head("Transfer-Encoding: chunked") + "1000\r\n" + std::string(4 * kib, 'x')),
      RequestReader::Step::need_more);
  ASSERT_TRUE(other.grow_to(6 * kib));

  EXPECT_EQ(feed_all(reader, "\r\n1\r\nx\r\n0\r\n\r\n"), RequestReader::Step::refused);

  EXPECT_EQ(reader.refusal(), no_room);
  EXPECT_EQ(budget.held(), 6 * kib);
}

TEST(BodyBudget, ARequestHoldsItsBodyUntilItsShareEnds) {
  const ServerLimits limits;
  BodyBudget budget(10 * kib);
  RequestReader reader(limits, budget);
  ASSERT_EQ(feed_all(reader, head("Content-Length: 3") + "abc"), RequestReader::Step::complete);

  const Request request = reader.take();
  BodyShare share = reader.take_share();

  EXPECT_EQ(request.body, "abc");
  EXPECT_EQ(budget.held(), 3U);
  share.release();
  EXPECT_EQ(budget.held(), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http
