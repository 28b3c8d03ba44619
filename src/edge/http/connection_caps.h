/// Counts open connections, in total and per peer, against their caps. An IPv6 peer is its /64:
/// single addresses are free to whoever owns a network. Called from every I/O thread when a
/// connection opens or ends, never per request; a mutex guards it.
#pragma once

#include <boost/asio/ip/address.hpp>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace hk::http {

/// The address by which a peer is counted.
struct PeerKey {
  std::uint64_t high = 0;
  std::uint64_t low = 0;

  friend bool operator==(const PeerKey&, const PeerKey&) = default;
};

PeerKey peer_key(const boost::asio::ip::address& address);

class ConnectionCaps {
 public:
  ConnectionCaps(std::size_t total_max, std::size_t per_peer_max)
      : total_max_(total_max), per_peer_max_(per_peer_max) {}

  /// False at a cap. True must be followed by release() when the connection ends.
  bool acquire(PeerKey peer);
  void release(PeerKey peer);

 private:
  struct Hash {
    std::size_t operator()(const PeerKey& key) const noexcept {
      return static_cast<std::size_t>((key.high ^ (key.low * 0x9e3779b97f4a7c15ULL)) >> 3U);
    }
  };

  const std::size_t total_max_;
  const std::size_t per_peer_max_;
  std::mutex mutex_{};
  std::size_t total_ = 0;                                      ///< guarded by mutex_
  std::unordered_map<PeerKey, std::size_t, Hash> per_peer_{};  ///< guarded by mutex_
};

}  // namespace hk::http
