/// Statements of the relay whose plans must not depend on statistics: those of an outbox are always
/// of another time.
#include <string>
#include <utility>
#include <vector>

#include "integration/outbox/relay_fixture.h"
#include "outbox/store_sql.h"

namespace hk::outbox::test {
namespace HK_TEST_FILE {

class PlanTest : public OutboxTest {};

TEST_F(PlanTest, RowsThatAreGivenAreFoundByTheirKeysWhateverTheStatisticsSay) {
  init();
  run(database,
      "INSERT INTO hikyaku_outbox (idempotency_key, payload) "
      "SELECT 'key' || i, '1' FROM generate_series(1, 5000) i");
  run(database,
      "INSERT INTO hikyaku_ledger (idempotency_key) SELECT 'key' || i FROM generate_series(1, "
      "5000) i");
  const Relay one = relay();
  const StoreSql sql = store_sql(settings.table, one.shape);
  const std::vector<Parameter> claims = {"{1,2}", "{a,b}", "{0,0}"};
  const auto with = [&](std::vector<Parameter> rest) {
    std::vector<Parameter> all = claims;
    all.insert(all.end(), rest.begin(), rest.end());
    return all;
  };
  const std::vector<std::pair<std::string, std::vector<Parameter>>> statements = {
      {sql.claim, {std::int64_t{1000}, "x", std::int64_t{1000}, "-infinity", std::int64_t{0}}},
      {sql.date_rows, {}},
      {sql.date_leases, {}},
      {sql.lock, claims},
      {sql.write_quickly, with({"{a,b}", "{d,d}", "{200,200}", "{1,1}"})},
      {sql.leave, {"{1,2}", "{0,0}"}},
      {sql.write_ledger, with({"{a,b}", "{d,d}", "{t,f}", "{200,500}", "{1,1}", "{r,r}"})},
      {sql.write_outbox,
       with({"{a,b}", "{d,d}", "{succeeded,failed}", "{r,r}", "{m,m}", "{0,5000}", "{f,t}"})},
      {sql.locked, claims},
      {sql.heartbeat, claims},
      {sql.take_expired, {std::int64_t{1000}, "x", std::int64_t{1000}}},
      {sql.release, claims},
      {sql.postpone, with({"{0,-1}", "{r,r}", "{m,m}"})},
      {sql.clean_up, {std::int64_t{1000}, std::int64_t{1000}}},
  };
  // As they are when nothing is sending, and after all was cleaned away.
  for (const std::string statistics :
       {"ANALYZE",
        "UPDATE pg_class SET reltuples = 0, relpages = 1 WHERE relname LIKE 'hikyaku%'"}) {
    run(database, statistics);
    for (const auto& [statement, parameters] : statements) {
      const std::string explain = "EXPLAIN " + statement;
      const auto results =
          value(database.run_together({{plan_settings, {}}, {explain, parameters}}));
      const Rows& plan = results[1];
      std::string lines;
      for (std::size_t i = 0; i < plan.size(); ++i) {
        lines += std::string(plan.text(i, 0)) + "\n";
      }
      EXPECT_EQ(lines.find("Seq Scan on hikyaku"), std::string::npos) << statement << lines;
      for (std::size_t i = 0; i < plan.size(); ++i) {
        const std::string_view line = plan.text(i, 0);
        if (line.find("Scan") != std::string_view::npos &&
            line.find("_pkey") != std::string_view::npos) {
          ASSERT_LT(i + 1, plan.size()) << statement << lines;
          EXPECT_NE(plan.text(i + 1, 0).find("Index Cond"), std::string_view::npos)
              << statistics << statement << lines;
        }
      }
    }
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox::test
