#include "delivery/response.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace hk::delivery {
namespace HK_TEST_FILE {

using Progress = ResponseReader::Progress;

/// Feeds the bytes in pieces of `size`.
Progress feed(ResponseReader& reader, std::string_view bytes, std::size_t size) {
  Progress progress = Progress::more;
  while (!bytes.empty() && progress == Progress::more) {
    const auto room = reader.prepare();
    const std::size_t count = std::min({size, bytes.size(), room.size()});
    std::memcpy(room.data(), bytes.data(), count);
    bytes.remove_prefix(count);
    progress = reader.commit(count);
  }
  return progress;
}

TEST(ResponseReader, ReadsTheSameHoweverTheBytesAreCut) {
  const std::string answer =
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 503 Busy\r\nRetry-After: 9\r\n"
      "upstash-nonretryable-error: TRUE\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "4;x=y\r\nabcd\r\n3\r\nefg\r\n0\r\nTrailer: x\r\n\r\n";
  for (std::size_t size = 1; size <= answer.size(); ++size) {
    SCOPED_TRACE(size);
    ResponseReader reader({});
    reader.begin(false);

    ASSERT_EQ(feed(reader, answer, size), Progress::done) << reader.fault();

    const Response& response = reader.response();
    EXPECT_EQ(response.status, 503);
    EXPECT_EQ(response.body, "abcdefg");
    EXPECT_TRUE(response.non_retryable);
    EXPECT_EQ(response.retry_after.wish(), Millis{9'000});
    EXPECT_TRUE(response.reusable);
    EXPECT_FALSE(reader.has_bytes());
  }
}

TEST(ResponseReader, ReadsAnEmptyChunkedBodyHoweverItIsCut) {
  const std::string answer = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
  for (std::size_t size = 1; size <= answer.size(); ++size) {
    SCOPED_TRACE(size);
    ResponseReader reader({});
    reader.begin(false);

    ASSERT_EQ(feed(reader, answer, size), Progress::done) << reader.fault();
    EXPECT_TRUE(reader.response().reusable);
  }
}

TEST(ResponseReader, IsUsedForOneAnswerAfterAnother) {
  ResponseReader reader({});
  for (int i = 0; i < 3; ++i) {
    reader.begin(false);
    ASSERT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 7), Progress::done);
    EXPECT_EQ(reader.response().body, "ok");
    EXPECT_EQ(reader.response().headers.size(), 1U);
  }
}

TEST(ResponseReader, KeepsAllThatItReadsIfSomebodyIsToBeCalledBack) {
  ResponseReader reader({.body_bytes_kept = 3, .body_bytes_read = 8});
  for (const auto& [keep_all, kept] : {std::pair{true, "01234567"}, std::pair{false, "012"}}) {
    reader.begin(false, keep_all);
    ASSERT_EQ(feed(reader, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n0123456789", 1000),
              Progress::done);

    EXPECT_EQ(reader.response().body, kept);
  }
}

TEST(ResponseReader, KeepsNoMoreThanItIsToldTo) {
  ResponseReader reader({.header_bytes_kept = 20, .body_bytes_kept = 3});
  reader.begin(false);
  ASSERT_EQ(feed(reader,
                 "HTTP/1.1 200 OK\r\nA: 1\r\nB: 123456789012345678901234567890\r\n"
                 "Content-Length: 10\r\n\r\n0123456789",
                 1000),
            Progress::done);

  EXPECT_EQ(reader.response().body, "012");
  ASSERT_EQ(reader.response().headers.size(), 1U);
  EXPECT_EQ(reader.response().headers[0].name, "A");
  EXPECT_TRUE(reader.response().reusable);
}

TEST(ResponseReader, TellsWhetherTheConnectionCanBeUsedAgain) {
  struct Row {
    const char* answer;
    bool reusable;
  };
  const Row rows[] = {
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", true},
      {"HTTP/1.1 204 X\r\n\r\n", true},
      {"HTTP/1.1 304 X\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n", false},
      {"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n", false},
      {"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", true},
      {"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\nX", false},
      {"HTTP/1.1 204 X\r\nContent-Length: 3\r\n\r\nabc", false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.answer);
    ResponseReader reader({});
    reader.begin(false);
    ASSERT_EQ(feed(reader, row.answer, 1000), Progress::done) << reader.fault();
    EXPECT_EQ(reader.response().reusable, row.reusable);
  }
}

TEST(ResponseReader, EndlessPartsEndInAFault) {
  struct Row {
    const char* name;
    std::string begin;
    std::string again;
  };
  const Row rows[] = {
      {"start line", "HTTP/1.1 200 ", "x"},
      {"one field", "HTTP/1.1 200 OK\r\nA: ", "x"},
      {"many fields", "HTTP/1.1 200 OK\r\n", "A: b\r\n"},
      {"interim", "", "HTTP/1.1 103 X\r\n\r\n"},
      {"large interim", "", "HTTP/1.1 103 X\r\nA: " + std::string(9'000, 'b') + "\r\n\r\n"},
      {"chunk size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0"},
      {"chunk extension", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "x"},
      {"trailer", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nA: ", "x"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    ResponseReader reader({});
    reader.begin(false);
    Progress progress = feed(reader, row.begin, 1000);
    std::size_t fed = 0;
    while (progress == Progress::more && fed < 4'000'000) {
      std::string block = row.again;
      while (block.size() < 4'000) {
        block += row.again;
      }
      fed += block.size();
      progress = feed(reader, block, 4'096);
    }
    EXPECT_EQ(progress, Progress::malformed);
    EXPECT_LT(fed, 400'000U);
  }
}

TEST(ResponseReader, TheEndOfTheConnectionEndsOnlyAnAnswerWithoutALength) {
  struct Row {
    const char* bytes;
    Progress end;
  };
  const Row rows[] = {
      {"HTTP/1.1 200 OK\r\n\r\nabc", Progress::done},
      {"HTTP/1.1 200 OK\r\n\r\n", Progress::done},
      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", Progress::malformed},
      {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", Progress::malformed},
      {"HTTP/1.1 200 OK\r\nA: b\r\n", Progress::malformed},
      {"H", Progress::malformed},
      {"", Progress::malformed},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.bytes);
    ResponseReader reader({});
    reader.begin(false);
    ASSERT_EQ(feed(reader, row.bytes, 1000), Progress::more);
    EXPECT_EQ(reader.end(), row.end);
  }
}

TEST(ResponseReader, WhatIsNotHttpIsFoundOutAtTheFirstByte) {
  ResponseReader reader({});
  reader.begin(false);
  EXPECT_EQ(feed(reader, "<", 1), Progress::malformed);
}

TEST(ResponseReader, ANumberBelow100IsNoStatusHoweverTheAnswerEnds) {
  const std::string long_body(std::size_t{2} << 20U, 'x');
  for (const std::string& rest :
       {std::string("\r\n\r\nuntil the end"), std::string("\r\nContent-Length: 0\r\n\r\n"),
        "\r\n\r\n" + long_body}) {
    SCOPED_TRACE(rest.substr(0, 40));
    ResponseReader reader({});
    reader.begin(false);
    EXPECT_EQ(feed(reader, "HTTP/1.1 099 x" + rest, 4096), Progress::malformed);
  }
}

TEST(ResponseReader, WhatIsNotHttpIsFoundOutHoweverItIsCut) {
  for (std::size_t size = 1; size <= 8; ++size) {
    SCOPED_TRACE(size);
    ResponseReader reader({});
    reader.begin(false);
    EXPECT_EQ(feed(reader, "HTTP\n...", size), Progress::malformed);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
