#include "store/key.h"

#include "base/bytes.h"

namespace hk::store {
namespace {

constexpr char escape = '\x00';
constexpr char escaped_zero = '\xff';
constexpr char terminator = '\x01';

void append_text(std::string& out, std::string_view text) {
  for (std::size_t zero = text.find(escape); zero != std::string_view::npos;
       zero = text.find(escape)) {
    out.append(text.substr(0, zero + 1));
    out.push_back(escaped_zero);
    text.remove_prefix(zero + 1);
  }
  out.append(text);
  out.push_back(escape);
  out.push_back(terminator);
}

void append_ms(std::string& out, Moment moment) {
  append_be(out, static_cast<std::uint64_t>(to_ms(moment)));
}

/// Takes a key apart from the left; after a mistake ok() is false and the values are zero.
class KeyParser {
 public:
  explicit KeyParser(std::string_view key) : rest_(key) {}

  template <class UInt>
  UInt number() {
    if (rest_.size() < sizeof(UInt)) {
      ok_ = false;
      return 0;
    }
    const UInt value = read_be<UInt>(rest_);
    rest_.remove_prefix(sizeof(UInt));
    return value;
  }
  core::TenantId tenant() { return core::TenantId{number<std::uint32_t>()}; }
  core::Seq seq() { return core::Seq{number<std::uint64_t>()}; }
  Moment moment() { return moment_from_ms(static_cast<std::int64_t>(number<std::uint64_t>())); }

  std::string text() {
    std::string out;
    while (true) {
      const std::size_t zero = rest_.find(escape);
      if (zero == std::string_view::npos || zero + 1 >= rest_.size()) {
        ok_ = false;
        return {};
      }
      out.append(rest_.substr(0, zero));
      const char kind = rest_[zero + 1];
      rest_.remove_prefix(zero + 2);
      if (kind == terminator) {
        return out;
      }
      if (kind != escaped_zero) {
        ok_ = false;
        return {};
      }
      out.push_back(escape);
    }
  }
  std::string rest() { return std::string(std::exchange(rest_, {})); }

  /// The whole key was understood.
  [[nodiscard]] bool done() const { return ok_ && rest_.empty(); }

 private:
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace

std::string seq_key(core::Seq seq) {
  std::string key;
  append_be(key, seq.value());
  return key;
}

std::string attempt_key(core::Seq seq, std::uint32_t number) {
  std::string key = seq_key(seq);
  append_be(key, number);
  return key;
}

std::string lane_prefix(const core::LaneKey& lane) {
  const auto& [tenant, queue, group, flow_key, host] = lane;
  std::string key;
  key.reserve(4 + queue.size() + group.size() + flow_key.size() + host.size() + std::size_t{4} * 2 +
              16);
  append_be(key, tenant.value());
  append_text(key, queue);
  append_text(key, group);
  append_text(key, flow_key);
  append_text(key, host);
  return key;
}

std::string lane_entry_key(const core::LaneKey& lane, const core::LanePlace& place) {
  std::string key = lane_prefix(lane);
  append_ms(key, place.due);
  append_be(key, place.seq.value());
  return key;
}

std::string dead_letter_key(const core::DeadLetterKey& dead_letter) {
  const auto& [tenant, failed_at, seq] = dead_letter;
  std::string key = tenant_key(tenant);
  append_ms(key, failed_at);
  append_be(key, seq.value());
  return key;
}

std::string event_key(core::TenantId tenant, Moment time, std::uint64_t batch) {
  std::string key = tenant_key(tenant);
  append_ms(key, time);
  append_be(key, batch);
  return key;
}

std::string expiry_key(Moment at, std::uint64_t batch) {
  std::string key;
  append_ms(key, at);
  append_be(key, batch);
  return key;
}

std::string tenant_key(core::TenantId tenant) {
  std::string key;
  append_be(key, tenant.value());
  return key;
}

std::string named_key(core::TenantId tenant, std::string_view name) {
  std::string key = tenant_key(tenant);
  key.append(name);
  return key;
}

std::string schedule_due_key(const core::ScheduleDue& due) {
  std::string key;
  append_ms(key, due.at);
  append_be(key, due.tenant.value());
  key.append(due.id);
  return key;
}

std::optional<core::Seq> parse_seq_key(std::string_view key) {
  KeyParser parser(key);
  const core::Seq seq = parser.seq();
  return parser.done() ? std::optional(seq) : std::nullopt;
}

std::optional<std::pair<core::Seq, std::uint32_t>> parse_attempt_key(std::string_view key) {
  KeyParser parser(key);
  const core::Seq seq = parser.seq();
  const auto number = parser.number<std::uint32_t>();
  return parser.done() ? std::optional(std::pair(seq, number)) : std::nullopt;
}

std::optional<std::pair<core::LaneKey, core::LanePlace>> parse_lane_entry_key(
    std::string_view key) {
  KeyParser parser(key);
  core::LaneKey lane;
  lane.tenant = parser.tenant();
  lane.queue = parser.text();
  lane.group = parser.text();
  lane.flow_key = parser.text();
  lane.host = parser.text();
  core::LanePlace place;
  place.due = parser.moment();
  place.seq = parser.seq();
  return parser.done() ? std::optional(std::pair(std::move(lane), place)) : std::nullopt;
}

std::optional<core::DeadLetterKey> parse_dead_letter_key(std::string_view key) {
  KeyParser parser(key);
  core::DeadLetterKey parsed;
  parsed.tenant = parser.tenant();
  parsed.failed_at = parser.moment();
  parsed.seq = parser.seq();
  return parser.done() ? std::optional(parsed) : std::nullopt;
}

std::optional<EventKey> parse_event_key(std::string_view key) {
  KeyParser parser(key);
  EventKey parsed;
  parsed.tenant = parser.tenant();
  parsed.time = parser.moment();
  parsed.batch = parser.number<std::uint64_t>();
  return parser.done() ? std::optional(parsed) : std::nullopt;
}

std::optional<std::pair<Moment, std::uint64_t>> parse_expiry_key(std::string_view key) {
  KeyParser parser(key);
  const Moment at = parser.moment();
  const auto batch = parser.number<std::uint64_t>();
  return parser.done() ? std::optional(std::pair(at, batch)) : std::nullopt;
}

std::optional<core::TenantId> parse_tenant_key(std::string_view key) {
  KeyParser parser(key);
  const core::TenantId tenant = parser.tenant();
  return parser.done() ? std::optional(tenant) : std::nullopt;
}

std::optional<core::ScheduleDue> parse_schedule_due_key(std::string_view key) {
  KeyParser parser(key);
  const Moment at = parser.moment();
  const core::TenantId tenant = parser.tenant();
  std::string id = parser.rest();
  return parser.done() ? std::optional(core::ScheduleDue{at, tenant, std::move(id)}) : std::nullopt;
}

std::optional<std::pair<core::TenantId, std::string>> parse_named_key(std::string_view key) {
  KeyParser parser(key);
  const core::TenantId tenant = parser.tenant();
  std::string name = parser.rest();
  return parser.done() ? std::optional(std::pair(tenant, std::move(name))) : std::nullopt;
}

std::string prefix_end(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') {
    prefix.pop_back();
  }
  if (!prefix.empty()) {
    prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  }
  return prefix;
}

std::string after_key(std::string key) {
  key.push_back('\x00');
  return key;
}

}  // namespace hk::store
