#include "outbox/store_sql.h"

#include "outbox/sql_text.h"

namespace hk::outbox {
namespace {

constexpr std::string_view due = R"(o.{status} IN ('pending', 'failed')
   AND COALESCE(o.{next_run_at}, o.{created_at}) <= now())";

// A row of an order key goes when no older one of the key is unfinished and none is on its way. A
// younger one can be on its way only where a person has requeued the older one.
constexpr std::string_view is_head = R"(
   AND (COALESCE(o.{order_key}, '') = '' OR NOT EXISTS (
     SELECT 1 FROM {outbox} p WHERE p.{order_key} = o.{order_key}
        AND p.{status} IN ('pending', 'failed', 'sending')
        AND p.{id} <> o.{id} AND (p.{id} < o.{id} OR p.{status} = 'sending'))))";

// A table that was adopted may have rows without created_at. Compared with now() a NULL is neither
// before nor after: they would never be due. Theirs is next_run_at, which is the relay's to write.
constexpr std::string_view date_rows_text = R"(
WITH undated AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE o.{status} IN ('pending', 'failed') AND COALESCE(o.{next_run_at}, o.{created_at}) IS NULL
   LIMIT 1000 FOR NO KEY UPDATE OF o SKIP LOCKED
)
UPDATE {outbox} o SET {next_run_at} = now() FROM undated WHERE o.{id} = ANY (ARRAY[undated.id]))";

// $1 how many, $2 locked_by, $3 the most bytes of a payload, $4 and $5 after which due time and id.
constexpr std::string_view claim_text = R"(
WITH due AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE {due}
     AND (COALESCE(o.{next_run_at}, o.{created_at}), o.{id}) > ($4::timestamptz, $5::bigint){is_head}
   ORDER BY COALESCE(o.{next_run_at}, o.{created_at}), o.{id}
   LIMIT $1::bigint FOR NO KEY UPDATE OF o SKIP LOCKED
), claimed AS (
  UPDATE {outbox} o
     SET {status} = 'sending', {locked_by} = $2::text, {locked_at} = now(), {updated_at} = now(),
         {attempts} = COALESCE(o.{attempts}, 0)
    FROM due WHERE o.{id} = ANY (ARRAY[due.id])
  RETURNING o.*
)
SELECT o.{id}, o.{attempts}, o.{idempotency_key}, COALESCE(o.{request_digest}, ''),
       COALESCE({?order_key}, ''), COALESCE({?traceparent}, ''),
       {expired}, COALESCE(l.{l.status}::text, ''),
       CASE WHEN l.{l.status} = 'succeeded' THEN {is_same} ELSE {may_be_same} END,
       first_value(COALESCE(o.{next_run_at}, o.{created_at})::text) OVER last,
       first_value(o.{id}) OVER last,
       {rest}
  FROM claimed o LEFT JOIN {ledger} l ON l.{l.idempotency_key} = ANY (ARRAY[o.{idempotency_key}])
       {measured}
WINDOW last AS (ORDER BY COALESCE(o.{next_run_at}, o.{created_at}) DESC, o.{id} DESC)
 ORDER BY o.{created_at}, o.{id})";

constexpr std::string_view rest_text =
    R"(COALESCE({?destination}, ''), left({?headers}::text, 65537), m.too_large,
       CASE WHEN NOT m.too_large THEN {payload_out} END)";

// Measured once: the text of a jsonb is made by unpacking and writing all of it. OFFSET 0 keeps the
// planner from putting the expression into both places where it is used.
constexpr std::string_view measured_jsonb = R"(CROSS JOIN LATERAL (
  SELECT t.body, COALESCE(octet_length(t.body) > $3::bigint, false) AS too_large
    FROM (SELECT o.{payload}::text AS body OFFSET 0) t) m)";
constexpr std::string_view measured_bytes = R"(CROSS JOIN LATERAL (
  SELECT COALESCE(octet_length(o.{payload}) > $3::bigint, false) AS too_large) m)";
