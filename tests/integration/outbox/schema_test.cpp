/// init and the check at a relay's start, on a real PostgreSQL.
#include <thread>

#include "integration/outbox/relay_fixture.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

/// The table of the protocol's document, before this relay came.
constexpr const char* document_tables = R"(
  CREATE TYPE outbox_status AS ENUM ('pending', 'sending', 'succeeded', 'failed', 'aborted');
  CREATE TABLE outbox_orders (
    id BIGSERIAL PRIMARY KEY, idempotency_key TEXT NOT NULL UNIQUE, order_request_json JSONB,
    request_digest TEXT, status outbox_status NOT NULL DEFAULT 'pending', attempts INT,
    last_error_code TEXT, last_error_msg TEXT, locked_by TEXT, locked_at TIMESTAMPTZ,
    created_at TIMESTAMPTZ DEFAULT now(), updated_at TIMESTAMPTZ DEFAULT now(),
    expires_at TIMESTAMPTZ);
  CREATE TABLE idempo_ledger (
    idempotency_key TEXT PRIMARY KEY, request_digest TEXT NOT NULL, status VARCHAR(20) NOT NULL,
    http_status INT, response_payload_json JSONB, created_at TIMESTAMPTZ NOT NULL DEFAULT now());
)";

class SchemaTest : public OutboxTest {
 protected:
  void adopt_document() {
    value(database.run_script(document_tables));
    settings.table.outbox = "outbox_orders";
    settings.table.ledger = "idempo_ledger";
    value(map_column(settings.table, "payload=order_request_json"));
    value(map_column(settings.table, "headers="));
    value(map_column(settings.table, "ledger.reason_code="));
  }
  std::string check_message() {
    const auto shape = check_schema(database, settings.table);
    return shape ? "" : shape.error().error.message;
  }
};

TEST_F(SchemaTest, InitTwiceChangesNothingTheSecondTime) {
  const SchemaReport first = value(init_schema(database, settings.table));
  const SchemaReport second = value(init_schema(database, settings.table));

  EXPECT_GE(first.done.size(), 8U);
  EXPECT_TRUE(second.done.empty()) << second.done.front();
  EXPECT_EQ(check_message(), "");
}

