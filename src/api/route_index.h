/// Finds the row of a request: a tree of path segments, made once from all tables. Works on the raw
/// target, since a destination stands in it unencoded. Constant after construction, any thread.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/route.h"

namespace hk::api {

struct Found {
  const Route* route = nullptr;  ///< null: no row has this path and method
  Surface surface = Surface::own;
  std::array<std::string_view, Route::params_max> params{};  ///< raw
  std::size_t params_count = 0;
  std::string_view rest{};  ///< what {…...} matched: raw, query included
  std::string allowed{};    ///< methods of the rows with this path, if the method was the problem
};

class RouteIndex {
 public:
  /// The rows outlive the index. REQUIRES: no two rows have the same method and path.
  explicit RouteIndex(std::span<const RouteTable> tables);

  /// Where several rows fit, a literal segment goes before "{name}", and that before "{name...}".
  [[nodiscard]] Found find(std::string_view method, std::string_view target) const;

 private:
  struct Entry {
    const Route* route;
    Surface surface;
  };
  struct Node {
    std::vector<std::pair<std::string_view, std::unique_ptr<Node>>> literals;
    std::unique_ptr<Node> param;
    std::vector<Entry> here;  ///< the path ends
    std::vector<Entry> rest;  ///< anything may follow
  };
  class Search;

  void add(const Entry& entry);

  Node root_;
};

/// In all tables.
Found find_route(std::string_view method, std::string_view target);

}  // namespace hk::api