constexpr std::string_view measured_text = R"(CROSS JOIN LATERAL (
  SELECT COALESCE(octet_length(o.{payload}::text) > $3::bigint, false) AS too_large) m)";

// $1 the id, $2 unused but typed, $3 the most bytes.
constexpr std::string_view read_text = R"(
SELECT {rest} FROM {outbox} o {measured} WHERE o.{id} = $1::bigint AND o.{locked_by} = $2::text)";

// Joins are written `= ANY (ARRAY[…])`. The statistics of such a table are never right (when they
// were made nothing was `sending`, or all was cleaned away), and by a plain equality the planner
// may then walk the whole table and compare each row with every row given. This way the only path
// is one lookup in the unique index for each row given.
//
// For the same reason the status is no equality: that would be an invitation to walk the index of
// leases.
constexpr std::string_view fence =
    R"(o.{id} = ANY (ARRAY[u.id]) AND o.{status} IS NOT DISTINCT FROM 'sending'
   AND o.{locked_by} = u.locked_by AND o.{attempts} = u.attempts)";

// The arrays of claims: $1 ids, $2 locked_by, $3 attempts.
constexpr std::string_view claims_text =
    "unnest($1::bigint[], $2::text[], $3::integer[]) WITH ORDINALITY AS u(id, locked_by, attempts, "
    "n)";

constexpr std::string_view lock_text = R"(
SELECT 1 FROM {claims} JOIN {outbox} o ON {fence}
 ORDER BY u.id FOR NO KEY UPDATE OF o)";

// Nearly every row succeeds, and is the first of its key: one statement then says so in both
// tables. Where there is an entry all the same the unique index refuses it, all is rolled back and
// said again by the statements below. $4 keys, $5 digests, $6 HTTP statuses, $7 responses. Gives
// those whose claim still held; the ledger has them all.
constexpr std::string_view write_quickly_text = R"(
WITH said AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[],
                       $6::integer[], $7::text[])
                WITH ORDINALITY AS w(id, locked_by, attempts, key, digest, http_status, response, n)
), entered AS (
  INSERT INTO {ledger} ({l.idempotency_key}, {l.request_digest}, {l.status}, {l.http_status},
                        {l.response_payload}, {l.created_at}, {l.updated_at})
  SELECT u.key, u.digest, 'succeeded'::{ledger_status_type}, u.http_status,
         NULLIF(u.response, '')::{response_type}, now(), now()
    FROM said u ORDER BY u.key
), written AS (
  {write} {fence}
  RETURNING u.n
)
SELECT n FROM written)";

constexpr std::string_view mark_succeeded_text = R"(UPDATE {outbox} o
     SET {status} = 'succeeded', {attempts} = o.{attempts} + 1,
         {last_error_code} = NULL, {last_error_msg} = NULL,
         {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now()
    FROM said u WHERE)";
constexpr std::string_view delete_succeeded_text = "DELETE FROM {outbox} o USING said u WHERE";

// $4 keys, $5 digests, $6 whether succeeded, $7 HTTP statuses, $8 responses, $9 reasons; of those
// that end for good. A success is true whoever holds the row by now; a failure is only its holder's
// to say.
constexpr std::string_view write_ledger_text = R"(
INSERT INTO {ledger} AS l ({l.idempotency_key}, {l.request_digest}, {l.status}, {l.http_status},
                           {l.response_payload}, {reason_column}{l.created_at}, {l.updated_at})
SELECT DISTINCT ON (u.key) u.key, u.digest,
       (CASE WHEN u.ok THEN 'succeeded' ELSE 'failed' END)::{ledger_status_type}, u.http_status,
       NULLIF(u.response, '')::{response_type}, {reason_value}now(), now()
  FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[], $6::boolean[],
              $7::integer[], $8::text[], $9::text[])
       AS u(id, locked_by, attempts, key, digest, ok, http_status, response, reason)
 WHERE u.ok OR EXISTS (SELECT 1 FROM {outbox} o WHERE {fence})
 ORDER BY u.key, u.ok DESC
