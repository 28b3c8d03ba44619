#include "outbox/catalog.h"

namespace hk::outbox {
namespace {

DatabaseResult<Relation> read_relation(Database& database, const std::string& name,
                                       const std::string& key, const std::string& id) {
  auto results = database.run_together({
      {"SELECT relkind FROM pg_catalog.pg_class WHERE oid = pg_catalog.to_regclass($1::text)",
       {name}},
      {R"(SELECT a.attname, pg_catalog.format_type(a.atttypid, NULL),
                 b.typtype = 'e' OR b.oid IN ('text'::regtype, 'character varying'::regtype),
                 a.attnotnull OR t.typnotnull
          FROM pg_catalog.pg_attribute a
               JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
               JOIN pg_catalog.pg_type b
                 ON b.oid = CASE WHEN t.typtype = 'd' THEN t.typbasetype ELSE t.oid END
          WHERE a.attrelid = pg_catalog.to_regclass($1::text) AND a.attnum > 0
            AND NOT a.attisdropped)",
       {name}},
      {R"(SELECT c.relname, i.indisvalid,
                 CASE WHEN i.indisunique AND i.indisvalid AND i.indpred IS NULL
                           AND i.indexprs IS NULL AND i.indnkeyatts = 1
                      THEN (SELECT a.attname FROM pg_catalog.pg_attribute a
                             WHERE a.attrelid = i.indrelid AND a.attnum = i.indkey[0]) END
          FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indexrelid
          WHERE i.indrelid = pg_catalog.to_regclass($1::text))",
       {name}},
  });
  if (!results) {
    return std::unexpected(std::move(results).error());
  }
  Relation relation;
  const Rows& kind = (*results)[0];
  relation.exists = kind.size() == 1;
  relation.kind = relation.exists ? kind.text(0, 0) : "";
  const Rows& columns = (*results)[1];
  for (std::size_t i = 0; i < columns.size(); ++i) {
    relation.types.emplace(columns.text(i, 0), columns.text(i, 1));
    if (columns.flag(i, 2)) {
      relation.words.emplace(columns.text(i, 0));
    }
    if (columns.flag(i, 3)) {
      relation.required.emplace(columns.text(i, 0));
    }
  }
  const Rows& indexes = (*results)[2];
  for (std::size_t i = 0; i < indexes.size(); ++i) {
    relation.indexes.emplace(indexes.text(i, 0), indexes.flag(i, 1));
    const std::string_view unique = indexes.text(i, 2);  // the one column
    relation.key_is_unique = relation.key_is_unique || unique == key;
    relation.id_is_unique = relation.id_is_unique || (!id.empty() && unique == id);
  }
  return relation;
}

DatabaseResult<void> read_version(Database& database, const Table& table, Catalog& catalog) {
  const std::string name =
      quoted_identifier(catalog.schema) + "." + quoted_identifier("hikyaku_outbox_version");
  auto there = database.run("SELECT pg_catalog.to_regclass($1::text) IS NOT NULL", {name});
  if (!there) {
    return std::unexpected(std::move(there).error());
  }
  if (!there->flag(0, 0)) {
    return {};
  }
  auto versions = database.run("SELECT outbox, version, enqueue_function FROM " + name);
  if (!versions) {
    // A relay's role may have no right to read it, and needs nothing from it.
    if (versions.error().error.kind == ErrorKind::permission_denied) {
      return {};
    }
    return std::unexpected(std::move(versions).error());
  }
  for (std::size_t i = 0; i < versions->size(); ++i) {
    catalog.functions.emplace(versions->text(i, 2), versions->text(i, 0));
    if (versions->text(i, 0) == table.outbox) {
      catalog.version = static_cast<int>(versions->number(i, 1));
      catalog.enqueue_function = versions->text(i, 2);
    }
  }
  return {};
}

}  // namespace

DatabaseResult<Catalog> read_catalog(Database& database, const Table& table) {
  auto outbox = read_relation(database, table.outbox_name(), table.outbox_columns.idempotency_key,
                              table.outbox_columns.id);
  if (!outbox) {
    return std::unexpected(std::move(outbox).error());
  }
  auto ledger =
      read_relation(database, table.ledger_name(), table.ledger_columns.idempotency_key, "");
  if (!ledger) {
    return std::unexpected(std::move(ledger).error());
  }
  auto rest = database.run(
      R"(SELECT COALESCE((SELECT n.nspname FROM pg_catalog.pg_class c
                          JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
                          WHERE c.oid = pg_catalog.to_regclass($1::text)),
                         NULLIF($2::text, ''), pg_catalog.current_schema()),
                EXISTS (SELECT 1 FROM pg_catalog.pg_trigger
                        WHERE tgrelid = pg_catalog.to_regclass($1::text) AND tgname = $3::text),
                EXISTS (SELECT 1 FROM pg_catalog.pg_publication WHERE pubname = $4::text))",
      {table.outbox_name(), table.schema, table.channel() + "_notify", table.channel()});
  if (!rest) {
    return std::unexpected(std::move(rest).error());
  }
  Catalog catalog;
  catalog.schema = rest->text(0, 0);
  catalog.outbox = std::move(*outbox);
  catalog.ledger = std::move(*ledger);
  catalog.has_trigger = rest->flag(0, 1);
  catalog.has_publication = rest->flag(0, 2);
  catalog.has_column_lists = database.server_version() >= 150'000;
  if (auto read = read_version(database, table, catalog); !read) {
    return std::unexpected(std::move(read).error());
  }
  return catalog;
}

}  // namespace hk::outbox
