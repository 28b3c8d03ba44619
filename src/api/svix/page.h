/// Lists by pages. An iterator is the place of an element, "-" before it: backwards. Whether
/// something is there (any more) does not matter. Any thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/svix/query.h"
#include "base/json.h"
#include "core/table.h"
#include "edge/http/message.h"

namespace hk::api::svix {

struct Page {
  std::size_t limit = 50;
  std::string iterator{};   ///< without its "-"; "": from the beginning
  bool back = false;        ///< against the order of the list
  bool descending = false;  ///< the order of the list

  /// In which order rows are read.
  [[nodiscard]] core::Order order() const {
    return descending != back ? core::Order::descending : core::Order::ascending;
  }
};

/// `limit` and `iterator`; `order` if `ordered`.
Page read_page(Query& query, bool descending, bool ordered);

/// What was found of a page, in the order of the list.
template <class Row>
struct Paged {
  std::vector<Row> rows{};
  bool done = true;
  /// Where it goes on, if it ended because it had looked at enough and not because it is full.
  std::optional<Row> stopped_at{};
};

enum class Kept : std::uint8_t {
  no,
  yes,
  enough,  ///< the page ends before it: it is large already
};

/// Rows by `read(last, count)`: those behind `last` (nullptr: from where the page begins), at most
/// `count`, in page.order(). Keeps those of which keep(row) says so, and looks at no more than
/// `looked_at_max`.
template <class Row, class Read, class Keep>
Paged<Row> gather_page(const Page& page, std::size_t looked_at_max, std::size_t at_once,
                       Read&& read, Keep&& keep) {
  Paged<Row> paged;
  std::optional<Row> last;
  std::size_t looked_at = 0;
  bool full = false;
  bool more = true;
  while (more && !full && looked_at < looked_at_max) {
    std::vector<Row> rows = read(last ? &*last : nullptr, at_once);
    more = rows.size() == at_once;
    for (Row& row : rows) {
      ++looked_at;
      const Kept kept = keep(row);
      if (kept != Kept::no) {
        if (kept == Kept::enough || paged.rows.size() == page.limit) {
          full = true;
          break;
        }
        paged.rows.push_back(row);
      }
      last = std::move(row);
    }
  }
  paged.done = !full && !more;
  if (!full && more && looked_at >= looked_at_max) {
    paged.stopped_at = std::move(last);
  }
  if (page.back) {
    std::ranges::reverse(paged.rows);
  }
  return paged;
}

/// `id(row)` is the iterator of a row, `write(json, row)` writes it.
template <class Row, class Id, class Write>
http::Response page_response(const Page& page, const Paged<Row>& paged, Id&& id, Write&& write) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.key("data");
  json.begin_array();
  for (const Row& row : paged.rows) {
    write(json, row);
  }
  json.end_array();
  std::string next = paged.rows.empty() ? std::string() : id(paged.rows.back());
  std::string before = paged.rows.empty() ? std::string() : '-' + id(paged.rows.front());
  if (paged.stopped_at && page.back) {
    before = '-' + id(*paged.stopped_at);
  } else if (paged.stopped_at) {
    next = id(*paged.stopped_at);
  }
  json.key("iterator");
  if (next.empty()) {
    json.null();
  } else {
    json.string(next);
  }
  if (!before.empty()) {
    json.field("prevIterator", before);
  }
  json.field("done", paged.done);
  json.end_object();
  return response;
}

/// All that fits into one page.
http::Response empty_page();

}  // namespace hk::api::svix