ON CONFLICT ({l.idempotency_key}) DO UPDATE
   SET {l.status} = excluded.{l.status}, {l.http_status} = excluded.{l.http_status},
       {l.response_payload} = excluded.{l.response_payload}, {reason_set}
       {l.request_digest} = excluded.{l.request_digest},
       {l.updated_at} = now()
 WHERE l.{l.status} IS DISTINCT FROM 'succeeded' AND {may_be_same})";

// $4 keys, $5 digests, $6 the ends (succeeded, failed, aborted), $7 reasons, $8 messages, $9 delays
// in ms, $10 whether said again. What the ledger says after the statement above decides. Gives also
// what is said again and stands in the row as said, with the attempt counted: it was written by the
// first time. A failed row may be on its way again by now; its reason stays.
constexpr std::string_view write_outbox_text = R"(
WITH said AS MATERIALIZED (
  SELECT r.n, r.id, r.locked_by, r.attempts, r.delay_ms, r.again, r.ending,
         CASE WHEN r.ending <> 'succeeded' THEN r.reason END AS reason,
         CASE WHEN r.ending <> 'succeeded' THEN r.message END AS message
    FROM (
      SELECT q.n, q.id, q.locked_by, q.attempts, q.delay_ms, q.again,
             CASE WHEN q.agrees THEN 'succeeded' WHEN q.ending = 'succeeded' THEN 'aborted'
                  ELSE q.ending END AS ending,
             CASE WHEN q.ending = 'succeeded' THEN 'IDEMPOTENCY_CONFLICT' ELSE q.reason END AS reason,
             CASE WHEN q.ending = 'succeeded'
                  THEN 'sent, but the ledger has other content under this key'
                  ELSE q.message END AS message
        FROM (
          SELECT w.*, COALESCE(l.{l.status} = 'succeeded' AND {is_same}, false) AS agrees
            FROM unnest($1::bigint[], $2::text[], $3::integer[], $4::text[], $5::text[],
                        $6::text[], $7::text[], $8::text[], $9::bigint[], $10::boolean[])
                 WITH ORDINALITY AS w(id, locked_by, attempts, key, digest, ending, reason, message,
                                      delay_ms, again, n)
                 LEFT JOIN {ledger} l ON l.{l.idempotency_key} = ANY (ARRAY[NULLIF(w.key, '')])) q) r
), written AS (
  UPDATE {outbox} o
     SET {status} = u.ending::{status_type},
         {attempts} = o.{attempts} + 1,
         {last_error_code} = u.reason, {last_error_msg} = left(u.message, 512),
         {next_run_at} = CASE WHEN u.ending = 'failed'
                              THEN now() + u.delay_ms * interval '1 millisecond'
                              ELSE o.{next_run_at} END,
         {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now()
    FROM said u
   WHERE {fence}
  RETURNING u.n, u.ending
)
SELECT n, ending FROM written
UNION ALL
SELECT u.n, u.ending FROM said u JOIN {outbox} o ON o.{id} = ANY (ARRAY[u.id])
 WHERE u.again AND o.{attempts} = u.attempts + 1
   AND o.{last_error_code} IS NOT DISTINCT FROM u.reason
   AND (u.ending <> 'succeeded' OR o.{status} = 'succeeded'){or_gone})";

// Of a table whose succeeded rows leave at once: the first time has deleted it.
constexpr std::string_view or_gone_text = R"(
UNION ALL
SELECT u.n, u.ending FROM said u
 WHERE u.again AND u.ending = 'succeeded'
   AND NOT EXISTS (SELECT 1 FROM {outbox} o WHERE o.{id} = ANY (ARRAY[u.id])))";

// $1 ids, $2 attempts of the claims. After the statement above, which says what has succeeded.
constexpr std::string_view leave_text = R"(
DELETE FROM {outbox} o USING unnest($1::bigint[], $2::integer[]) AS u(id, attempts)
 WHERE o.{id} = ANY (ARRAY[u.id]) AND o.{status} IS NOT DISTINCT FROM 'succeeded'
   AND o.{attempts} = u.attempts + 1)";

