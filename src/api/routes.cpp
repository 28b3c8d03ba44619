#include <array>

#include "api/route.h"
#include "api/route_index.h"

namespace hk::api {

std::span<const RouteTable> route_tables() {
  // The busiest protocol stands first.
  static const std::array tables = {qstash::routes(),   jobs::routes(),  idempotency::routes(),
                                    transact::routes(), admin::routes(), sns::routes()};
  return tables;
}

Found find_route(std::string_view method, std::string_view target) {
  static const RouteIndex index(route_tables());
  return index.find(method, target);
}

}  // namespace hk::api