TEST_F(SchemaTest, ManyInitsAtOnceDoNotCollide) {
  std::vector<std::string> errors(8);
  std::vector<std::thread> threads;
  for (std::string& error : errors) {
    threads.emplace_back([&error, this] {
      Database own = connect(where);
      const auto report = init_schema(own, settings.table);
      error = report ? "" : report.error().message;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& error : errors) {
    EXPECT_EQ(error, "");
  }
  EXPECT_EQ(check_message(), "");
}

TEST_F(SchemaTest, ManyInitsOfAnAdoptedTableAtOnceDoNotCollide) {
  adopt_document();
  std::vector<std::string> errors(4);
  std::vector<std::thread> threads;
  for (std::string& error : errors) {
    threads.emplace_back([&error, this] {
      Database own = connect(where);
      const auto report = init_schema(own, settings.table);
      error = report ? "" : report.error().message;
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const std::string& error : errors) {
    EXPECT_EQ(error, "");
  }
  EXPECT_EQ(check_message(), "");
}

TEST_F(SchemaTest, PrintSaysTheSqlAndRunsNothingAndTheSqlIsEnough) {
  const SchemaReport printed = value(init_schema(database, settings.table, {.print = true}));
  EXPECT_NE(check_message(), "");

  const auto ran = database.run_script(printed.sql);

  ASSERT_TRUE(ran.has_value()) << ran.error().error.message;
  EXPECT_EQ(check_message(), "");
  EXPECT_TRUE(value(init_schema(database, settings.table)).done.empty());
}

TEST_F(SchemaTest, TheTableOfTheDocumentIsAdoptedAndRelayed) {
  adopt_document();
  run(database,
      "INSERT INTO outbox_orders (idempotency_key, order_request_json, request_digest) "
      "VALUES ('old', '{\"side\": \"buy\"}', 'd1')");
  EXPECT_NE(check_message().find("\"next_run_at\""), std::string::npos);

  init();

  EXPECT_EQ(check_message(), "");
  run(database, "SELECT hikyaku_enqueue('new', '{\"side\": \"sell\"}')");
  Relay one = relay();
  const auto rows = one.claim();
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].row.payload, R"({"side": "buy"})");
  EXPECT_EQ(one.finish(rows[0], succeeded("{}")), Written::succeeded);
  EXPECT_EQ(one.finish(rows[1], aborted()), Written::aborted);
  EXPECT_EQ(text(database, "SELECT string_agg(status::text, ' ' ORDER BY id) FROM outbox_orders"),
            "succeeded aborted");
  EXPECT_EQ(text(database,
                 "SELECT string_agg(status, ' ' ORDER BY idempotency_key DESC) "
                 "FROM idempo_ledger"),
            "succeeded failed");
  const auto refused = database.run("SELECT hikyaku_enqueue('other', '1', NULL, '{\"a\": \"b\"}')");
  ASSERT_FALSE(refused.has_value()) << "the table has no column for headers";
  EXPECT_EQ(refused.error().sqlstate, "HK400");
}

TEST_F(SchemaTest, AKeyThatMayBeNullIsRefusedWithTheStatementsThatMendIt) {
  adopt_document();
  run(database, "ALTER TABLE outbox_orders ALTER COLUMN idempotency_key DROP NOT NULL");
  run(database,
      "INSERT INTO outbox_orders (idempotency_key, order_request_json) "
      "VALUES (NULL, '1'), (NULL, '2'), ('', '3'), ('a', '4')");

  const auto report = init_schema(database, settings.table);

  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::invalid_argument);
  const std::string& message = report.error().message;
  EXPECT_NE(message.find("3 rows have no key"), std::string::npos) << message;
  EXPECT_EQ(check_message().find("\"next_run_at\"") == std::string::npos, false)
      << "nothing was changed";
  // They are printed to be run, and enough.
  const std::size_t begin = message.find("  UPDATE");
  ASSERT_NE(begin, std::string::npos) << message;
  ASSERT_NE(message.find("SET NOT NULL;", begin), std::string::npos) << message;
  value(database.run_script(message.substr(begin)));
  init();
  EXPECT_EQ(check_message(), "");
  EXPECT_EQ(text(database, "SELECT count(DISTINCT idempotency_key) FROM outbox_orders"), "4");
  EXPECT_EQ(relay().claim().size(), 4U);
}

TEST_F(SchemaTest, AnEmptyTableWithANullableKeyIsToldTheOneStatement) {
  adopt_document();
  run(database, "ALTER TABLE outbox_orders ALTER COLUMN idempotency_key DROP NOT NULL");

  const auto report = init_schema(database, settings.table);

  ASSERT_FALSE(report.has_value());
  EXPECT_TRUE(
      report.error().message.ends_with("\n  ALTER TABLE \"public\".\"outbox_orders\" ALTER "
                                       "COLUMN \"idempotency_key\" SET NOT NULL;"))
      << report.error().message;
}

TEST_F(SchemaTest, AnIdThatMayBeNullOrRepeatedIsRefusedByInitAndByARelay) {
  for (const char* change :
       {"ALTER TABLE outbox_orders DROP CONSTRAINT outbox_orders_pkey",
        "ALTER TABLE outbox_orders DROP CONSTRAINT outbox_orders_pkey, ADD UNIQUE (id), "
        "ALTER COLUMN id DROP NOT NULL"}) {
    SCOPED_TRACE(change);
    run(database, "DROP TABLE IF EXISTS outbox_orders, idempo_ledger");
    run(database, "DROP TYPE IF EXISTS outbox_status");
    adopt_document();
    init();
    run(database, change);

    const auto report = init_schema(database, settings.table);

    ASSERT_FALSE(report.has_value());
    EXPECT_NE(report.error().message.find("may be NULL or repeat itself"), std::string::npos);
    EXPECT_NE(check_message().find("may be NULL or repeat itself"), std::string::npos);
  }
}

TEST_F(SchemaTest, TablesThatInitMakesTakeNoRowThatCouldNotBeSent) {
  init();
  for (const char* row :
       {"(NULL, '1', 'pending')", "('', '1', 'pending')", "('a', NULL, 'pending')",
        "('a', '1', NULL)", "('a', '1', 'Pending')", "('a', '1', 'done')"}) {
    SCOPED_TRACE(row);
    const auto inserted = database.run(
        std::string("INSERT INTO hikyaku_outbox (idempotency_key, payload, status) VALUES ") + row);
    ASSERT_FALSE(inserted.has_value());
    EXPECT_TRUE(inserted.error().sqlstate == "23514" || inserted.error().sqlstate == "23502");
  }
  run(database, "INSERT INTO hikyaku_outbox (idempotency_key, payload) VALUES ('a', '1')");
}

TEST_F(SchemaTest, ATableThatCannotBeAdoptedIsNamedWithAllThatIsWrong) {
  run(database,
      "CREATE TABLE hikyaku_outbox (id uuid, idempotency_key text, body jsonb, "
      "created_at timestamp)");

  const auto report = init_schema(database, settings.table);

  ASSERT_FALSE(report.has_value());
  for (const char* part : {"\"id\" is of type uuid", "no column \"payload\"",
                           "\"created_at\" is of type timestamp without time zone", "--columns"}) {
    EXPECT_NE(report.error().message.find(part), std::string::npos) << report.error().message;
  }
  EXPECT_EQ(text(database, "SELECT count(*) FROM pg_tables WHERE tablename = 'hikyaku_ledger'"),
            "0");
}

TEST_F(SchemaTest, AStatusThatCannotHoldTheWordsIsRefusedByInitAndByARelay) {
  for (const char* type : {"char(9)", "\"char\"", "integer", "name", "jsonb"}) {
    SCOPED_TRACE(type);
    run(database, "DROP TABLE IF EXISTS hikyaku_outbox, hikyaku_ledger");
    init_schema(database, settings.table).value();
    run(database, "DROP TABLE hikyaku_ledger");
    run(database, std::string("CREATE TABLE hikyaku_ledger (idempotency_key text PRIMARY KEY, "
                              "status ") +
                      type + ")");

    const auto report = init_schema(database, settings.table);

    ASSERT_FALSE(report.has_value());
    EXPECT_NE(report.error().message.find("text, character varying or an enum"), std::string::npos)
        << report.error().message;
    const auto shape = check_schema(database, settings.table);
    ASSERT_FALSE(shape.has_value());
    EXPECT_NE(shape.error().error.message.find("text, character varying or an enum"),
              std::string::npos)
        << shape.error().error.message;
  }
  run(database, "DROP TABLE hikyaku_outbox, hikyaku_ledger");
  run(database,
      "CREATE TABLE hikyaku_outbox (id bigserial PRIMARY KEY, idempotency_key text UNIQUE, "
      "payload jsonb, status char(9))");
  EXPECT_FALSE(init_schema(database, settings.table).has_value());
}

TEST_F(SchemaTest, AStatusOfWordsMayBeAnEnumOrADomain) {
  run(database,
      "CREATE TYPE state AS ENUM ('pending', 'sending', 'succeeded', 'failed', 'aborted')");
  run(database, "CREATE DOMAIN word AS varchar(20)");
  run(database,
      "CREATE TABLE hikyaku_outbox (id bigserial PRIMARY KEY, idempotency_key text NOT NULL "
      "UNIQUE, "
      "payload jsonb, status state DEFAULT 'pending')");
  run(database, "CREATE TABLE hikyaku_ledger (idempotency_key text PRIMARY KEY, status word)");
  init_schema(database, settings.table).value();
  run(database, "INSERT INTO hikyaku_outbox (idempotency_key, payload) VALUES ('a', '1')");
  Relay one = relay();

  EXPECT_EQ(one.finish(one.claim().at(0), succeeded()), Written::succeeded);

  EXPECT_EQ(text(database, "SELECT status FROM hikyaku_outbox"), "succeeded");
  EXPECT_EQ(text(database, "SELECT status FROM hikyaku_ledger"), "succeeded");
}

TEST_F(SchemaTest, RowsThatRepeatAKeyAreAConflictThatCanBeMended) {
  adopt_document();
  run(database, "ALTER TABLE outbox_orders DROP CONSTRAINT outbox_orders_idempotency_key_key");
  run(database, "INSERT INTO outbox_orders (idempotency_key) VALUES ('twice'), ('twice')");
  const auto report = init_schema(database, settings.table);
  ASSERT_FALSE(report.has_value());
  EXPECT_EQ(report.error().kind, ErrorKind::conflict);

  run(database, "DELETE FROM outbox_orders WHERE id = 1");
  init();

  EXPECT_EQ(check_message(), "");
  EXPECT_EQ(text(database, "SELECT count(*) FROM pg_index WHERE NOT indisvalid"), "0");
}

TEST_F(SchemaTest, TheCheckNamesEverythingThatIsMissing) {
  EXPECT_NE(check_message().find("table \"hikyaku_outbox\""), std::string::npos);
  EXPECT_NE(check_message().find("hikyaku outbox init"), std::string::npos);
  init();
  run(database, "ALTER TABLE hikyaku_outbox DROP COLUMN expires_at");
  run(database, "DROP INDEX hikyaku_outbox_claim");
  settings.table.strict_order = true;

  const std::string message = check_message();

  for (const char* part :
       {"\"expires_at\"", "\"hikyaku_outbox_claim\"", "\"hikyaku_outbox_order\""}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  init();
  EXPECT_EQ(check_message(), "");
}

TEST_F(SchemaTest, ATableOfOursLeavesRoomInItsPagesAndOneThatWasThereIsNotTouched) {
  const auto options_of = [&](const std::string& table) {
    return text(database,
                "SELECT COALESCE(array_to_string(reloptions, ' '), '') FROM pg_class "
                "WHERE relname = '" +
                    table + "'");
  };
  init();
  EXPECT_NE(options_of("hikyaku_outbox").find("fillfactor=50"), std::string::npos);

  run(database, "ALTER TABLE hikyaku_outbox RESET (fillfactor)");
  const std::string before = options_of("hikyaku_outbox");
  const SchemaReport report = value(init_schema(database, settings.table));

  EXPECT_EQ(options_of("hikyaku_outbox"), before);
  EXPECT_TRUE(report.done.empty());
  EXPECT_EQ(check_message(), "") << "and a relay works on it";
}

TEST_F(SchemaTest, TheLedgerOfRowsThatLeaveHasAnIndexToCleanItBy) {
  init();
  settings.table.delete_succeeded = true;
  EXPECT_NE(check_message().find("\"hikyaku_outbox_ledger_clean\""), std::string::npos)
      << check_message();

  const SchemaReport report = value(init_schema(database, settings.table));

  EXPECT_EQ(report.done, std::vector<std::string>{"index \"hikyaku_outbox_ledger_clean\""});
  EXPECT_EQ(check_message(), "");
  EXPECT_TRUE(value(init_schema(database, settings.table)).done.empty());
}

TEST_F(SchemaTest, ASecondTableOfTheSchemaNeedsAFunctionOfItsOwn) {
  init();
  settings.table.outbox = "other outbox \"x\" {y}";
  settings.table.ledger = "other's ledger";
  const auto clash = init_schema(database, settings.table);
  ASSERT_FALSE(clash.has_value());
  EXPECT_EQ(clash.error().kind, ErrorKind::invalid_argument);

  init({.enqueue_function = "enqueue other"});

  run(database, "SELECT \"enqueue other\"('a', '1')");
  Relay one = relay();
  EXPECT_EQ(one.finish(one.claim().at(0), succeeded()), Written::succeeded);
}

TEST_F(SchemaTest, PayloadsOfEveryTypeAreReadAsTheyAre) {
  struct Case {
    const char* type;
    const char* literal;
    std::string expected;
  };
  const Case cases[] = {
      {"jsonb", R"('{"b":1,"a":"\u00e9"}')", "{\"a\": \"\xc3\xa9\", \"b\": 1}"},
      {"json", R"('{"b":1,  "a":"\u0000"}')", R"({"b":1,  "a":"\u0000"})"},
      {"text", "'{broken'", "{broken"},
      {"bytea", R"('\x00ff7b')", std::string("\0\xff{", 3)},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.type);
    settings.table.outbox = std::string("outbox_") + c.type;
    settings.table.ledger = std::string("ledger_") + c.type;
    const std::string function = std::string("enqueue_") + c.type;
    init({.enqueue_function = function, .payload_type = c.type});
    run(database, "SELECT " + function + "('a', " + c.literal + ")");
    Relay one = relay();

    const auto rows = one.claim();

    ASSERT_EQ(rows.size(), 1U);
    EXPECT_EQ(rows[0].row.payload, c.expected);
    EXPECT_TRUE(rows[0].row.is_json);
    const auto detail = value(Operator(database, settings, one.shape).show("a", false));
    ASSERT_TRUE(detail.has_value());
    EXPECT_FALSE(detail->payload.has_value());
    EXPECT_EQ(detail->payload_bytes, static_cast<std::int64_t>(c.expected.size()));
  }
}

TEST_F(SchemaTest, InsertsNotifyWhenTheyCommitAndOnlyThen) {
  init();
  Database listener = connect(where);
  run(listener, "LISTEN hikyaku_outbox");
  run(database, "BEGIN");
  run(database, "SELECT hikyaku_enqueue('a', '1')");
  run(listener, "SELECT 1");
  EXPECT_TRUE(value(listener.take_notifications()).empty());
  run(database, "COMMIT");

  run(listener, "SELECT 1");

  const auto heard = value(listener.take_notifications());
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].channel, settings.table.channel());
}

TEST_F(SchemaTest, ThePublicationIsMadeOnRequest) {
  init({.publication = true});
  EXPECT_EQ(
      text(database, "SELECT concat_ws(' ', pubname, pubinsert, pubupdate) FROM pg_publication"),
      "hikyaku_outbox t f");
  init({.publication = true});
}

TEST_F(SchemaTest, ATableInASchemaIsFoundByItsNameAndByTheSearchPath) {
  run(database, "CREATE SCHEMA app");
  settings.table.schema = "app";
  init();
  run(database, "SELECT app.hikyaku_enqueue('a', '1')");
  EXPECT_EQ(relay().claim().size(), 1U);

  run(database, "SET search_path = app");
  settings.table.schema = "";
  EXPECT_EQ(check_message(), "");
  EXPECT_TRUE(value(init_schema(database, settings.table)).done.empty());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