// A row that is ours may be locked by somebody's open transaction, for hours. Nothing of a relay
// waits for it: such rows are passed over.
constexpr std::string_view held_text = R"(
WITH held AS MATERIALIZED (
  SELECT u.n AS n, u.id AS id FROM {claims} JOIN {outbox} o ON {fence}
   ORDER BY u.id FOR NO KEY UPDATE OF o SKIP LOCKED
))";

constexpr std::string_view locked_text = R"({held}
SELECT u.n FROM {claims} JOIN {outbox} o ON {fence}
 WHERE NOT EXISTS (SELECT 1 FROM held WHERE held.n = u.n))";

// Gives those that are ours, and whether they were made new: a row that is locked is not lost.
constexpr std::string_view heartbeat_text = R"({held}, beaten AS (
  UPDATE {outbox} o SET {locked_at} = now(), {updated_at} = now()
    FROM held WHERE o.{id} = ANY (ARRAY[held.id])
)
SELECT u.n, u.n IN (SELECT held.n FROM held) FROM {claims} JOIN {outbox} o ON {fence})";

// Somebody made them `sending` and did not say since when: now, then, and for one lease.
constexpr std::string_view date_leases_text = R"(
WITH undated AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE o.{status} = 'sending' AND COALESCE(o.{locked_at}, o.{updated_at}) IS NULL
   LIMIT 1000 FOR NO KEY UPDATE OF o SKIP LOCKED
)
UPDATE {outbox} o SET {locked_at} = now() FROM undated WHERE o.{id} = ANY (ARRAY[undated.id]))";

// $1 how many, $2 locked_by, $3 the lease in ms.
constexpr std::string_view take_expired_text = R"(
WITH expired AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE o.{status} = 'sending'
     AND COALESCE(o.{locked_at}, o.{updated_at}) < now() - $3::bigint * interval '1 millisecond'
   ORDER BY COALESCE(o.{locked_at}, o.{updated_at}) LIMIT $1::bigint FOR NO KEY UPDATE OF o SKIP LOCKED
)
UPDATE {outbox} o SET {locked_by} = $2::text, {locked_at} = now(), {updated_at} = now(),
       {attempts} = COALESCE(o.{attempts}, 0)
  FROM expired WHERE o.{id} = ANY (ARRAY[expired.id])
RETURNING o.{id}, o.{attempts}, o.{idempotency_key}, COALESCE(o.{request_digest}, ''))";

constexpr std::string_view release_text = R"({held}
UPDATE {outbox} o SET {status} = 'pending', {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now()
  FROM held WHERE o.{id} = ANY (ARRAY[held.id]))";

// $4 delays in ms, negative: it keeps its place; $5 reasons, $6 messages.
constexpr std::string_view postpone_text = R"({held}
UPDATE {outbox} o
   SET {status} = 'pending', {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now(),
       {next_run_at} = CASE WHEN w.delay_ms >= 0 THEN now() + w.delay_ms * interval '1 millisecond'
                            ELSE o.{next_run_at} END,
       {last_error_code} = CASE WHEN w.reason <> '' THEN w.reason ELSE o.{last_error_code} END,
       {last_error_msg} = CASE WHEN w.reason <> '' THEN left(w.message, 512)
                               ELSE o.{last_error_msg} END
  FROM held JOIN unnest($4::bigint[], $5::text[], $6::text[])
                 WITH ORDINALITY AS w(delay_ms, reason, message, n) ON w.n = held.n
 WHERE o.{id} = ANY (ARRAY[held.id])
RETURNING held.n)";

