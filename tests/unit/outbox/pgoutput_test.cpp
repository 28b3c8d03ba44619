#include "outbox/source/pgoutput.h"

#include <gtest/gtest.h>

#include <array>

#include "outbox/source/replication_frame.h"
#include "unit/outbox/replication_bytes.h"

using namespace hk;
using namespace hk::outbox;
using namespace hk::outbox::test;

namespace {

struct Sample {
  std::string_view name;
  std::string bytes;
  std::size_t kind;  ///< index in Change
};

std::vector<Sample> samples() {
  return {
      {"begin", begin_bytes(0x16b3748), 0},
      {"commit", commit_bytes(0x16b3778), 1},
      {"origin", Bytes('O').u64(5).text("elsewhere").str(), 2},
      {"relation", relation_bytes(), 3},
      {"type", Bytes('Y').u32(16'400).text("public").text("mood").str(), 4},
      {"insert", insert_bytes(), 5},
      {"update", Bytes('U').u32(7).letter('N').row().str(), 6},
      {"update with the old key", Bytes('U').u32(7).letter('K').row().letter('N').row().str(), 6},
      {"update with the old row", Bytes('U').u32(7).letter('O').row().letter('N').row().str(), 6},
      {"delete by key", Bytes('D').u32(7).letter('K').row().str(), 7},
      {"delete of a row", Bytes('D').u32(7).letter('O').row().str(), 7},
      {"truncate", Bytes('T').u32(2).letter('\3').u32(7).u32(8).str(), 8},
      {"message", message_bytes(true, "hikyaku_outbox"), 9},
  };
}

template <class T>
T decoded(const std::string& bytes) {
  const auto change = pgoutput::decode(bytes);
  EXPECT_TRUE(change.has_value() && std::holds_alternative<T>(*change));
  return change && std::holds_alternative<T>(*change) ? std::get<T>(*change) : T{};
}

}  // namespace

TEST(Pgoutput, KnowsEveryKindOfMessage) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    const auto change = pgoutput::decode(sample.bytes);

    ASSERT_TRUE(change.has_value());
    EXPECT_EQ(change->index(), sample.kind);
  }
}

TEST(Pgoutput, RefusesAMessageThatIsCutAnywhere) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    for (std::size_t length = 0; length < sample.bytes.size(); ++length) {
      const auto change = pgoutput::decode(std::string_view(sample.bytes).substr(0, length));

      ASSERT_FALSE(change.has_value()) << length;
      EXPECT_EQ(change.error().kind, ErrorKind::corruption);
    }
  }
}

TEST(Pgoutput, RefusesAMessageWithSomethingBehindIt) {
  for (const Sample& sample : samples()) {
    SCOPED_TRACE(sample.name);
    EXPECT_FALSE(pgoutput::decode(sample.bytes + '\0').has_value());
  }
}

TEST(Pgoutput, RefusesWhatTheProtocolDoesNotHave) {
  const std::array rows = {
      std::pair{"nothing", std::string()},
      std::pair{"an unknown kind", Bytes('Z').u64(1).str()},
      std::pair{"an insert of an old row", Bytes('I').u32(7).letter('O').row().str()},
      std::pair{"an update of nothing", Bytes('U').u32(7).letter('K').row().str()},
      std::pair{"a delete of a new row", Bytes('D').u32(7).letter('N').row().str()},
      std::pair{"an unknown value", Bytes('I').u32(7).letter('N').u16(1).letter('x').str()},
      std::pair{"a value longer than the message",
                Bytes('I').u32(7).letter('N').u16(1).letter('t').u32(0xffffffff).letter('a').str()},
      std::pair{"four milliards of tables", Bytes('T').u32(0xffffffff).letter('\0').u32(1).str()},
      std::pair{"a name without end", Bytes('O').u64(5).letter('a').letter('b').str()},
  };
  for (const auto& [name, bytes] : rows) {
    SCOPED_TRACE(name);
    EXPECT_FALSE(pgoutput::decode(bytes).has_value());
  }
}

