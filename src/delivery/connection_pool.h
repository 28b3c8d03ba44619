/// The idle connections of one I/O thread. They are keyed by tenant, scheme, host, port and the
/// address that was judged: never shared between tenants, never used for an address that was not
/// judged again. Bounded in number, per destination and in age. No locks.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/message.h"
#include "delivery/connection.h"

namespace hk::delivery {

struct PoolLimits {
  std::size_t idle_max = 2'048;
  std::size_t idle_per_destination_max = 512;  ///< as many as are under way to it at most
  std::chrono::milliseconds idle_age_max{60'000};
};

std::string pool_key(core::TenantId tenant, const net::Url& url, const Address& judged);

class ConnectionPool final : public IdleWatcher {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ConnectionPool(const PoolLimits& limits) : limits_(limits) {}
  ~ConnectionPool() { clear(); }
  ConnectionPool(const ConnectionPool&) = delete;
  ConnectionPool& operator=(const ConnectionPool&) = delete;

  /// The one used last of those that are still good, or null.
  ConnectionPtr take(const std::string& key);
  /// Keeps it for later or closes it, and somebody older if there are too many.
  void give_back(ConnectionPtr connection, Clock::time_point now);
  /// Closes those that have been idle for too long.
  void sweep(Clock::time_point now);
  void clear();
  [[nodiscard]] std::size_t idle() const { return by_age_.size(); }

  void on_idle_end(Connection& connection) override;

 private:
  void drop(Connection& connection);

  const PoolLimits limits_;
  std::unordered_map<std::string, std::vector<ConnectionPtr>> by_key_;
  boost::intrusive::list<Connection> by_age_;  ///< longest idle first; the same connections
};

}  // namespace hk::delivery