// $1 what locked_by begins with, $2 ids and $3 locked_by of the claims that are known.
constexpr std::string_view release_unknown_text = R"(
WITH unknown AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE o.{status} = 'sending' AND starts_with(o.{locked_by}, $1::text)
     AND NOT EXISTS (SELECT 1 FROM unnest($2::bigint[], $3::text[]) AS u(id, locked_by)
                      WHERE u.id = o.{id} AND u.locked_by = o.{locked_by})
   ORDER BY o.{id} FOR NO KEY UPDATE OF o SKIP LOCKED
)
UPDATE {outbox} o SET {status} = 'pending', {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now()
  FROM unknown WHERE o.{id} = ANY (ARRAY[unknown.id]))";

constexpr std::string_view next_due_text = R"(
SELECT GREATEST(0, ceil(extract(epoch FROM GREATEST(COALESCE(o.{next_run_at}, o.{created_at}), now())
                                           - now()) * 1000))::bigint
  FROM {outbox} o WHERE o.{status} IN ('pending', 'failed')
   AND COALESCE(o.{next_run_at}, o.{created_at}) < 'infinity'{is_head}
 ORDER BY COALESCE(o.{next_run_at}, o.{created_at}), o.{id} LIMIT 1)";

// $1 how many, $2 the retention in ms. The ledger's entry lives as long as the row: what a repeated
// key is compared with is gone with both.
constexpr std::string_view clean_up_text = R"(
WITH old AS MATERIALIZED (
  SELECT o.{id} AS id, o.{idempotency_key} AS key FROM {outbox} o
   WHERE o.{status} IN ('succeeded', 'aborted')
     AND o.{updated_at} < now() - $2::bigint * interval '1 millisecond'
   ORDER BY o.{updated_at} LIMIT $1::bigint FOR UPDATE OF o SKIP LOCKED
), forgotten AS (
  DELETE FROM {ledger} l USING old WHERE l.{l.idempotency_key} = ANY (ARRAY[old.key])
)
DELETE FROM {outbox} o USING old WHERE o.{id} = ANY (ARRAY[old.id]))";

// The same of the ledger, where rows do not live as long as their entries. An entry that a row is
// left of goes with the row.
constexpr std::string_view clean_ledger_text = R"(
WITH old AS MATERIALIZED (
  SELECT l.{l.idempotency_key} AS key FROM {ledger} l
   WHERE l.{l.updated_at} < now() - $2::bigint * interval '1 millisecond'
     AND l.{l.status} = 'succeeded'
     AND NOT EXISTS (SELECT 1 FROM {outbox} o
                      WHERE o.{idempotency_key} = ANY (ARRAY[l.{l.idempotency_key}]))
   LIMIT $1::bigint FOR UPDATE OF l SKIP LOCKED
)
DELETE FROM {ledger} l USING old WHERE l.{l.idempotency_key} = ANY (ARRAY[old.key]))";

constexpr std::string_view counts_text = R"(
SELECT (SELECT count(*) FROM (SELECT 1 FROM {outbox} WHERE {status} = 'pending' LIMIT 1000000) s),
       (SELECT count(*) FROM (SELECT 1 FROM {outbox} WHERE {status} = 'failed' LIMIT 1000000) s),
       (SELECT count(*) FROM (SELECT 1 FROM {outbox} WHERE {status} = 'sending' LIMIT 1000000) s),
       (SELECT count(*) FROM (SELECT 1 FROM {outbox} WHERE {status} = 'aborted' LIMIT 1000000) s),
       (SELECT (extract(epoch FROM now() - COALESCE(o.{next_run_at}, o.{created_at})) * 1000)::bigint
          FROM {outbox} o
         WHERE {due} AND COALESCE(o.{next_run_at}, o.{created_at}) > '-infinity'
         ORDER BY COALESCE(o.{next_run_at}, o.{created_at}), o.{id} LIMIT 1))";

}  // namespace

std::string is_same(const Table& table, std::string_view digest) {
  return sql_text(table, "COALESCE(l.{l.request_digest}, '') = COALESCE({digest}, '')",
                  {{"digest", std::string(digest)}});
}

