#include "outbox/load_settings.h"

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

TEST(LoadSettings, TheDefaultsAreThoseOfTheProtocol) {
  const auto settings = load({});
  ASSERT_TRUE(settings.has_value());
  EXPECT_FALSE(settings->enabled);
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
TEST(LoadSettings, TheDefaultTextsMeanTheDefaults) {
  Texts texts;
  for (const SettingRow& row : setting_rows()) {
    if (!row.default_text.empty()) {
      texts[std::string(row.name)] = row.default_text;
    }
  }
  const auto said = load(texts);
  const auto done = load({});
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

TEST(LoadSettings, EveryVariableReachesItsSetting) {
  const auto settings =
      load({{"OUTBOX_DATABASE", "postgres://a@b/c"},
            {"OUTBOX_LISTEN_DATABASE", "postgres://a@direct/c"},
            {"OUTBOX_ENABLED", "true"},
            {"OUTBOX_TABLE", "outbox_orders"},
            {"OUTBOX_LEDGER_TABLE", "idempo_ledger"},
            {"OUTBOX_SCHEMA", "app"},
            {"OUTBOX_COLUMNS", "payload=order_request_json, headers=,ledger.status=state"},
            {"OUTBOX_STRICT_ORDER", "on"},
            {"OUTBOX_BACKOFF_SEC", "[0.5, 1]"},
            {"OUTBOX_SOURCE", "replication"},
            {"OUTBOX_ADAPTER", "sqs"},
            {"OUTBOX_RETENTION_FINISHED_SEC", "0"}});
  ASSERT_TRUE(settings.has_value()) << settings.error().message;
  EXPECT_EQ(settings->database.reveal(), "postgres://a@b/c");
  EXPECT_EQ(settings->direct_database().reveal(), "postgres://a@direct/c");
  EXPECT_TRUE(settings->enabled);
  EXPECT_EQ(settings->table.outbox, "outbox_orders");
  EXPECT_EQ(settings->table.ledger, "idempo_ledger");
  EXPECT_EQ(settings->table.schema, "app");
  EXPECT_EQ(settings->table.outbox_columns.payload, "order_request_json");
  EXPECT_EQ(settings->table.outbox_columns.headers, "");
  EXPECT_EQ(settings->table.ledger_columns.status, "state");
  EXPECT_TRUE(settings->table.strict_order);
  EXPECT_EQ(settings->backoff, (std::vector<Millis>{Millis{500}, Millis{1'000}}));
  EXPECT_EQ(settings->source, SourceKind::replication);
  EXPECT_EQ(settings->adapter, Adapter::sqs);
  EXPECT_EQ(settings->retention_finished, Millis{0});
}

TEST(LoadSettings, FlagsWinOverTheEnvironment) {
  const auto settings = load({{"OUTBOX_BATCH", "10"}}, {{"OUTBOX_BATCH", "20"}});
  ASSERT_TRUE(settings.has_value());
  EXPECT_EQ(settings->batch, 20U);
}

TEST(LoadSettings, TimesMayHaveUnitsAsEverywhere) {
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

TEST(LoadSettings, AWrongValueIsNamedWithWhatWouldBeRight) {
  struct Row {
    const char* name;
    const char* text;
    const char* wanted;
  };
  for (const Row& row :
       {Row{"OUTBOX_BATCH", "0", "from 1 to 10000"}, Row{"OUTBOX_BATCH", "many", "a whole number"},
        Row{"OUTBOX_CONCURRENCY", "-1", "from 1 to 10000"},
        Row{"OUTBOX_POLL_INTERVAL_SEC", "0", "from 0.01 to 3600"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "2 m", "a number of seconds"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "2d", "from 1 to 86400, or a duration such as 500ms"},
        Row{"OUTBOX_LOCK_LEASE_SEC", "nan", "a number of seconds"},
        Row{"OUTBOX_BACKOFF_SEC", "5,,10", "such as 5,10,20"},
        Row{"OUTBOX_BACKOFF_SEC", "[]", "such as 5,10,20"},
        Row{"OUTBOX_SOURCE", "kafka", "notify, poll, replication"},
        Row{"OUTBOX_ADAPTER", "smtp", "http, hikyaku, sqs"},
        Row{"OUTBOX_ENABLED", "maybe", "true or false"},
        Row{"OUTBOX_COLUMNS", "body=x", "OUTBOX_COLUMNS: "},
        Row{"BROKER_TIMEOUT_MS", "2.5", "a number of milliseconds"},
        Row{"BROKER_TIMEOUT_MS", "100000", "OUTBOX_LOCK_LEASE_SEC must be"},
        Row{"OUTBOX_SLOT_MAX_WAL_BYTES", "4GiB", "a whole number"}}) {
    SCOPED_TRACE(std::string(row.name) + "=" + row.text);
    const std::string error = error_of({{row.name, row.text}});
    EXPECT_NE(error.find(row.name), std::string::npos) << error;
    EXPECT_NE(error.find(row.wanted), std::string::npos) << error;
  }
}

TEST(LoadSettings, ASecretComesFromAFileWithoutItsLineEnd) {
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

TEST(LoadSettings, FlagsAreNamedAfterTheirVariablesAndSecretsHaveNone) {
  std::set<std::string> flags;
  for (const SettingRow& row : setting_rows()) {
    const std::string flag = flag_of(row);
    EXPECT_EQ(flag.empty(), row.kind == "secret") << row.name;
    EXPECT_TRUE(flag.empty() || flags.insert(flag).second) << flag;
  }
  EXPECT_TRUE(flags.contains("--batch"));
  EXPECT_TRUE(flags.contains("--broker-timeout-ms"));
  EXPECT_TRUE(flags.contains("--aws-region"));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
