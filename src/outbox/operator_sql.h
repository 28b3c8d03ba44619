/// The statements of the operator's commands, with `{names}` to be put in. Pure text.
#pragma once

#include <string_view>

namespace hk::outbox::operator_sql {

/// A row that no relay holds: $2 force, $3 the lease in ms. Relays say since when they have a row:
/// one of which nothing is said is not theirs.
inline constexpr std::string_view not_held = R"((o.{status} <> 'sending' OR $2::boolean
   OR COALESCE(o.{locked_at}, o.{updated_at}, '-infinity') < now() - $3::bigint * interval '1 millisecond'))";

/// $1 ids. Waits for whoever is writing them, so that what comes after in the transaction sees how
/// they are and keeps them so.
inline constexpr std::string_view lock = R"(
SELECT 1 FROM {outbox} o WHERE o.{id} = ANY($1::bigint[]) ORDER BY o.{id} FOR NO KEY UPDATE OF o)";

inline constexpr std::string_view set_pending = R"(
   {status} = 'pending', {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now())";

inline constexpr std::string_view set_anew = R"(
   {status} = 'pending', {attempts} = 0, {last_error_code} = NULL, {last_error_msg} = NULL,
   {next_run_at} = NULL, {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now())";

inline constexpr std::string_view requeue = R"(
UPDATE {outbox} o SET {set}
 WHERE o.{id} = ANY($1::bigint[]) AND o.{status} IN ('aborted', 'failed', 'sending') AND {not_held}
RETURNING o.{id})";

inline constexpr std::string_view release = R"(
UPDATE {outbox} o SET {set}
 WHERE o.{id} = ANY($1::bigint[]) AND o.{status} = 'sending' AND {not_held}
RETURNING o.{id})";

/// A page of what is to change: $1 after which id, $2 how many, $3 changed before when, $4 reason.
/// Rows that end while this goes on are not taken a second time.
inline constexpr std::string_view requeue_all = R"(
WITH page AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE o.{status} = 'aborted' AND o.{id} > $1::bigint
     AND COALESCE(o.{updated_at}, '-infinity') <= $3::timestamptz
     AND ($4::text = '' OR o.{last_error_code} = $4::text)
   ORDER BY o.{id} LIMIT $2::bigint FOR NO KEY UPDATE OF o SKIP LOCKED)
UPDATE {outbox} o SET {set} FROM page WHERE o.{id} = page.id RETURNING o.{id})";

/// $1 the lease in ms, $2 whether live ones too.
inline constexpr std::string_view release_all = R"(
WITH expired AS MATERIALIZED (
  SELECT o.{id} AS id FROM {outbox} o
   WHERE o.{status} = 'sending' AND ($2::boolean
     OR COALESCE(o.{locked_at}, o.{updated_at}, '-infinity') < now() - $1::bigint * interval '1 millisecond')
   FOR NO KEY UPDATE OF o SKIP LOCKED)
UPDATE {outbox} o SET {set} FROM expired WHERE o.{id} = expired.id)";

/// $4 the HTTP status, $5 the reason. A row without a key has no entry.
inline constexpr std::string_view abort_ledger = R"(
INSERT INTO {ledger} AS l ({l.idempotency_key}, {l.request_digest}, {l.status}, {l.http_status},
                           {reason_column}{l.created_at}, {l.updated_at})
SELECT o.{idempotency_key}, COALESCE(o.{request_digest}, ''), 'failed'::{ledger_status_type}, $4::integer,
       {reason_value}now(), now()
  FROM {outbox} o
 WHERE o.{id} = ANY($1::bigint[]) AND o.{status} IN ('pending', 'failed', 'sending') AND {not_held}
   AND o.{idempotency_key} <> ''
 ORDER BY o.{idempotency_key}
ON CONFLICT ({l.idempotency_key}) DO UPDATE
   SET {l.status} = excluded.{l.status}, {l.http_status} = excluded.{l.http_status}, {reason_set}
       {l.updated_at} = now()
 WHERE l.{l.status} IS DISTINCT FROM 'succeeded' AND {may_be_same})";

/// $4 the reason, $5 the message.
inline constexpr std::string_view abort_outbox = R"(
UPDATE {outbox} o
   SET {status} = (CASE WHEN {agrees} THEN 'succeeded' ELSE 'aborted' END)::{status_type},
       {attempts} = COALESCE(o.{attempts}, 0) + 1,
       {last_error_code} = CASE WHEN NOT {agrees} THEN $4::text END,
       {last_error_msg} = CASE WHEN NOT {agrees} THEN left($5::text, 512) END,
       {locked_by} = NULL, {locked_at} = NULL, {updated_at} = now()
 WHERE o.{id} = ANY($1::bigint[]) AND o.{status} IN ('pending', 'failed', 'sending') AND {not_held}
