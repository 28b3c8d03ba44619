#include "outbox/schema.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "outbox/catalog.h"
#include "outbox/schema_sql.h"
#include "outbox/sql_text.h"

namespace hk::outbox {
namespace {

/// One number for every init of a database: adopting two tables at once gains nothing.
constexpr std::string_view lock_number = "7521964412803661";

struct Step {
  std::string what{};
  std::string sql{};
  bool alone = false;  ///< not within a transaction
};
using Steps = std::vector<Step>;

bool allows_type(std::string_view types, std::string_view type) {
  while (!types.empty()) {
    const std::size_t bar = types.find('|');
    if (types.substr(0, bar) == type) {
      return true;
    }
    types = bar == std::string_view::npos ? "" : types.substr(bar + 1);
  }
  return false;
}

/// What is wrong with the columns that are there, and which are not.
struct ColumnFindings {
  std::vector<const ColumnPlan*> missing{};
  std::string wrong{};
};

ColumnFindings compare(const Table& table, const Relation& relation,
                       std::span<const ColumnPlan> plans) {
  ColumnFindings out;
  for (const ColumnPlan& plan : plans) {
    const std::string quoted = sql_text(table, "{" + std::string(plan.name) + "}");
    if (quoted == "\"\"") {
      continue;
    }
    const auto found =
        std::find_if(relation.types.begin(), relation.types.end(),
                     [&](const auto& column) { return quoted_identifier(column.first) == quoted; });
    if (found == relation.types.end()) {
      out.missing.push_back(&plan);
    } else if (plan.types.empty() && !relation.words.contains(found->first)) {
      // A char(n), say, would cut every status to one letter.
      out.wrong += (out.wrong.empty() ? "" : "; ") + ("column " + quoted + " is of type ") +
                   found->second +
                   ", which must be text, character varying or an enum of the five statuses";
    } else if (!plan.types.empty() && !allows_type(plan.types, found->second)) {
      out.wrong += (out.wrong.empty() ? "" : "; ") + ("column " + quoted + " is of type ") +
                   found->second + ", which must be one of " + std::string(plan.types);
    }
  }
  return out;
}

std::string type_of(const Relation& relation, const std::string& column,
                    const std::string& otherwise) {
  const auto found = relation.types.find(column);
  return found == relation.types.end() ? otherwise : found->second;
}

/// Rows are written by their ids: two of one id would end as one.
std::string id_problem(const Table& table, const Relation& relation) {
  if (!relation.exists ||
      (relation.id_is_unique && relation.required.contains(table.outbox_columns.id))) {
    return "";
  }
  return sql_text(table, "the id {id} of {outbox} may be NULL or repeat itself");
}

// ---- The plan ----

/// What only the owner of an adopted table can decide: each problem, and the statements that mend
/// it. `keyless`: rows that have no idempotency key.
std::string explain_adoption(const Table& table, const Relation& relation, std::int64_t keyless) {
  const auto text = [&](std::string_view sql) { return sql_text(table, sql); };
  std::string problems;
  if (const std::string problem = id_problem(table, relation); !problem.empty()) {
    problems += "\n" + problem + ". Make it the primary key, or run:\n" +
                text(
                    "  ALTER TABLE {outbox} ALTER COLUMN {id} SET NOT NULL;\n"
                    "  CREATE UNIQUE INDEX CONCURRENTLY ON {outbox} ({id});");
  }
  if (!relation.required.contains(table.outbox_columns.idempotency_key)) {
    problems += "\n" + text(
                           "the idempotency key {idempotency_key} of {outbox} may be NULL, and a "
                           "row without a key cannot be told from another. Run:\n");
    if (keyless > 0) {
      problems += text(
          "  UPDATE {outbox} SET {idempotency_key} = 'row-' || {id}\n"
          "   WHERE COALESCE({idempotency_key}, '') = '';  -- " +
          std::to_string(keyless) + (keyless == 1 ? " row has no key" : " rows have no key") +
          ": or delete what is not needed\n");
    }
    problems += text("  ALTER TABLE {outbox} ALTER COLUMN {idempotency_key} SET NOT NULL;");
  }
  return problems;
}

/// Half of every page is left to the second and third version of its rows, which then need no page
/// of their own: less to write, and the table is smaller in the end.
constexpr const char* outbox_storage = "fillfactor = 50, ";

/// Of an outbox whose succeeded rows leave at once. Entries are written in the order of their
/// times, so a summary of each stretch of pages is enough, and costs an insert nothing.
std::string ledger_clean_index(const Table& table) { return table.channel() + "_ledger_clean"; }

/// Makes the relation, or adds the columns that it lacks.
Result<void> plan_relation(Steps& steps, const Table& table, const Relation& relation,
                           std::span<const ColumnPlan> plans, const std::string& name,
                           const std::string& definition, const std::string& storage) {
  if (!relation.exists) {
    // Every row is written three times and dies twice: vacuum by a small share, so that the dead
    // entries at the front of the claim index stay few.
    steps.push_back({"table " + name, "CREATE TABLE " + name + " (\n" + definition + "\n) WITH (" +
                                          storage +
                                          "autovacuum_vacuum_scale_factor = 0.02, "
                                          "autovacuum_vacuum_threshold = 1000, "
                                          "autovacuum_analyze_scale_factor = 0.05);"});
    return {};
  }
  if (relation.kind != "r") {
    return fail(ErrorKind::invalid_argument,
                name + " is not an ordinary table: partitioned tables and views cannot be adopted");
  }
  const ColumnFindings columns = compare(table, relation, plans);
  std::string wrong = columns.wrong;
  for (const ColumnPlan* plan : columns.missing) {
    const std::string column = sql_text(table, "{" + std::string(plan->name) + "}");
    if (plan->must_exist) {
      wrong += (wrong.empty() ? "" : "; ") + ("there is no column " + column);
      continue;
    }
    steps.push_back({"column " + column + " of " + name, "ALTER TABLE " + name +
                                                             " ADD COLUMN IF NOT EXISTS " + column +
                                                             " " + std::string(plan->type) + ";"});
  }
  if (!wrong.empty()) {
    return fail(ErrorKind::invalid_argument,
                name + " cannot be adopted: " + wrong +
                    ". Give the names of its columns with --columns name=column");
  }
  return {};
}

/// On a table that is there the index is made without keeping writers out, which cannot be part of
/// a transaction. One that was cut off on the way is there and not valid: it is made again.
void plan_index(Steps& steps, const Table& table, const Relation& relation,
                const std::string& index, const std::string& what, const std::string& on) {
  const auto found = relation.indexes.find(index);
  if (found != relation.indexes.end() && found->second) {
    return;
  }
  const std::string qualified = quoted_identifier(table.schema) + "." + quoted_identifier(index);
  if (found != relation.indexes.end()) {
    steps.push_back({"leftover index " + quoted_identifier(index) + " dropped",
                     "DROP INDEX CONCURRENTLY IF EXISTS " + qualified + ";", true});
  }
  steps.push_back({"index " + quoted_identifier(index),
                   "CREATE " + what + (relation.exists ? " CONCURRENTLY IF NOT EXISTS " : " ") +
                       quoted_identifier(index) + " ON " + on + ";",
                   relation.exists});
}

void plan_indexes(Steps& steps, const Table& table, const Catalog& catalog) {
  const std::string base = table.channel();
  if (!catalog.outbox.key_is_unique) {
    plan_index(steps, table, catalog.outbox, base + "_key", "UNIQUE INDEX",
               sql_text(table, "{outbox} ({idempotency_key})"));
  }
  if (catalog.ledger.exists && !catalog.ledger.key_is_unique) {
    plan_index(steps, table, catalog.ledger, base + "_ledger_key", "UNIQUE INDEX",
               sql_text(table, "{ledger} ({l.idempotency_key})"));
  }
  if (table.delete_succeeded) {
    plan_index(steps, table, catalog.ledger, ledger_clean_index(table), "INDEX",
               sql_text(table, "{ledger} USING brin ({l.updated_at})"));
  }
  for (const IndexPlan& plan : index_plans()) {
    if (plan.for_strict_order && !table.strict_order) {
      continue;
    }
    plan_index(steps, table, catalog.outbox, base + std::string(plan.suffix), "INDEX",
               sql_text(table, "{outbox} " + std::string(plan.on)));
  }
}

/// Function, trigger, publication and version: written anew by every init, so that a changed
/// mapping reaches them; reported only where they are new.
void plan_rest(Steps& steps, const Table& table, const Catalog& catalog,
               const InitOptions& options) {
  const std::string payload_type =
      type_of(catalog.outbox, table.outbox_columns.payload, options.payload_type);
  const bool known =
      catalog.version == schema_version && catalog.enqueue_function == options.enqueue_function;
  steps.push_back(
      {known ? "" : "function " + quoted_identifier(options.enqueue_function),
       enqueue_function_sql(table, options.enqueue_function, payload_type,
                            type_of(catalog.outbox, table.outbox_columns.headers, "jsonb"))});
  if (options.notify && !catalog.has_trigger) {
    steps.push_back(
        {"trigger " + quoted_identifier(table.channel() + "_notify"), notify_trigger_sql(table)});
  }
  if (options.publication && !catalog.has_publication) {
    // That there is a row is all that a relay wants to know: its content need not be streamed.
    steps.push_back(
        {"publication " + quoted_identifier(table.channel()),
         "CREATE PUBLICATION " + quoted_identifier(table.channel()) + " FOR TABLE " +
             table.outbox_name() +
             (catalog.has_column_lists ? " (" + quoted_identifier(table.outbox_columns.id) + ")"
                                       : "") +
             " WITH (publish = 'insert');"});
  }
  const std::string versions =
      quoted_identifier(table.schema) + "." + quoted_identifier("hikyaku_outbox_version");
  steps.push_back(
      {"", "CREATE TABLE IF NOT EXISTS " + versions +
               " (\n  outbox text PRIMARY KEY,\n  version integer NOT NULL,\n"
               "  enqueue_function text NOT NULL,\n"
               "  updated_at timestamptz NOT NULL DEFAULT now()\n);\nINSERT INTO " +
               versions + " (outbox, version, enqueue_function) VALUES (" +
               quoted_literal(table.outbox) + ", " + std::to_string(schema_version) + ", " +
               quoted_literal(options.enqueue_function) +
               ")\n  ON CONFLICT (outbox) DO UPDATE SET version = excluded.version,\n"
               "    enqueue_function = excluded.enqueue_function, updated_at = now();"});
}

Result<Steps> plan_schema(const Table& table, const Catalog& catalog, const InitOptions& options,
                          std::int64_t keyless) {
  if (catalog.version > schema_version) {
    return fail(ErrorKind::invalid_argument,
                table.outbox_name() + " was set up by a newer version of hikyaku: run its init");
  }
  if (!allows_type("jsonb|json|text|bytea", options.payload_type)) {
    return fail(ErrorKind::invalid_argument,
                "the payload type " + options.payload_type + " must be jsonb, json, text or bytea");
  }
  if (table.strict_order && table.outbox_columns.order_key.empty()) {
    return fail(
        ErrorKind::invalid_argument,
        "strict order needs a column for the order key: name it with --columns order_key=…");
  }
  const auto owner = catalog.functions.find(options.enqueue_function);
  if (owner != catalog.functions.end() && owner->second != table.outbox) {
    return fail(ErrorKind::invalid_argument,
                "the function " + options.enqueue_function + " writes into \"" + owner->second +
                    "\": give this table one of its own with --enqueue-function name");
  }
  Steps steps;
  if (auto planned =
          plan_relation(steps, table, catalog.outbox, outbox_column_plans(), table.outbox_name(),
                        outbox_definition(table, options.payload_type), outbox_storage);
      !planned) {
    return std::unexpected(planned.error());
  }
  if (const std::string problems =
          catalog.outbox.exists ? explain_adoption(table, catalog.outbox, keyless) : "";
      !problems.empty()) {
    return fail(ErrorKind::invalid_argument,
                table.outbox_name() + " cannot be adopted as it is:" + problems);
  }
  if (auto planned = plan_relation(steps, table, catalog.ledger, ledger_column_plans(),
                                   table.ledger_name(), ledger_definition(table), "");
      !planned) {
    return std::unexpected(planned.error());
  }
  plan_rest(steps, table, catalog, options);
  plan_indexes(steps, table, catalog);
  return steps;
}

// ---- Running it ----

std::string transaction_of(const Steps& steps) {
  std::string sql =
      "BEGIN;\n-- Rather give up than queue everybody behind a lock that is not free.\n"
      "SET LOCAL lock_timeout = '10s';\n";
  for (const Step& step : steps) {
    if (!step.alone) {
      sql += step.sql + "\n";
    }
  }
  return sql + "COMMIT;\n";
}

SchemaReport report_of(const Steps& steps) {
  SchemaReport report;
  report.sql = transaction_of(steps);
  for (const Step& step : steps) {
    if (step.alone) {
      report.sql += step.sql + "\n";
    }
    if (!step.what.empty()) {
      report.done.push_back(step.what);
    }
  }
  return report;
}

Error explained(const DatabaseError& error, const Step& step) {
  if (error.sqlstate == "23505") {
    return {ErrorKind::conflict, step.what + " cannot be made: " + error.error.message +
                                     ". Rows with the same key must be merged or deleted first"};
  }
  return {error.error.kind, step.what + ": " + error.error.message};
}

Result<void> run_steps(Database& database, const Steps& steps) {
  if (auto ran = database.run_script(transaction_of(steps)); !ran) {
    // The transaction that failed is still open. What closing it says does not matter any more.
    (void)database.run("ROLLBACK");
    return std::unexpected(ran.error().error);
  }
  for (const Step& step : steps) {
    if (!step.alone) {
      continue;
    }
    if (auto ran = database.run(step.sql); !ran) {
      return std::unexpected(explained(ran.error(), step));
    }
  }
  return {};
}

/// By asking again and again: a session that waits within a statement holds a snapshot, and CREATE
/// INDEX CONCURRENTLY of the one that has the lock would wait for that snapshot.
Result<void> lock(Database& database, Millis wait) {
  const auto deadline = std::chrono::steady_clock::now() + wait;
  while (true) {
    auto got = database.run("SELECT pg_catalog.pg_try_advisory_lock($1::bigint)", {lock_number});
    if (!got) {
      return std::unexpected(got.error().error);
    }
    if (got->flag(0, 0)) {
      return {};
    }
    if (std::chrono::steady_clock::now() >= deadline) {
      return fail(ErrorKind::conflict, "another init is running in this database: try again later");
    }
    std::this_thread::sleep_for(Millis{50});
  }
}

/// How many rows have no key, where they may.
Result<std::int64_t> count_keyless(Database& database, const Table& table,
                                   const Relation& relation) {
  const std::string& key = table.outbox_columns.idempotency_key;
  if (relation.kind != "r" || !relation.types.contains(key) || relation.required.contains(key)) {
    return 0;
  }
  auto counted = database.run(sql_text(
      table, "SELECT count(*) FROM {outbox} WHERE COALESCE({idempotency_key}::text, '') = ''"));
  if (!counted) {
    return std::unexpected(counted.error().error);
  }
  return counted->number(0, 0);
}

Result<SchemaReport> init_locked(Database& database, Table table, const InitOptions& options) {
  auto catalog = read_catalog(database, table);
  if (!catalog) {
    return std::unexpected(catalog.error().error);
  }
  if (catalog->schema.empty()) {
    return fail(ErrorKind::invalid_argument,
                "no schema of the search path exists: name one with --schema");
  }
  table.schema = catalog->schema;
  const auto keyless = count_keyless(database, table, catalog->outbox);
  if (!keyless) {
    return std::unexpected(keyless.error());
  }
  auto steps = plan_schema(table, *catalog, options, *keyless);
  if (!steps) {
    return std::unexpected(steps.error());
  }
  if (!options.print) {
    if (auto ran = run_steps(database, *steps); !ran) {
      return std::unexpected(ran.error());
    }
  }
  return report_of(*steps);
}

}  // namespace

Result<SchemaReport> init_schema(Database& database, const Table& table,
                                 const InitOptions& options) {
  if (database.server_version() < 120000) {
    return fail(ErrorKind::invalid_argument, "PostgreSQL 12 or newer is needed");
  }
  database.set_timeout(options.step_timeout);
  if (auto locked = lock(database, options.wait_for_others); !locked) {
    return std::unexpected(locked.error());
  }
  auto report = init_locked(database, table, options);
  // A connection that broke has let it go by itself.
  (void)database.run("SELECT pg_catalog.pg_advisory_unlock($1::bigint)", {lock_number});
  return report;
}

DatabaseResult<Shape> check_schema(Database& database, const Table& table) {
  auto catalog = read_catalog(database, table);
  if (!catalog) {
    return std::unexpected(std::move(catalog).error());
  }
  std::string lacks;
  const auto add = [&](const std::string& what) { lacks += (lacks.empty() ? "" : "; ") + what; };
  if (database.server_version() < 120000) {
    add("PostgreSQL 12 or newer");
  }
  const auto check = [&](const Relation& relation, const std::string& name,
                         std::span<const ColumnPlan> plans) {
    if (!relation.exists) {
      add("table " + name);
      return;
    }
    const ColumnFindings columns = compare(table, relation, plans);
    for (const ColumnPlan* plan : columns.missing) {
      add("column " + sql_text(table, "{" + std::string(plan->name) + "}") + " of " + name);
    }
    if (!columns.wrong.empty()) {
      add(columns.wrong);
    }
    if (!relation.key_is_unique) {
      add("a unique index on the idempotency key of " + name);
    }
  };
  check(catalog->outbox, table.outbox_name(), outbox_column_plans());
  check(catalog->ledger, table.ledger_name(), ledger_column_plans());
  if (const std::string problem = id_problem(table, catalog->outbox); !problem.empty()) {
    add("a unique id that is not NULL (" + problem + ")");
  }
  for (const IndexPlan& plan : index_plans()) {
    const std::string name = table.channel() + std::string(plan.suffix);
    const auto found = catalog->outbox.indexes.find(name);
    if (catalog->outbox.exists && (!plan.for_strict_order || table.strict_order) &&
        (found == catalog->outbox.indexes.end() || !found->second)) {
      add("index " + quoted_identifier(name));
    }
  }
  if (table.delete_succeeded && catalog->ledger.exists) {
    const auto found = catalog->ledger.indexes.find(ledger_clean_index(table));
    if (found == catalog->ledger.indexes.end() || !found->second) {
      add("index " + quoted_identifier(ledger_clean_index(table)));
    }
  }
  if (!lacks.empty()) {
    return std::unexpected(
        DatabaseError{Error{ErrorKind::not_found,
                            "the database lacks: " + lacks +
                                ". `hikyaku outbox init` adds it; give columns with other names as "
                                "--columns name=column"},
                      ""});
  }

  Shape shape;
  const std::string payload = type_of(catalog->outbox, table.outbox_columns.payload, "");
  shape.payload = payload == "jsonb"   ? PayloadType::jsonb
                  : payload == "json"  ? PayloadType::json
                  : payload == "bytea" ? PayloadType::bytea
                                       : PayloadType::text;
  shape.status_type = type_of(catalog->outbox, table.outbox_columns.status, "text");
  shape.ledger_status_type = type_of(catalog->ledger, table.ledger_columns.status, "text");
  shape.response_type = type_of(catalog->ledger, table.ledger_columns.response_payload, "jsonb");
  return shape;
}

}  // namespace hk::outbox
