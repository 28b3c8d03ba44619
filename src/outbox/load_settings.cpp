#include "outbox/load_settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <iterator>

#include "base/ascii.h"
#include "base/duration.h"

namespace hk::outbox {
namespace {

constexpr std::uint64_t most = UINT64_MAX;

std::unexpected<Error> wrong(std::string_view name, const std::string& wanted) {
  return fail(ErrorKind::invalid_argument, std::string(name) + " must be " + wanted);
}

Result<std::uint64_t> parse_number(std::string_view name, std::string_view text, std::uint64_t low,
                                   std::uint64_t high) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < low || value > high) {
    return wrong(name, "a whole number" + (high == most ? " of at least " + std::to_string(low)
                                                        : " from " + std::to_string(low) + " to " +
                                                              std::to_string(high)));
  }
  return value;
}

/// A number of seconds, or a duration as it is written everywhere.
Result<Millis> parse_seconds(std::string_view name, std::string_view text, double low,
                             double high) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  bool read = error == std::errc{} && end == text.data() + text.size();
  if (const auto with_units = parse_duration(text, BareNumber::refused); !read && with_units) {
    value = static_cast<double>(with_units->count()) / 1000;
    read = true;
  }
  if (!read || !(value >= low && value <= high)) {
    const auto plain = [](double number) {
      std::string digits = std::to_string(number);
      digits.erase(digits.find_last_not_of('0') + 1);
      return digits.ends_with('.') ? digits.substr(0, digits.size() - 1) : digits;
    };
    return wrong(name, "a number of seconds from " + plain(low) + " to " + plain(high) +
                           ", or a duration such as 500ms or 10s");
  }
  return Millis{static_cast<std::int64_t>(std::llround(value * 1000))};
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!trimmed(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    parts.push_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(text.size(), comma + 1));
  }
  return parts;
}