TEST(Pgoutput, ReadsWhatTheMessagesSay) {
  EXPECT_EQ(decoded<pgoutput::Begin>(begin_bytes(77)).commit_lsn, 77U);
  EXPECT_EQ(decoded<pgoutput::Begin>(begin_bytes(77)).transaction, 731U);
  EXPECT_EQ(decoded<pgoutput::Commit>(commit_bytes(99)).end_lsn, 99U);
  EXPECT_EQ(decoded<pgoutput::Commit>(commit_bytes(99)).commit_lsn, 51U);

  const std::string relation_text = relation_bytes();
  const auto relation = decoded<pgoutput::Relation>(relation_text);
  EXPECT_EQ(relation.schema, "public");
  EXPECT_EQ(relation.name, "hikyaku_outbox");
  ASSERT_EQ(relation.columns.size(), 2U);
  EXPECT_TRUE(relation.columns[0].key);
  EXPECT_FALSE(relation.columns[1].key);
  EXPECT_EQ(relation.columns[1].name, "payload");
  EXPECT_EQ(relation.columns[1].modifier, -1);

  const std::string message_text = message_bytes(false, "hikyaku_outbox");
  const auto message = decoded<pgoutput::Message>(message_text);
  EXPECT_FALSE(message.transactional);
  EXPECT_EQ(message.prefix, "hikyaku_outbox");
  EXPECT_EQ(message.content, "hi");

  const auto truncate =
      decoded<pgoutput::Truncate>(Bytes('T').u32(2).letter('\2').u32(7).u32(8).str());
  EXPECT_EQ(truncate.relations, (std::vector<std::uint32_t>{7, 8}));
  EXPECT_FALSE(truncate.cascade);
  EXPECT_TRUE(truncate.restart_identity);
  EXPECT_EQ(decoded<pgoutput::Insert>(insert_bytes()).columns, 4U);
}

TEST(ReplicationFrame, TellsDataFromKeepalives) {
  const std::string data = Bytes('w').u64(1).u64(2).u64(3).letter('x').letter('y').str();
  const std::string keepalive = Bytes('k').u64(9).u64(3).letter('\1').str();

  const auto first = decode_frame(data);
  const auto second = decode_frame(keepalive);

  ASSERT_TRUE(first.has_value() && std::holds_alternative<WalData>(*first));
  EXPECT_EQ(std::get<WalData>(*first).data, "xy");
  EXPECT_EQ(std::get<WalData>(*first).end, 2U);
  ASSERT_TRUE(second.has_value() && std::holds_alternative<Keepalive>(*second));
  EXPECT_EQ(std::get<Keepalive>(*second).end, 9U);
  EXPECT_TRUE(std::get<Keepalive>(*second).reply_wanted);
}

TEST(ReplicationFrame, RefusesWhatIsCutOrUnknown) {
  const std::string keepalive = Bytes('k').u64(9).u64(3).letter('\1').str();
  for (std::size_t length = 0; length < keepalive.size(); ++length) {
    EXPECT_FALSE(decode_frame(std::string_view(keepalive).substr(0, length)).has_value());
  }
  const std::string data = Bytes('w').u64(1).u64(2).u64(3).str();
  for (std::size_t length = 0; length < data.size(); ++length) {
    EXPECT_FALSE(decode_frame(std::string_view(data).substr(0, length)).has_value());
  }
  EXPECT_FALSE(decode_frame(keepalive + 'x').has_value());
  EXPECT_FALSE(decode_frame("x").has_value());
}

TEST(ReplicationFrame, AStatusUpdateHasTheBytesThatTheServerReads) {
  StandbyStatus status;
  status.received = 0x0102030405060708;
  status.confirmed = 0x0102030405060700;
  status.now = Moment{Millis{946'684'800'000 + 1}};  // a millisecond into the year 2000
  status.reply_wanted = true;

  EXPECT_EQ(encode_status(status), Bytes('r')
                                       .u64(0x0102030405060708)
                                       .u64(0x0102030405060700)
                                       .u64(0x0102030405060700)
                                       .u64(1000)
                                       .letter('\1')
                                       .str());
}
