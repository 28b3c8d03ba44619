#include "store/key.h"

#include "base/bytes.h"

namespace hk::store {
namespace {

constexpr char escape = '\x00';
constexpr char escaped_zero = '\xff';
constexpr char terminator = '\x01';
constexpr char folder_end = '/';

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

}  // namespace

namespace key_detail {

void append(std::string& out, std::uint32_t number) { append_be(out, number); }
void append(std::string& out, std::uint64_t number) { append_be(out, number); }
void append(std::string& out, core::TenantId tenant) { append_be(out, tenant.value()); }
void append(std::string& out, core::Seq seq) { append_be(out, seq.value()); }
void append(std::string& out, Moment moment) {
  append_be(out, static_cast<std::uint64_t>(to_ms(moment)));
}
void append(std::string& out, const core::LaneKey& lane) {
  const auto& [tenant, queue, group, flow_key, host] = lane;
  out.reserve(4 + queue.size() + group.size() + flow_key.size() + host.size() + std::size_t{4} * 2 +
              16);
  append(out, tenant);
  append_text(out, queue);
  append_text(out, group);
  append_text(out, flow_key);
  append_text(out, host);
}
void append(std::string& out, const core::LanePlace& place) {
  append(out, place.due);
  append(out, place.seq);
}
void append(std::string& out, const core::Folder& folder) {
  out.append(folder.name);
  out.push_back(folder_end);
}
void append(std::string& out, const std::string& rest) { out.append(rest); }

template <class UInt>
UInt Parser::number() {
  if (rest_.size() < sizeof(UInt)) {
    ok_ = false;
    return 0;
  }
  const UInt value = read_be<UInt>(rest_);
  rest_.remove_prefix(sizeof(UInt));
  return value;
}

std::string Parser::text() {
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

void Parser::take(std::uint32_t& part) { part = number<std::uint32_t>(); }
void Parser::take(std::uint64_t& part) { part = number<std::uint64_t>(); }
void Parser::take(core::TenantId& tenant) { tenant = core::TenantId{number<std::uint32_t>()}; }
void Parser::take(core::Seq& seq) { seq = core::Seq{number<std::uint64_t>()}; }
void Parser::take(Moment& moment) {
  moment = moment_from_ms(static_cast<std::int64_t>(number<std::uint64_t>()));
}
void Parser::take(core::LaneKey& lane) {
  take(lane.tenant);
  lane.queue = text();
  lane.group = text();
  lane.flow_key = text();
  lane.host = text();
}
void Parser::take(core::LanePlace& place) {
  take(place.due);
  take(place.seq);
}
void Parser::take(core::Folder& folder) {
  const std::size_t end = rest_.find(folder_end);
  ok_ = ok_ && end != std::string_view::npos;
  if (ok_) {
    folder.name = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
  }
}
void Parser::take(std::string& rest) { rest = std::exchange(rest_, {}); }

}  // namespace key_detail

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
