#include "edge/http/connection_caps.h"

#include <string_view>

#include "base/assert.h"
#include "base/bytes.h"

namespace hk::http {

PeerKey peer_key(const boost::asio::ip::address& address) {
  if (address.is_v4()) return {0, std::uint64_t{0xffff} << 32U | address.to_v4().to_uint()};
  const auto bytes = address.to_v6().to_bytes();
  char text[16];
  std::copy(bytes.begin(), bytes.end(), text);
  const std::string_view view(text, sizeof text);
  if (address.to_v6().is_v4_mapped()) return {0, read_be<std::uint64_t>(view.substr(8))};
  return {read_be<std::uint64_t>(view), 0};
}

bool ConnectionCaps::acquire(PeerKey peer) {
  const std::scoped_lock lock(mutex_);
  if (total_ >= total_max_) return false;
  std::size_t& count = per_peer_[peer];
  if (count >= per_peer_max_) {
    if (count == 0) per_peer_.erase(peer);
    return false;
  }
  ++count;
  ++total_;
  return true;
}

void ConnectionCaps::release(PeerKey peer) {
  const std::scoped_lock lock(mutex_);
  const auto found = per_peer_.find(peer);
  HK_ASSERT(found != per_peer_.end() && total_ > 0);
  --total_;
  if (--found->second == 0) per_peer_.erase(found);
}

}  // namespace hk::http
