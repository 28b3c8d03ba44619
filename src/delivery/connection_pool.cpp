#include "delivery/connection_pool.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/bytes.h"

namespace hk::delivery {

std::string pool_key(core::TenantId tenant, const net::Url& url, const Address& judged) {
  std::string key;
  key.reserve(4 + 1 + 2 + 17 + url.host.size());
  append_be(key, tenant.value());
  key.push_back(url.scheme == net::Scheme::https ? 's' : 'p');
  append_be(key, url.port);
  key.push_back(judged.v6 ? '6' : '4');
  key.append(judged.bytes.begin(), judged.bytes.end());
  key.append(url.host);
  return key;
}

ConnectionPtr ConnectionPool::take(const std::string& key) {
  const auto found = by_key_.find(key);
  if (found == by_key_.end()) {
    return nullptr;
  }
  auto& idle = found->second;
  ConnectionPtr good;  // a list that becomes empty is left for the next one, or for sweep()
  while (good == nullptr && !idle.empty()) {
    ConnectionPtr candidate = std::move(idle.back());
    idle.pop_back();
    by_age_.erase(by_age_.iterator_to(*candidate));
    candidate->idle_watcher = nullptr;
    if (candidate->is_quiet()) {
      good = std::move(candidate);
    } else {
      candidate->close();
    }
  }
  return good;
}

void ConnectionPool::give_back(ConnectionPtr connection, Clock::time_point now) {
  if (limits_.idle_max == 0 || !connection->is_reusable()) {
    connection->close();
    return;
  }
  auto& idle = by_key_[connection->pool_key];
  if (idle.size() >= limits_.idle_per_destination_max) {
    connection->close();
    return;
  }
  connection->idle_since = now;
  connection->idle_watcher = this;
  by_age_.push_back(*connection);
  idle.push_back(std::move(connection));
  if (by_age_.size() > limits_.idle_max) {
    drop(by_age_.front());
  }
}

void ConnectionPool::sweep(Clock::time_point now) {
  while (!by_age_.empty() && now - by_age_.front().idle_since >= limits_.idle_age_max) {
    drop(by_age_.front());
  }
  std::erase_if(by_key_, [](const auto& one) { return one.second.empty(); });
}

void ConnectionPool::clear() {
  while (!by_age_.empty()) {
    drop(by_age_.front());
  }
}

void ConnectionPool::on_idle_end(Connection& connection) { drop(connection); }

void ConnectionPool::drop(Connection& connection) {
  const auto found = by_key_.find(connection.pool_key);
  HK_ASSERT(found != by_key_.end());
  auto& idle = found->second;
  const auto place = std::ranges::find(idle, &connection, &ConnectionPtr::get);
  HK_ASSERT(place != idle.end());
  const ConnectionPtr alive = std::move(*place);
  idle.erase(place);
  by_age_.erase(by_age_.iterator_to(connection));
  connection.close();
}

}  // namespace hk::delivery