Result<std::vector<Millis>> parse_delays(std::string_view name, std::string_view text) {
  text = trimmed(text);
  if (text.starts_with('[') && text.ends_with(']')) {
    text = text.substr(1, text.size() - 2);
  }
  std::vector<Millis> delays;
  for (const std::string_view part : split(text)) {
    const auto delay = parse_seconds(name, part, 0, 604'800);
    if (!delay) {
      return wrong(name, "a list of seconds, such as 5,10,20,40,80,160");
    }
    delays.push_back(*delay);
  }
  if (delays.empty()) {
    return wrong(name, "a list of seconds, such as 5,10,20,40,80,160");
  }
  return delays;
}

/// A number of milliseconds, or a duration.
Result<Millis> parse_millis(std::string_view name, std::string_view text, std::uint64_t low,
                            std::uint64_t high) {
  const auto with_units = parse_duration(text, BareNumber::refused);
  const auto value = parse_number(
      name, with_units ? std::to_string(with_units->count()) : std::string(text), low, high);
  if (!value) {
    return wrong(name, "a number of milliseconds from " + std::to_string(low) + " to " +
                           std::to_string(high) + ", or a duration such as 500ms or 10s");
  }
  return Millis{static_cast<std::int64_t>(*value)};
}

Result<bool> parse_flag(std::string_view name, std::string_view text) {
  for (const std::string_view yes : {"true", "yes", "on", "1"}) {
    if (text == yes) return true;
  }
  for (const std::string_view no : {"false", "no", "off", "0"}) {
    if (text == no) return false;
  }
  return wrong(name, "true or false");
}

template <class T, class U>
Result<void> store(T& field, Result<U> value) {
  if (!value) {
    return std::unexpected(value.error());
  }
  field = static_cast<T>(*std::move(value));
  return {};
}

template <class Enum, std::size_t Size>
Result<void> choose(Enum& field, std::string_view name, std::string_view text,
                    const std::array<std::pair<std::string_view, Enum>, Size>& choices) {
  std::string words;
  for (const auto& [word, value] : choices) {
    if (word == text) {
      field = value;
      return {};
    }
    words += (words.empty() ? "" : ", ") + std::string(word);
  }
  return wrong(name, "one of " + words);
}

using Assign = Result<void> (*)(Settings& settings, std::string_view name, std::string_view text);

struct Entry {
  SettingRow row;
  Assign assign;
};

constexpr std::array adapters = {std::pair{std::string_view("http"), Adapter::http},
                                 std::pair{std::string_view("hikyaku"), Adapter::hikyaku},
                                 std::pair{std::string_view("sqs"), Adapter::sqs}};
constexpr std::array sources = {
    std::pair{std::string_view("notify"), SourceKind::notify},
    std::pair{std::string_view("poll"), SourceKind::poll},
    std::pair{std::string_view("replication"), SourceKind::replication}};

#define HK_TO(...)                                                                           \
  [](Settings& s, [[maybe_unused]] std::string_view n, std::string_view t) -> Result<void> { \
    __VA_ARGS__                                                                              \
  }
#define HK_TEXT(field) HK_TO(s.field = std::string(t); return {};)
#define HK_SECRET(field) HK_TO(s.field = Secret{std::string(t)}; return {};)
#define HK_NUMBER(field, low, high) HK_TO(return store(s.field, parse_number(n, t, low, high));)
#define HK_SECONDS(field, low, high) HK_TO(return store(s.field, parse_seconds(n, t, low, high));)
#define HK_FLAG(field) HK_TO(return store(s.field, parse_flag(n, t));)

const std::array entries = {
    Entry{{"OUTBOX_DATABASE", "secret", "",
           "The database: postgres://user@host:5432/name. A password may be in it, in PGPASSWORD "
           "or in ~/.pgpass."},
          HK_SECRET(database)},
    Entry{{"OUTBOX_LISTEN_DATABASE", "secret", "",
           "The same database past a transaction pooler, for LISTEN and replication. Without it "
           "OUTBOX_DATABASE is used."},
          HK_SECRET(listen_database)},
    Entry{{"OUTBOX_ENABLED", "flag", "false", "Run a relay inside `hikyaku serve`."},
          HK_FLAG(enabled)},
    Entry{{"OUTBOX_TABLE", "text", "hikyaku_outbox", "The outbox table."}, HK_TEXT(table.outbox)},
    Entry{{"OUTBOX_LEDGER_TABLE", "text", "hikyaku_ledger", "The ledger of outcomes."},
          HK_TEXT(table.ledger)},
    Entry{{"OUTBOX_SCHEMA", "text", "",
           "Schema of both; without it they are found by the search path."},
          HK_TEXT(table.schema)},
    Entry{{"OUTBOX_COLUMNS", "text", "",
           "Names of columns that differ, such as payload=order_request_json,ledger.status=state; "
           "an empty one (headers=) is not there."},
          HK_TO(for (const std::string_view part
                     : split(t)) {
            if (auto mapped = map_column(s.table, part); !mapped)
              return fail(ErrorKind::invalid_argument,
                          std::string(n) + ": " + mapped.error().message);
          } return {};)},
    Entry{{"OUTBOX_STRICT_ORDER", "flag", "false",
           "One row of an order key at a time, in the order of their ids."},
          HK_FLAG(table.strict_order)},
    Entry{{"OUTBOX_CONCURRENCY", "number", "4", "Rows on the wire at once."},
          HK_NUMBER(concurrency, 1, 10'000)},
    Entry{{"OUTBOX_BATCH", "number", "32", "Rows claimed at once."}, HK_NUMBER(batch, 1, 10'000)},
    Entry{{"OUTBOX_POLL_INTERVAL_SEC", "seconds", "0.5",
           "Pause when there was nothing to claim; it grows while there is nothing."},
          HK_SECONDS(poll_interval, 0.01, 3600)},
    Entry{{"OUTBOX_LOCK_LEASE_SEC", "seconds", "120",
           "After this long without a heartbeat a row may be taken over. Heartbeats come twice as "
           "often."},
          HK_SECONDS(lock_lease, 1, 86'400)},
    Entry{{"OUTBOX_MAX_ATTEMPTS", "number", "6", "After as many failures a row is aborted."},
          HK_NUMBER(max_attempts, 1, 1'000'000)},
    Entry{{"OUTBOX_BACKOFF_SEC", "seconds, a list", "5,10,20,40,80,160",
           "Pause after the first, second, … failure; the last one for all further ones."},
          HK_TO(return store(s.backoff, parse_delays(n, t));)},
    Entry{{"BROKER_TIMEOUT_MS", "milliseconds", "2500", "Time for one sending, all of it."},
          HK_TO(return store(s.broker_timeout, parse_millis(n, t, 1, 3'600'000));)},
    Entry{
        {"OUTBOX_SOURCE", "notify, poll or replication", "notify", "How the relay learns of rows."},
        HK_TO(return choose(s.source, n, t, sources);)},
    Entry{{"OUTBOX_ADAPTER", "http, hikyaku or sqs", "http", "How rows are sent."},
          HK_TO(return choose(s.adapter, n, t, adapters);)},
    Entry{{"OUTBOX_DESTINATION", "text", "", "Where rows go that name no destination."},
          HK_TEXT(destination)},
    Entry{{"OUTBOX_PAYLOAD_MAX_BYTES", "bytes", "10485760",
           "A larger payload is not read: its row is aborted."},
          HK_NUMBER(payload_bytes_max, 1, 1'000'000'000)},
    Entry{{"OUTBOX_IDEMPOTENCY_HEADER", "text", "Idempotency-Key",
           "The header in which the idempotency key travels."},
          HK_TEXT(idempotency_header)},
    Entry{{"OUTBOX_WORKER_NAME", "text", "",
           "The relay's name in locked_by, followed by random digits; host:pid without it."},
          HK_TEXT(worker_name)},
    Entry{{"OUTBOX_BROKER_URL", "text", "",
           "Adapter hikyaku: the server to publish to, such as https://hikyaku.example.com."},
          HK_TEXT(broker_url)},
    Entry{{"OUTBOX_BROKER_TOKEN", "secret", "", "Adapter hikyaku: the tenant's token."},
          HK_SECRET(broker_token)},
    Entry{{"OUTBOX_SQS_QUEUE_URL", "text", "", "Adapter sqs: the queue."}, HK_TEXT(sqs_queue_url)},
    Entry{{"AWS_REGION", "text", "us-east-1",
           "Adapter sqs: the region that requests are signed for."},
          HK_TEXT(aws_region)},
    Entry{{"AWS_ACCESS_KEY_ID", "text", "", "Adapter sqs: the access key."},
          HK_TEXT(aws_access_key_id)},
    Entry{{"AWS_SECRET_ACCESS_KEY", "secret", "", "Adapter sqs: its secret."},
          HK_SECRET(aws_secret_access_key)},
    Entry{{"AWS_SESSION_TOKEN", "secret", "", "Adapter sqs: the token of temporary credentials."},
          HK_SECRET(aws_session_token)},
    Entry{{"OUTBOX_ALLOW_PRIVATE_DESTINATIONS", "flag", "false",
           "Send to addresses of private networks, too. Lets whoever writes to the table reach "
           "your network."},
          HK_FLAG(allow_private_destinations)},
    Entry{{"OUTBOX_ALLOW_LOOPBACK_DESTINATIONS", "flag", "false", "Send to this machine, too."},
          HK_FLAG(allow_loopback_destinations)},
    Entry{{"OUTBOX_ALLOW_HTTP_DESTINATIONS", "flag", "true",
           "Adapter http: send to `http` URLs, too. Off: to `https` alone."},
          HK_FLAG(allow_http_destinations)},
    Entry{{"OUTBOX_ALLOW_CBC_CIPHERS", "flag", "true",
           "Send to receivers whose TLS 1.2 has no cipher with authenticated encryption, too."},
          HK_FLAG(allow_cbc_ciphers)},
    Entry{{"OUTBOX_ALLOWED_HOSTS", "text", "",
           "Adapter http: the only hosts that are sent to, such as `hooks.example.com, "
           "*.example.org`; all without it."},
          HK_TEXT(allowed_hosts)},
    Entry{
        {"OUTBOX_WAIT_FOR_UNREACHABLE_HOSTS", "flag", "false",
         "Adapter http: rows to a host that cannot be reached wait until it can, and no attempt is "
         "counted. Off: it is a failure of each row, as every other."},
        HK_FLAG(wait_for_hosts)},
    Entry{{"OUTBOX_EGRESS_CA_FILE", "text", "", "Further root certificates (PEM) to trust."},
          HK_TEXT(egress_ca_file)},
    Entry{{"OUTBOX_RETENTION_FINISHED_SEC", "seconds", "604800",
           "Finished rows and their ledger entries are deleted after this long; 0 keeps them."},
          HK_SECONDS(retention_finished, 0, 3.2e9)},
    Entry{{"OUTBOX_SLOT", "text", "",
           "Source replication: the slot; made from the names of database and table without it."},
          HK_TEXT(slot)},
    Entry{{"OUTBOX_SLOT_MAX_WAL_BYTES", "bytes", "4294967296",
           "Source replication: warn when PostgreSQL keeps more log than this for the slot."},
          HK_NUMBER(slot_wal_max, 1, most)},
};

#undef HK_TO
#undef HK_TEXT
#undef HK_SECRET
#undef HK_NUMBER
#undef HK_SECONDS
#undef HK_FLAG

Result<std::string> read_secret(std::string_view name, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file.is_open() || file.bad()) {
    return fail(ErrorKind::invalid_argument,
                std::string(name) + "_FILE names " + path + ", which cannot be read");
  }
  return std::string(trimmed(text));
}

/// Settings that are right alone and wrong together.
Result<void> check(const Settings& settings) {
  if (settings.lock_lease < settings.broker_timeout * 2) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_LOCK_LEASE_SEC must be at least twice BROKER_TIMEOUT_MS, or rows would be "
                "taken over while they are being sent");
  }
  if (settings.table.strict_order && settings.table.outbox_columns.order_key.empty()) {
    return fail(ErrorKind::invalid_argument,
                "OUTBOX_STRICT_ORDER needs an order key: name its column with "
                "OUTBOX_COLUMNS=order_key=…");
  }
  return {};
}

}  // namespace

std::span<const SettingRow> setting_rows() {
  static const auto rows = [] {
    std::array<SettingRow, entries.size()> all{};
    std::ranges::transform(entries, all.begin(), &Entry::row);
    return all;
  }();
  return rows;
}

std::string flag_of(const SettingRow& row) {
  if (row.kind == "secret") {
    return "";
  }
  std::string_view name = row.name;
  if (name.starts_with("OUTBOX_")) {
    name.remove_prefix(7);
  }
  std::string flag = "--";
  for (const char c : name) {
    flag.push_back(c == '_' ? '-' : to_lower(c));
  }
  return flag;
}

Result<Settings> load_settings(const std::map<std::string, std::string>& flags,
                               const Environment& environment) {
  Settings settings;
  for (const Entry& entry : entries) {
    const std::string name(entry.row.name);
    std::optional<std::string> text;
    if (const auto flag = flags.find(name); flag != flags.end()) {
      text = flag->second;
    } else if (const auto file = environment(name + "_FILE");
               entry.row.kind == "secret" && file && !file->empty()) {
      if (const auto plain = environment(name); plain && !plain->empty()) {
        return fail(ErrorKind::invalid_argument,
                    name + " and " + name + "_FILE are both set: keep one");
      }
      auto secret = read_secret(name, *file);
      if (!secret) {
        return std::unexpected(secret.error());
      }
      text = std::move(*secret);
    } else {
      text = environment(name);
    }
    if (text && !(text->empty() && entry.row.kind != "text" && entry.row.kind != "secret")) {
      if (auto assigned = entry.assign(settings, entry.row.name, *text); !assigned) {
        return std::unexpected(assigned.error());
      }
    }
  }
  if (auto checked = check(settings); !checked) {
    return std::unexpected(checked.error());
  }
  return settings;
}

}  // namespace hk::outbox