RETURNING o.{id})";

inline constexpr std::string_view agrees = R"(EXISTS (
     SELECT 1 FROM {ledger} l WHERE l.{l.idempotency_key} = o.{idempotency_key}
        AND o.{idempotency_key} <> '' AND l.{l.status} = 'succeeded' AND {is_same}))";

inline constexpr std::string_view statuses = R"(
SELECT o.{id}, COALESCE(o.{status}::text, 'NULL') FROM {outbox} o WHERE o.{id} = ANY($1::bigint[]))";

inline constexpr std::string_view summary_columns = R"(
       o.{id}, COALESCE(o.{idempotency_key}, ''), COALESCE(o.{status}::text, 'NULL'), COALESCE(o.{attempts}, 0),
       COALESCE({?destination}, ''), COALESCE({?order_key}, ''),
       CASE WHEN isfinite(o.{created_at}) THEN (extract(epoch FROM o.{created_at}) * 1000)::bigint END,
       CASE WHEN isfinite(o.{updated_at}) THEN (extract(epoch FROM o.{updated_at}) * 1000)::bigint END,
       CASE WHEN isfinite(o.{next_run_at}) THEN (extract(epoch FROM o.{next_run_at}) * 1000)::bigint END, COALESCE(o.{locked_by}, ''),
       CASE WHEN isfinite(o.{locked_at}) THEN (extract(epoch FROM o.{locked_at}) * 1000)::bigint END, COALESCE(o.{last_error_code}, ''),
       COALESCE(o.{last_error_msg}, ''))";

/// $1 after which id, $2 how many.
inline constexpr std::string_view list = R"(
SELECT {summary} FROM {outbox} o WHERE o.{id} > $1::bigint {only} ORDER BY o.{id} LIMIT $2::bigint)";

inline constexpr std::string_view show = R"(
SELECT {summary}, COALESCE(o.{request_digest}, ''), COALESCE({?headers}::text, ''),
       octet_length({payload_text}), {payload_out},
       l.{l.idempotency_key} IS NOT NULL, COALESCE(l.{l.request_digest}, ''),
       COALESCE(l.{l.status}::text, ''), l.{l.http_status}, {reason},
       COALESCE(l.{l.response_payload}::text, ''),
       CASE WHEN isfinite(l.{l.updated_at}) THEN (extract(epoch FROM l.{l.updated_at}) * 1000)::bigint END
  FROM {outbox} o LEFT JOIN {ledger} l ON l.{l.idempotency_key} = o.{idempotency_key}
 WHERE {where})";

/// $1 the lease in ms.
inline constexpr std::string_view expired = R"(
SELECT count(*) FROM {outbox} o WHERE o.{status} = 'sending'
   AND COALESCE(o.{locked_at}, o.{updated_at}, '-infinity') < now() - $1::bigint * interval '1 millisecond')";

/// The worker is NULL where nobody has put his name; the time where nothing is said.
inline constexpr std::string_view holders = R"(
SELECT NULLIF(regexp_replace(o.{locked_by}, '#[0-9a-f]+$', ''), '') AS worker, count(*),
       (extract(epoch FROM now() - min(COALESCE(o.{locked_at}, o.{updated_at}))) * 1000)::bigint
  FROM {outbox} o WHERE o.{status} = 'sending' GROUP BY 1 ORDER BY 1 LIMIT 1000)";

/// Given back because their broker could not take them: how many, and what the last of them met.
inline constexpr std::string_view postponed = R"(
SELECT count(*) OVER (), o.{last_error_code}, COALESCE(o.{last_error_msg}, ''),
       (extract(epoch FROM now() - o.{updated_at}) * 1000)::bigint
  FROM {outbox} o WHERE o.{status} = 'pending' AND starts_with(o.{last_error_code}, 'BROKER_')
 ORDER BY o.{updated_at} DESC NULLS LAST LIMIT 1)";

/// Whose status is none of the five words, or NULL.
inline constexpr std::string_view is_other = R"((o.{status} IS NULL
   OR o.{status}::text NOT IN ('pending', 'sending', 'succeeded', 'failed', 'aborted')))";

inline constexpr std::string_view all_rows = R"(
SELECT count(*) FILTER (WHERE o.{status} = 'succeeded'), count(*) FILTER (WHERE {is_other})
  FROM {outbox} o)";

}  // namespace hk::outbox::operator_sql
