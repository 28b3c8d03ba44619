/// The settings of a relay: the OUTBOX_* variables of the environment and the flags of
/// `hikyaku outbox` that go by the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "outbox/table.h"

namespace hk::outbox {

enum class Adapter : std::uint8_t { http, hikyaku, sqs };
enum class SourceKind : std::uint8_t {
  notify,       ///< LISTEN/NOTIFY, with polling as the safety net
  poll,         ///< polling alone
  replication,  ///< logical replication (pgoutput)
};

struct Settings {
  Secret database{};         ///< connection string; may hold a password
  Secret listen_database{};  ///< OUTBOX_LISTEN_DATABASE: past a pooler; "": the same
  Table table{};
  bool enabled = false;           ///< OUTBOX_ENABLED: inside `hikyaku serve`
  std::size_t concurrency = 4;    ///< OUTBOX_CONCURRENCY
  std::size_t batch = 32;         ///< OUTBOX_BATCH
  Millis poll_interval{500};      ///< OUTBOX_POLL_INTERVAL_SEC
  Millis lock_lease{120'000};     ///< OUTBOX_LOCK_LEASE_SEC
  std::int32_t max_attempts = 6;  ///< OUTBOX_MAX_ATTEMPTS
  std::vector<Millis> backoff{Millis{5'000},  Millis{10'000}, Millis{20'000}, Millis{40'000},
                              Millis{80'000}, Millis{160'000}};  ///< OUTBOX_BACKOFF_SEC
  Millis broker_timeout{2'500};                                  ///< BROKER_TIMEOUT_MS
  SourceKind source = SourceKind::notify;                        ///< OUTBOX_SOURCE
  Adapter adapter = Adapter::http;                               ///< OUTBOX_ADAPTER
  std::string destination{};  ///< OUTBOX_DESTINATION: for rows that name none
  std::size_t payload_bytes_max = std::size_t{10} * 1024 * 1024;  ///< OUTBOX_PAYLOAD_MAX_BYTES
  std::string idempotency_header{"Idempotency-Key"};              ///< OUTBOX_IDEMPOTENCY_HEADER
  std::string worker_name{};  ///< OUTBOX_WORKER_NAME; "": host:pid:random
  // The other Hikyaku (`hikyaku`) or the queue (`sqs`).
  std::string broker_url{};  ///< OUTBOX_BROKER_URL
  Secret broker_token{};     ///< OUTBOX_BROKER_TOKEN, or the file named by OUTBOX_BROKER_TOKEN_FILE
  std::string sqs_queue_url{};          ///< OUTBOX_SQS_QUEUE_URL
  std::string aws_region{"us-east-1"};  ///< AWS_REGION
  std::string aws_access_key_id{};      ///< AWS_ACCESS_KEY_ID
  Secret aws_secret_access_key{};       ///< AWS_SECRET_ACCESS_KEY
  Secret aws_session_token{};           ///< AWS_SESSION_TOKEN
  // Where rows may be sent.
  bool allow_private_destinations = false;   ///< OUTBOX_ALLOW_PRIVATE_DESTINATIONS
  bool allow_loopback_destinations = false;  ///< OUTBOX_ALLOW_LOOPBACK_DESTINATIONS
  bool allow_http_destinations = true;       ///< OUTBOX_ALLOW_HTTP_DESTINATIONS
  bool allow_cbc_ciphers = true;             ///< OUTBOX_ALLOW_CBC_CIPHERS
  bool wait_for_hosts = false;               ///< OUTBOX_WAIT_FOR_UNREACHABLE_HOSTS
  std::string allowed_hosts{};               ///< OUTBOX_ALLOWED_HOSTS; "": all
  std::string egress_ca_file{};              ///< OUTBOX_EGRESS_CA_FILE
  /// Where this process itself listens: no setting, and closed to rows whatever is allowed.
  std::vector<std::uint16_t> own_ports{};
  // Clean-up and replication.
  Millis retention_finished{
      std::chrono::hours{24 * 7}};  ///< OUTBOX_RETENTION_FINISHED_SEC; 0 keeps all
  std::string slot{};               ///< OUTBOX_SLOT; "": made from the table's name
  std::uint64_t slot_wal_max =
      std::uint64_t{4} * 1024 * 1024 * 1024;  ///< OUTBOX_SLOT_MAX_WAL_BYTES

  /// For LISTEN and replication, which a transaction pooler cannot pass on.
  [[nodiscard]] const Secret& direct_database() const {
    return listen_database.empty() ? database : listen_database;
  }
};

}  // namespace hk::outbox
