#include "outbox/table.h"

#include <gtest/gtest.h>

#include "outbox/sql_text.h"

namespace hk::outbox {
namespace HK_TEST_FILE {

TEST(Table, NamesAreQuotedAndTheSchemaGoesFirst) {
  Table table;
  EXPECT_EQ(table.outbox_name(), "\"hikyaku_outbox\"");
  table.schema = "my \"app\"";
  EXPECT_EQ(table.ledger_name(), "\"my \"\"app\"\"\".\"hikyaku_ledger\"");
}

TEST(Table, TheChannelLeavesRoomForSuffixesAndIsTheSameWithAndWithoutSchema) {
  Table table;
  EXPECT_EQ(table.channel(), "hikyaku_outbox");
  table.outbox = "orders";
  EXPECT_EQ(table.channel(), "hikyaku_orders");
  table.schema = "app";
  EXPECT_EQ(table.channel(), "hikyaku_orders");

  table.outbox = std::string(63, 'x');
  const std::string first = table.channel();
  table.outbox.back() = 'y';
  EXPECT_LE(first.size(), 46U);
  EXPECT_NE(first, table.channel());

  table.outbox = std::string("x");
  for (int i = 0; i < 20; ++i) {
    table.outbox += "\xe3\x81\x82";
  }
  const std::string cut = table.channel();
  EXPECT_LE(cut.size(), 46U);
  EXPECT_EQ(cut.substr(cut.size() - 12, 3), "\xe3\x81\x82") << "not within a character";
}

TEST(MapColumn, ChangesTheNameThatItNames) {
  Table table;
  EXPECT_TRUE(map_column(table, "payload=order_request_json"));
  EXPECT_TRUE(map_column(table, "ledger.status=state"));
  EXPECT_TRUE(map_column(table, "destination="));
  EXPECT_TRUE(map_column(table, "order_key=a=b"));
  EXPECT_EQ(table.outbox_columns.payload, "order_request_json");
  EXPECT_EQ(table.ledger_columns.status, "state");
  EXPECT_EQ(table.outbox_columns.status, "status");
  EXPECT_EQ(table.outbox_columns.destination, "");
  EXPECT_EQ(table.outbox_columns.order_key, "a=b");
}

TEST(MapColumn, RefusesWhatItDoesNotKnowAndSaysWhatThereIs) {
  const std::string long_name(64, 'x');
  for (const std::string& bad :
       {std::string("payload"), std::string("body=x"), std::string("payload="),
        std::string("ledger.status="), "payload=" + long_name, std::string("status=a\0b", 10)}) {
    SCOPED_TRACE(bad);
    Table table;
    const auto mapped = map_column(table, bad);
    ASSERT_FALSE(mapped.has_value());
    EXPECT_EQ(mapped.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(mapped.error().message.find("ledger.reason_code"), std::string::npos);
  }
}

TEST(SqlText, PutsNamesInAndDoesNotReadThemAgain) {
  Table table;
  table.outbox = "{status}";
  table.outbox_columns.headers = "";
  EXPECT_EQ(
      sql_text(table, "SELECT {?headers}, {?destination} FROM {outbox} WHERE {l.status} = {x}",
               {{"x", "'{id}'"}}),
      "SELECT NULL::text, o.\"destination\" FROM \"{status}\" WHERE \"status\" = '{id}'");
}

TEST(SqlText, LiteralsAreQuotedWhateverTheyHold) {
  EXPECT_EQ(quoted_literal("it's"), "'it''s'");
  EXPECT_EQ(quoted_literal("a\\'b"), "E'a\\\\''b'");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
