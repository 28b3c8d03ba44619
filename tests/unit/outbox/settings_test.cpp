#include "outbox/settings.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <set>

namespace hk::outbox {
namespace HK_TEST_FILE {

using Texts = std::map<std::string, std::string>;

Result<Settings> load(const Texts& variables, const Texts& flags = {}) {
  return load_settings(flags, [&variables](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

std::string error_of(const Texts& variables) {
  const auto settings = load(variables);
  return settings ? "" : settings.error().message;
}

TEST(Settings, TheDefaultsAreThoseOfTheProtocol) {
  const auto settings = load({});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->concurrency, 4U);
  EXPECT_EQ(settings->batch, 32U);
  EXPECT_EQ(settings->poll_interval, Millis{500});
  EXPECT_EQ(settings->lock_lease, Millis{120'000});
  EXPECT_EQ(settings->max_attempts, 6);
  EXPECT_EQ(settings->broker_timeout, Millis{2'500});
  EXPECT_EQ(settings->backoff.size(), 6U);
  EXPECT_EQ(settings->backoff.front(), Millis{5'000});
  EXPECT_EQ(settings->backoff.back(), Millis{160'000});
}

/// What the help says is what is done.
TEST(Settings, TheDefaultTextsMeanTheDefaults) {
  Texts texts;
  for (const config::OptionRow& row : settings_table().rows) {
    if (!row.default_text.empty()) {
      texts[std::string(row.variable)] = row.default_text;
    }
  }
  const auto said = load(texts);
  const Settings defaults;
  const Settings* const done = &defaults;
  ASSERT_TRUE(said.has_value()) << said.error().message;
  EXPECT_EQ(said->concurrency, done->concurrency);
  EXPECT_EQ(said->batch, done->batch);
  EXPECT_EQ(said->poll_interval, done->poll_interval);
  EXPECT_EQ(said->lock_lease, done->lock_lease);
  EXPECT_EQ(said->max_attempts, done->max_attempts);
  EXPECT_EQ(said->backoff, done->backoff);
  EXPECT_EQ(said->broker_timeout, done->broker_timeout);
  EXPECT_EQ(said->source, done->source);
  EXPECT_EQ(said->adapter, done->adapter);
  EXPECT_EQ(said->payload_bytes_max, done->payload_bytes_max);
  EXPECT_EQ(said->idempotency_header, done->idempotency_header);
  EXPECT_EQ(said->retention_finished, done->retention_finished);
  EXPECT_EQ(said->slot_wal_max, done->slot_wal_max);
  EXPECT_EQ(said->table.outbox, done->table.outbox);
  EXPECT_EQ(said->table.ledger, done->table.ledger);
  EXPECT_EQ(said->aws_region, done->aws_region);
}

TEST(Settings, EveryVariableReachesItsSetting) {
  const auto settings =
      load({{"OUTBOX_DATABASE", "postgres://a@b/c"},
            {"OUTBOX_LISTEN_DATABASE", "postgres://a@direct/c"},
            {"OUTBOX_TABLE", "outbox_orders"},
            {"OUTBOX_LEDGER_TABLE", "idempo_ledger"},
            {"OUTBOX_SCHEMA", "app"},
            {"OUTBOX_COLUMNS", "payload=order_request_json, headers=,ledger.status=state"},
            {"OUTBOX_STRICT_ORDER", "on"},
            {"OUTBOX_BACKOFF_SEC", "[0.5, 1]"},
            {"OUTBOX_SOURCE", "replication"},
            {"OUTBOX_ADAPTER", "sqs"},
            {"OUTBOX_DELETE_SUCCEEDED", "true"},
            {"OUTBOX_RETENTION_FINISHED_SEC", "0"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->database.reveal(), "postgres://a@b/c");
  EXPECT_EQ(settings->direct_database().reveal(), "postgres://a@direct/c");
  EXPECT_EQ(settings->table.outbox, "outbox_orders");
  EXPECT_EQ(settings->table.ledger, "idempo_ledger");
  EXPECT_EQ(settings->table.schema, "app");
  EXPECT_EQ(settings->table.outbox_columns.payload, "order_request_json");
  EXPECT_EQ(settings->table.outbox_columns.headers, "");
  EXPECT_EQ(settings->table.ledger_columns.status, "state");
  EXPECT_TRUE(settings->table.strict_order);
  EXPECT_TRUE(settings->table.delete_succeeded);
  EXPECT_EQ(settings->backoff, (std::vector<Millis>{Millis{500}, Millis{1'000}}));
  EXPECT_EQ(settings->source, SourceKind::replication);
  EXPECT_EQ(settings->adapter, Adapter::sqs);
  EXPECT_EQ(settings->retention_finished, Millis{0});
}

TEST(Settings, FlagsWinOverTheEnvironment) {
  const auto settings = load({{"OUTBOX_BATCH", "10"}}, {{"--batch", "20"}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->batch, 20U);
}

TEST(Settings, TimesMayHaveUnitsAsEverywhere) {
  const auto settings = load({{"OUTBOX_POLL_INTERVAL_SEC", "500ms"},
                              {"OUTBOX_LOCK_LEASE_SEC", "2m"},
                              {"OUTBOX_BACKOFF_SEC", "5, 10s,1m30s"},
                              {"BROKER_TIMEOUT_MS", "3s"},
                              {"OUTBOX_RETENTION_FINISHED_SEC", "7d"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->poll_interval, Millis{500});
  EXPECT_EQ(settings->lock_lease, Millis{120'000});
  EXPECT_EQ(settings->backoff,
            (std::vector<Millis>{Millis{5'000}, Millis{10'000}, Millis{90'000}}));
  EXPECT_EQ(settings->broker_timeout, Millis{3'000});
  EXPECT_EQ(settings->retention_finished, Millis{604'800'000});
}

TEST(Settings, AWrongValueIsNamedWithWhatWouldBeRight) {
  struct Row {
    const char* name;
    const char* text;
    const char* wanted;
  };
  for (const Row& row :
       {Row{"OUTBOX_BATCH", "0", "from 1 to 10000"},
        Row{"OUTBOX_BATCH", "many", "a whole number"},
        Row{"OUTBOX_CONCURRENCY", "-1", "a whole number"},
        Row{"OUTBOX_CONCURRENCY", "10001", "from 1 to 10000"},
        Row{"OUTBOX_POLL_INTERVAL_SEC", "0", "from 10ms to 1h"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "2 m", "a number of seconds, or for example 250ms"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "2d", "from 1s to 1d"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "nan", "a number of seconds"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "-5", "a number of seconds"},
        Row{"OUTBOX_BACKOFF_SEC", "5,,10", "for example 5,10,20"},
        Row{"OUTBOX_BACKOFF_SEC", "[]", "for example 5,10,20"},
        Row{"OUTBOX_BACKOFF_SEC", "5,8d", "each must be from 0 to 7d"},
        Row{"OUTBOX_SOURCE", "kafka", "notify, poll, replication"},
        Row{"OUTBOX_ADAPTER", "smtp", "http, hikyaku, sqs"},
        Row{"OUTBOX_STRICT_ORDER", "maybe", "true or false"},
        Row{"OUTBOX_COLUMNS", "body=x", "OUTBOX_COLUMNS: "},
        Row{"BROKER_TIMEOUT_MS", "2.5ns", "a number of milliseconds"},
        Row{"BROKER_TIMEOUT_MS", "100000", "OUTBOX_LOCK_LEASE_SEC must be"},
        Row{"OUTBOX_MAX_ATTEMPTS", "4294967297", "from 1 to 1000000"},
        Row{"OUTBOX_SLOT_MAX_WAL_BYTES", "4 GiB", "a size"},
        Row{"OUTBOX_SLOT_MAX_WAL_BYTES", "0", "at least 1"}}) {
    SCOPED_TRACE(std::string(row.name) + "=" + row.text);
    const std::string error = error_of({{row.name, row.text}});
    EXPECT_NE(error.find(row.name), std::string::npos) << error;
    EXPECT_NE(error.find(row.wanted), std::string::npos) << error;
  }
}

TEST(Settings, ASecretComesFromAFileWithoutItsLineEnd) {
  const std::string path = testing::TempDir() + "hk_outbox_secret";
  std::ofstream(path) << "s3cret\n";
  const auto settings = load({{"OUTBOX_BROKER_TOKEN_FILE", path}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->broker_token.reveal(), "s3cret");
  EXPECT_NE(error_of({{"OUTBOX_BROKER_TOKEN_FILE", path}, {"OUTBOX_BROKER_TOKEN", "x"}}), "");
  std::remove(path.c_str());
  const std::string gone = error_of({{"OUTBOX_BROKER_TOKEN_FILE", path}});
  EXPECT_NE(gone.find(path), std::string::npos) << gone;
}

TEST(Settings, SizesMayHaveUnitsAsEverywhere) {
  const auto settings =
      load({{"OUTBOX_PAYLOAD_MAX_BYTES", "1048576"}, {"OUTBOX_SLOT_MAX_WAL_BYTES", "2GiB"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->payload_bytes_max, 1U << 20U);
  EXPECT_EQ(settings->slot_wal_max, 2ULL << 30U);
}

TEST(Settings, AnEmptyVariableCountsAsNotSet) {
  const auto settings = load({{"OUTBOX_TABLE", ""}, {"OUTBOX_BATCH", ""}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->table.outbox, "hikyaku_outbox");
  EXPECT_EQ(settings->batch, 32U);
}

TEST(Settings, APasswordOfTheDatabaseNeverStandsOnTheCommandLine) {
  for (const char* with : {"postgres://app:s3cret@127.0.0.1/shop", "host=a password=s3cret",
                           "postgres://app@127.0.0.1/shop?password=s3cret"}) {
    EXPECT_TRUE(load({{"OUTBOX_DATABASE", with}}).has_value());
    const auto settings = load({}, {{"--database", with}});
    ASSERT_FALSE(settings.has_value()) << with;
    EXPECT_NE(settings.error().message.find("OUTBOX_DATABASE_FILE"), std::string::npos);
    EXPECT_EQ(settings.error().message.find("s3cret"), std::string::npos);
  }
  for (const char* without : {"postgres://app@127.0.0.1:5432/shop", "host=a dbname=b"}) {
    EXPECT_TRUE(load({}, {{"--database", without}}).has_value()) << without;
  }
}

TEST(Settings, FlagsAreNamedAfterTheirVariablesAndSecretsHaveNone) {
  std::set<std::string> flags;
  for (const config::OptionRow& row : settings_table().rows) {
    const std::string flag = settings_table().flag_of(row);
    EXPECT_EQ(flag.empty(), row.kind == config::Kind::secret) << row.variable;
    EXPECT_TRUE(flag.empty() || flags.insert(flag).second) << flag;
    EXPECT_TRUE(row.help.ends_with('.')) << row.variable;
  }
  EXPECT_TRUE(flags.contains("--batch"));
  EXPECT_TRUE(flags.contains("--broker-timeout-ms"));
  EXPECT_TRUE(flags.contains("--aws-region"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
