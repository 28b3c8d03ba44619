/// The settings of a relay: one row each in settings.def. Loaded once at the start, by the command
/// line's thread, and constant from then on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "config/host_port.h"
#include "config/loader.h"
#include "outbox/table.h"

namespace hk::outbox {

// In the order of their names in settings.def.
enum class Adapter : std::uint8_t { http, hikyaku, sqs };
enum class SourceKind : std::uint8_t {
  notify,       ///< LISTEN/NOTIFY, with polling as the safety net
  poll,         ///< polling alone
  replication,  ///< logical replication (pgoutput)
};

/// A field for each row of settings.def. It begins with their defaults.
struct Settings {
  Settings();

  Secret database{};         ///< connection string; may hold a password
  Secret listen_database{};  ///< past a pooler; "": the same
  Table table{};
  std::size_t concurrency = 0;
  std::size_t batch = 0;
  Millis poll_interval{};
  Millis lock_lease{};
  std::int32_t max_attempts = 0;
  std::vector<Millis> backoff{};
  Millis broker_timeout{};
  SourceKind source{};
  Adapter adapter{};
  std::string destination{};  ///< for rows that name none
  std::size_t payload_bytes_max = 0;
  std::string idempotency_header{};
  std::string worker_name{};  ///< "": host:pid:random
  // The other Hikyaku (`hikyaku`) or the queue (`sqs`).
  std::string broker_url{};
  Secret broker_token{};
  std::string sqs_queue_url{};
  std::string aws_region{};
  std::string aws_access_key_id{};
  Secret aws_secret_access_key{};
  Secret aws_session_token{};
  // Where rows may be sent.
  bool allow_private_destinations = false;
  bool allow_loopback_destinations = false;
  bool allow_http_destinations = false;
  bool allow_cbc_ciphers = false;
  bool wait_for_hosts = false;
  std::string allowed_hosts{};  ///< "": all
  std::string egress_ca_file{};
  /// Where this process itself listens: no setting, and closed to rows whatever is allowed.
  std::vector<std::uint16_t> own_ports{};
  // Clean-up and replication.
  Millis retention_finished{};  ///< 0 keeps all
  std::string slot{};           ///< "": made from the table's name
  std::uint64_t slot_wal_max = 0;
  // Of the process, if it is the relay's own; inside a server those of the server hold.
  std::optional<config::HostPort> metrics_listen{};  ///< of /metrics and /health
  std::string log_level{};
  std::string otlp_endpoint{};
  Millis drain{};
  /// What a person should know although the settings are usable. Holds no secret.
  std::vector<std::string> warnings{};

  /// For LISTEN and replication, which a transaction pooler cannot pass on.
  [[nodiscard]] const Secret& direct_database() const {
    return listen_database.empty() ? database : listen_database;
  }
};

const config::OptionTable& settings_table();

/// Each setting is checked, alone and beside the others (config/loader.h).
Result<Settings> load_settings(const config::Flags& flags, const config::GetEnv& getenv);

}  // namespace hk::outbox