std::string may_be_same(const Table& table, std::string_view digest) {
  return sql_text(table,
                  "(COALESCE(l.{l.request_digest}, '') = '' OR COALESCE({digest}, '') = ''"
                  " OR l.{l.request_digest} = {digest})",
                  {{"digest", std::string(digest)}});
}

StoreSql store_sql(const Table& table, const Shape& shape) {
  const auto text = [&](std::string_view sql, const Replacements& others = {}) {
    return sql_text(table, sql, others);
  };
  const std::string head = table.strict_order ? text(is_head) : "";
  const std::string due_now = text(due);
  const std::string held = text(fence);
  const bool has_reason = !table.ledger_columns.reason_code.empty();
  const std::string payload_out = shape.payload == PayloadType::jsonb ? "m.body"
                                  : shape.payload == PayloadType::bytea
                                      ? text("encode(o.{payload}, 'hex')")
                                      : text("o.{payload}::text");
  const std::string measured = text(shape.payload == PayloadType::jsonb   ? measured_jsonb
                                    : shape.payload == PayloadType::bytea ? measured_bytes
                                                                          : measured_text);
  const std::string rest = text(rest_text, {{"payload_out", payload_out}});
  const auto claim_with = [&](const std::string& columns, const std::string& joined) {
    return text(claim_text, {{"due", due_now},
                             {"is_head", head},
                             {"rest", columns},
                             {"measured", joined},
                             {"is_same", is_same(table, text("o.{request_digest}"))},
                             {"may_be_same", may_be_same(table, text("o.{request_digest}"))},
                             {"expired", table.outbox_columns.expires_at.empty()
                                             ? "false"
                                             : text("COALESCE(o.{expires_at} <= now(), false)")}});
  };

  StoreSql sql;
  sql.date_rows = text(date_rows_text);
  sql.claim = claim_with(rest, measured);
  sql.claim_bare = claim_with("$3::bigint", "");
  sql.read = text(read_text, {{"rest", rest}, {"measured", measured}});
  sql.lock = text(lock_text, {{"claims", std::string(claims_text)}, {"fence", held}});
  sql.write_quickly =
      text(write_quickly_text,
           {{"fence", held},
            {"write", text(table.delete_succeeded ? delete_succeeded_text : mark_succeeded_text)},
            {"ledger_status_type", shape.ledger_status_type},
            {"response_type", shape.response_type}});
  sql.write_ledger =
      text(write_ledger_text,
           {{"fence", held},
            {"ledger_status_type", shape.ledger_status_type},
            {"response_type", shape.response_type},
            {"reason_column", has_reason ? text("{l.reason_code}, ") : ""},
            {"reason_value", has_reason ? "NULLIF(u.reason, ''), " : ""},
            {"reason_set", has_reason ? text("{l.reason_code} = excluded.{l.reason_code},") : ""},
            {"may_be_same", may_be_same(table, text("excluded.{l.request_digest}"))}});
  sql.write_outbox =
      text(write_outbox_text, {{"fence", held},
                               {"status_type", shape.status_type},
                               {"is_same", is_same(table, "w.digest")},
                               {"or_gone", table.delete_succeeded ? text(or_gone_text) : ""}});
  sql.leave = text(leave_text);
  const Replacements of_claims = {
      {"claims", std::string(claims_text)},
      {"fence", held},
      {"held", text(held_text, {{"claims", std::string(claims_text)}, {"fence", held}})}};
  sql.locked = text(locked_text, of_claims);
  sql.heartbeat = text(heartbeat_text, of_claims);
  sql.date_leases = text(date_leases_text);
  sql.take_expired = text(take_expired_text);
  sql.release = text(release_text, of_claims);
  sql.postpone = text(postpone_text, of_claims);
  sql.release_unknown = text(release_unknown_text);
  sql.next_due = text(next_due_text, {{"is_head", head}});
  sql.clean_up = text(clean_up_text);
  sql.clean_ledger = text(clean_ledger_text);
  sql.counts = text(counts_text, {{"due", due_now}});
  return sql;
}

}  // namespace hk::outbox
