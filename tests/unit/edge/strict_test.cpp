#include "edge/http/strict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "edge/http/request_reader.h"
#include "unit/edge/request_vectors.h"

namespace hk::http {

namespace HK_TEST_FILE {

using test::Vector;

ServerLimits small_limits() {
  ServerLimits limits;
  limits.header_bytes_max = 1'000;
  limits.line_bytes_max = 200;
  limits.fields_max = 8;
  limits.body_bytes_max = 100;
  return limits;
}

struct Outcome {
  int status = -1;  ///< 0: accepted; -1: the reader wants more
  Request request{};
  std::size_t used = 0;  ///< bytes of an accepted request
};

/// Hands the bytes over as a connection does: in pieces that end at the given places, keeping what
/// was not consumed.
Outcome read_in_pieces(std::string_view bytes, const std::vector<std::size_t>& ends,
                       const ServerLimits& limits) {
  BodyBudget bodies(limits.request_bytes_max);
  RequestReader reader(limits, bodies);
  std::string unused;
  Outcome outcome;
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    unused.append(bytes.substr(begin, end - begin));
    begin = end;
    while (!unused.empty()) {
      const RequestReader::Progress progress = reader.feed(unused);
      unused.erase(0, progress.consumed);
      outcome.used += progress.consumed;
      if (progress.step == RequestReader::Step::complete) {
        outcome.status = 0;
        outcome.request = reader.take();
        return outcome;
      }
      if (progress.step == RequestReader::Step::refused) {
        outcome.status = reader.refusal().status;
        return outcome;
      }
      if (progress.step == RequestReader::Step::need_more) break;
    }
    EXPECT_LE(unused.size(), reader.unconsumed_bytes_max());
  }
  return outcome;
}

std::vector<std::size_t> every_byte(std::size_t size) {
  std::vector<std::size_t> ends(size);
  for (std::size_t i = 0; i < size; ++i) ends[i] = i + 1;
  return ends;
}

void expect_outcome(const Vector& vector, const Outcome& outcome) {
  ASSERT_EQ(outcome.status, vector.status);
  if (vector.status != 0) return;
  EXPECT_EQ(outcome.request.target, vector.target);
  EXPECT_EQ(outcome.request.body, vector.body);
  EXPECT_EQ(outcome.used, vector.bytes.size());
  EXPECT_EQ(outcome.request.header("X-Sum"), std::nullopt) << "a trailer became a header";
}

TEST(Strict, TheVectorsAreManyAndNamedOnce) {
  std::vector<std::string> names;
  for (const Vector& vector : test::accepted_vectors()) names.push_back(vector.name);
  for (const Vector& vector : test::refused_vectors()) names.push_back(vector.name);

  EXPECT_GE(names.size(), 200U);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  EXPECT_TRUE(twice == names.end()) << *twice;
}

TEST(Strict, AcceptedVectorsAreReadWhole) {
  const ServerLimits limits = small_limits();
  for (const Vector& vector : test::accepted_vectors()) {
    SCOPED_TRACE(vector.name);
    expect_outcome(vector, read_in_pieces(vector.bytes, {vector.bytes.size()}, limits));
  }
}

TEST(Strict, RefusedVectorsAreRefusedWithTheirStatus) {
  const ServerLimits limits = small_limits();
  for (const Vector& vector : test::refused_vectors()) {
    SCOPED_TRACE(vector.name);
    expect_outcome(vector, read_in_pieces(vector.bytes, {vector.bytes.size()}, limits));
  }
}

TEST(Strict, WhereTheBytesAreSplitMakesNoDifference) {
  const ServerLimits limits = small_limits();
  std::vector<Vector> vectors = test::accepted_vectors();
  const std::vector<Vector> refused = test::refused_vectors();
  vectors.insert(vectors.end(), refused.begin(), refused.end());
  for (const Vector& vector : vectors) {
    SCOPED_TRACE(vector.name);
    const std::size_t size = vector.bytes.size();
    for (std::size_t split = 1; split < size; ++split) {
      SCOPED_TRACE(split);
      expect_outcome(vector, read_in_pieces(vector.bytes, {split, size}, limits));
      if (testing::Test::HasFatalFailure()) return;
    }
    expect_outcome(vector, read_in_pieces(vector.bytes, every_byte(size), limits));
  }
}

TEST(Strict, BytesBehindARequestAreLeftForTheNextOne) {
  const ServerLimits limits = small_limits();
  for (const Vector& vector : test::accepted_vectors()) {
    SCOPED_TRACE(vector.name);
    const std::string two = vector.bytes + "GET /next HTTP/1.1\r\n";
    expect_outcome(vector, read_in_pieces(two, {two.size()}, limits));
  }
}

TEST(Strict, NoPrefixOfAnAcceptedRequestIsComplete) {
  const ServerLimits limits = small_limits();
  for (const Vector& vector : test::accepted_vectors()) {
    SCOPED_TRACE(vector.name);
    for (std::size_t size = 1; size < vector.bytes.size(); ++size) {
      EXPECT_EQ(read_in_pieces(vector.bytes, {size}, limits).status, -1) << size;
    }
  }
}

TEST(Strict, KeepAliveFollowsVersionAndConnection) {
  struct Row {
    std::string version;
    std::string field;
    bool keep_alive;
  };
  const Row rows[] = {
      {"1.1", "", true},
      {"1.1", "Connection: close\r\n", false},
      {"1.1", "Connection: CLOSE\r\n", false},
      {"1.1", "Connection: x, close\r\n", false},
      {"1.1", "Connection: x\r\nConnection: close\r\n", false},
      {"1.1", "Connection: closed\r\n", true},
      {"1.1", "Connection: keep-alive\r\n", true},
      {"1.0", "", false},
      {"1.0", "Connection: keep-alive\r\n", true},
      {"1.0", "Connection: keep-alive, close\r\n", false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.version + " " + row.field);
    const std::string block = "GET / HTTP/" + row.version + "\r\nHost: a\r\n" + row.field + "\r\n";
    const auto head = check_head(block, HeadLimits{});
    ASSERT_TRUE(head.has_value());
    EXPECT_EQ(head->keep_alive, row.keep_alive);
  }
}

TEST(Strict, ContinueIsExpectedOnlyWithABodyAndIn1_1) {
  const auto expects = [](const std::string& line, const std::string& fields) {
    const auto head = check_head(line + "\r\nHost: a\r\nExpect: 100-continue\r\n" + fields + "\r\n",
                                 HeadLimits{});
    return head && head->expects_continue;
  };

  EXPECT_TRUE(expects("POST / HTTP/1.1", "Content-Length: 1\r\n"));
  EXPECT_TRUE(expects("POST / HTTP/1.1", "Transfer-Encoding: chunked\r\n"));
  EXPECT_FALSE(expects("POST / HTTP/1.1", "Content-Length: 0\r\n"));
  EXPECT_FALSE(expects("POST / HTTP/1.1", ""));
  EXPECT_FALSE(expects("POST / HTTP/1.0", "Content-Length: 1\r\n"));
}

TEST(Strict, ATargetMayHaveABodyLimitOfItsOwn) {
  ServerLimits limits = small_limits();
  int asked = 0;
  limits.body_bytes_max_of = [&asked](std::string_view target) -> std::size_t {
    ++asked;
    return target == "/large" ? 1000 : 100;
  };
  const auto answered = [&limits](std::string_view target, std::size_t bytes, bool chunked) {
    std::string text = "POST " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n";
    const std::string body(bytes, 'x');
    if (chunked) {
      text += "Transfer-Encoding: chunked\r\n\r\n3e8\r\n" + body + "\r\n0\r\n\r\n";
    } else {
      text += "Content-Length: " + std::to_string(bytes) + "\r\n\r\n" + body;
    }
    return read_in_pieces(text, {text.size()}, limits).status;
  };

  EXPECT_EQ(answered("/large", 100, false), 0);
  EXPECT_EQ(asked, 0) << "every target takes as much";
  EXPECT_EQ(answered("/large", 1000, false), 0);
  EXPECT_EQ(answered("/large", 1001, false), 413);
  EXPECT_EQ(answered("/other", 101, false), 413);
  EXPECT_EQ(answered("/large", 1000, true), 0);
  EXPECT_EQ(answered("/other", 1000, true), 413);
}

TEST(Strict, TheHeadOfARefusedRequestIsKnownOnceItWasAccepted) {
  const ServerLimits limits = small_limits();
  BodyBudget bodies(limits.request_bytes_max);
  const std::string large = std::to_string(limits.body_bytes_max + 1);
  const std::string head = "POST /x HTTP/1.1\r\nHost: a\r\nX-Who: me\r\n";
  const std::string rows[] = {
      "Content-Length: " + large + "\r\n\r\n",
      "Transfer-Encoding: chunked\r\n\r\nffffff\r\n",
      "Transfer-Encoding: chunked\r\n\r\n1\r\nabcdefgh",
  };
  for (const std::string& row : rows) {
    SCOPED_TRACE(row);
    RequestReader reader(limits, bodies);
    std::string bytes = head + row;
    EXPECT_EQ(reader.request(), nullptr);
    RequestReader::Progress progress = reader.feed(bytes);
    while (progress.step == RequestReader::Step::head) {
      bytes.erase(0, progress.consumed);
      progress = reader.feed(bytes);
    }

    ASSERT_EQ(progress.step, RequestReader::Step::refused);

    ASSERT_NE(reader.request(), nullptr);
    EXPECT_EQ(reader.request()->method, "POST");
    EXPECT_EQ(reader.request()->target, "/x");
    EXPECT_EQ(reader.request()->header("X-Who"), "me");
    EXPECT_EQ(reader.request()->body, "");
    reader.abandon();
    EXPECT_EQ(reader.request(), nullptr);
  }
  RequestReader malformed(limits, bodies);
  ASSERT_EQ(malformed.feed("POST /x HTTP/1.1\r\n\r\n").step, RequestReader::Step::refused);
  EXPECT_EQ(malformed.request(), nullptr);
}

TEST(Strict, ARefusedReaderStaysRefused) {
  const ServerLimits limits = small_limits();
  BodyBudget bodies(limits.request_bytes_max);
  RequestReader reader(limits, bodies);
  ASSERT_EQ(reader.feed("GET / HTTP/1.1\r\n\r\n").step, RequestReader::Step::refused);

  EXPECT_EQ(reader.feed("GET / HTTP/1.1\r\nHost: a\r\n\r\n").step, RequestReader::Step::refused);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http
