#include "api/svix/page.h"

#include <array>

namespace hk::api::svix {

Page read_page(Query& query, bool descending, bool ordered) {
  constexpr std::int64_t most = 250;
  constexpr std::int64_t otherwise = 50;
  constexpr std::array<std::string_view, 2> orders = {"ascending", "descending"};
  Page page{.descending = descending};
  page.limit = static_cast<std::size_t>(query.integer("limit", 1, most).value_or(otherwise));
  page.iterator = query.text("iterator").value_or("");
  if (page.iterator.starts_with('-')) {
    page.iterator.erase(0, 1);
    page.back = true;
  }
  if (ordered) {
    page.descending = query.one_of("order", orders).value_or(descending ? 1 : 0) == 1;
  }
  return page;
}

http::Response empty_page() {
  http::Response response;
  response.body = R"({"data":[],"iterator":null,"done":true})";
  return response;
}

}  // namespace hk::api::svix
