#include <array>
#include <utility>

#include "api/route.h"
#include "api/route_index.h"

namespace hk::api {

std::span<const RouteTable> route_tables() {
  // The busiest protocol stands first.
  static const std::array tables = {qstash::routes(),  jobs::routes(),     idempotency::routes(),
                                    ledger::routes(),  transact::routes(), admin::routes(),
                                    sns::routes(),     svix::routes(),     webhooks::routes(),
                                    sources::routes(), portal::routes()};
  return tables;
}

std::optional<core::RateClass> rate_class(const Route& route) {
  switch (route.rated) {
    case Rated::publish: return core::RateClass::publish;
    case Rated::receive: return core::RateClass::receive;
    case Rated::ledger: return core::RateClass::ledger;
    case Rated::by_content:
    case Rated::never: return std::nullopt;
    case Rated::by_method:
      return route.method == "GET" ? core::RateClass::read : core::RateClass::manage;
  }
  std::unreachable();
}

Found find_route(std::string_view method, std::string_view target) {
  static const RouteIndex index(route_tables());
  return index.find(method, target);
}

}  // namespace hk::api
