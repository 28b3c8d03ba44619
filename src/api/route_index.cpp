#include "api/route_index.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/assert.h"

namespace hk::api {

namespace {

/// The segment behind the '/' that `path` begins with; `path` moves behind it.
std::string_view take_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::size_t end = path.find('/');
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(segment.size());
  return segment;
}

}  // namespace

RouteIndex::RouteIndex(std::span<const RouteTable> tables) {
  for (const RouteTable& table : tables) {
    for (const Route& route : table.routes) {
      add({&route, table.surface});
    }
  }
}

void RouteIndex::add(const Entry& entry) {
  Node* node = &root_;
  std::vector<Entry>* place = nullptr;
  std::size_t params = 0;
  // A '/' at its end is for those who read it: "/portal/" is also found as "/portal".
  for (std::string_view pattern = entry.route->pattern; !pattern.empty() && pattern != "/";) {
    const std::string_view segment = take_segment(pattern);
    if (segment.ends_with("...}")) {
      HK_ASSERT(pattern.empty());
      place = &node->rest;
    } else if (segment.starts_with('{')) {
      ++params;
      HK_ASSERT(params <= Route::params_max);
      if (!node->param) {
        node->param = std::make_unique<Node>();
      }
      node = node->param.get();
    } else {
      auto child = std::ranges::find_if(node->literals, [segment](const auto& one) {
        return equals_ignoring_case(one.first, segment);
      });
      if (child == node->literals.end()) {
        child = node->literals.emplace(child, segment, std::make_unique<Node>());
      }
      node = child->second.get();
    }
  }
  if (place == nullptr) {
    place = &node->here;
  }
  HK_ASSERT(std::ranges::none_of(
      *place, [&](const Entry& one) { return one.route->method == entry.route->method; }));
  place->push_back(entry);
}

/// One walk from the root. It returns from a branch in which no row has the method.
class RouteIndex::Search {
 public:
  Search(std::string_view method, std::string_view target)
      // The edge leaves the body out of the answer to a HEAD; otherwise it is a GET (RFC 9110,
      // 9.3.2).
      : method_(method == "HEAD" ? "GET" : method), target_(target) {}

  bool below(const Node& node, std::string_view path) {
    if ((path.empty() || path == "/") && take(node.here)) {
      return true;
    }
    if (path.starts_with('/')) {
      std::string_view after = path;
      const std::string_view segment = take_segment(after);
      const auto child = std::ranges::find_if(node.literals, [segment](const auto& one) {
        return equals_ignoring_case(one.first, segment);
      });
      if (child != node.literals.end() && below(*child->second, after)) {
        return true;
      }
      if (node.param && !segment.empty()) {
        found_.params[found_.params_count++] = segment;
        if (below(*node.param, after)) {
          return true;
        }
        --found_.params_count;
      }
    }
    if (!take(node.rest)) {
      return false;
    }
    // Behind the '/' if there is one; the query is part of it.
    const std::size_t path_end = std::min(target_.find('?'), target_.size());
    found_.rest = target_.substr(path_end - path.size() + (path.empty() ? 0 : 1));
    return true;
  }

  Found result() && { return std::move(found_); }

 private:
  bool take(const std::vector<Entry>& entries) {
    for (const Entry& entry : entries) {
      const std::string_view method = entry.route->method;
      if (method == method_) {
        found_.route = entry.route;
        found_.surface = entry.surface;
        return true;
      }
      if (found_.allowed.find(method) == std::string::npos) {
        found_.allowed += found_.allowed.empty() ? "" : ", ";
        found_.allowed += method == "GET" ? "GET, HEAD" : method;
      }
    }
    return false;
  }

  const std::string_view method_;
  const std::string_view target_;
  Found found_;
};

Found RouteIndex::find(std::string_view method, std::string_view target) const {
  Search search(method, target);
  search.below(root_, target.substr(0, target.find('?')));
  return std::move(search).result();
}

}  // namespace hk::api
