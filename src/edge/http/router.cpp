#include "edge/http/router.h"

#include <algorithm>

#include "base/assert.h"
#include "edge/http/response_writer.h"

namespace hk::http {

/// One position in a path. Patterns that share a beginning share nodes.
struct Router::Node {
  struct Literal {
    std::string text{};
    bool any_case = false;
    std::unique_ptr<Node> node{};
  };
  struct Endpoint {
    const Route* route = nullptr;
    std::vector<std::string_view> names{};  ///< of the braces on the way here
  };

  std::vector<Literal> literals{};
  std::unique_ptr<Node> named{};
  std::unique_ptr<Node> rest{};
  std::vector<Endpoint> endpoints{};  ///< one per method
};

struct Router::Search {
  std::string_view method{};
  std::string_view query{};               ///< with its '?'
  std::vector<std::string_view> taken{};  ///< by braces, on the way to where the walk is
  bool rest_taken = false;
  const Node::Endpoint* found = nullptr;
  std::vector<std::string_view> found_taken{};
  bool found_rest = false;
  std::vector<std::string_view> methods{};  ///< of the endpoints that matched the path
};

namespace {

/// The first segment of a path without its leading slash, and what follows it (with its slash).
std::pair<std::string_view, std::string_view> split(std::string_view path) {
  const std::size_t slash = path.find('/');
  if (slash == std::string_view::npos) return {path, {}};
  return {path.substr(0, slash), path.substr(slash)};
}

bool is_braced(std::string_view segment) {
  return segment.size() > 2 && segment.front() == '{' && segment.back() == '}';
}

bool same_text(std::string_view a, std::string_view b, bool any_case) {
  return any_case ? equals_ignoring_case(a, b) : a == b;
}

/// HEAD is answered by GET when it has no route of its own.
bool fits(std::string_view route_method, std::string_view method) {
  return route_method == method || (method == "HEAD" && route_method == "GET");
}

void add_allowed(std::vector<std::string_view>& methods, std::string_view method) {
  if (std::find(methods.begin(), methods.end(), method) == methods.end()) methods.push_back(method);
}

}  // namespace

const std::string& RouteParameters::at(std::string_view name) const {
  const auto found = std::find_if(values_.begin(), values_.end(),
                                  [name](const auto& value) { return value.first == name; });
  HK_ASSERT(found != values_.end());
  return found->second;
}

Router::Router() : root_(std::make_unique<Node>()) {}
Router::Router(Router&&) noexcept = default;
Router& Router::operator=(Router&&) noexcept = default;
Router::~Router() = default;

void Router::add(Route new_route) {
  HK_ASSERT(new_route.pattern.starts_with('/'));
  const Route& route = *routes_.emplace_back(std::make_unique<Route>(std::move(new_route)));
  const std::string_view pattern = route.pattern;
  const bool any_case = pattern.starts_with("/v2/") || pattern == "/v2";
  std::vector<std::string_view> names;
  Node* node = root_.get();
  std::string_view left = pattern;
  while (!left.empty() && left != "/") {
    const auto [segment, after] = split(left.substr(1));
    HK_ASSERT(!segment.empty());
    left = after;
    if (!is_braced(segment)) {
      auto literal =
          std::find_if(node->literals.begin(), node->literals.end(), [&](const auto& known) {
            return known.any_case == any_case && same_text(known.text, segment, any_case);
          });
      if (literal == node->literals.end()) {
        node->literals.push_back({std::string(segment), any_case, std::make_unique<Node>()});
        literal = std::prev(node->literals.end());
      }
      node = literal->node.get();
      continue;
    }
    std::string_view name = segment.substr(1, segment.size() - 2);
    const bool rest = name.ends_with("...");
    if (rest) name.remove_suffix(3);
    HK_ASSERT(!rest || left.empty());  // the rest is the end
    names.push_back(name);
    std::unique_ptr<Node>& child = rest ? node->rest : node->named;
    if (child == nullptr) child = std::make_unique<Node>();
    node = child.get();
  }
  for (const Node::Endpoint& endpoint : node->endpoints) {
    HK_ASSERT(endpoint.route->method != route.method);
  }
  node->endpoints.push_back({&route, std::move(names)});
}

void Router::arrive(const Node& node, Search& search) {
  const Node::Endpoint* best = nullptr;
  for (const Node::Endpoint& endpoint : node.endpoints) {
    add_allowed(search.methods, endpoint.route->method);
    if (!fits(endpoint.route->method, search.method)) continue;
    if (best == nullptr || endpoint.route->method == search.method) best = &endpoint;
  }
  if (best == nullptr) return;
  search.found = best;
  search.found_taken = search.taken;
  search.found_rest = search.rest_taken;
}

/// Goes the most literal way first and stops at the first endpoint that fits. `path` is what is
/// left, with its leading slash.
void Router::walk(const Node& node, std::string_view path, Search& search) {
  if (path.empty() || path == "/") arrive(node, search);
  if (search.found != nullptr) return;
  if (!path.empty() && path != "/") {
    const auto [segment, after] = split(path.substr(1));
    for (const Node::Literal& literal : node.literals) {
      if (!same_text(literal.text, segment, literal.any_case)) continue;
      walk(*literal.node, after, search);
      if (search.found != nullptr) return;
    }
    if (node.named != nullptr && !segment.empty()) {
      search.taken.push_back(segment);
      walk(*node.named, after, search);
      search.taken.pop_back();
      if (search.found != nullptr) return;
    }
  }
  if (node.rest != nullptr) {
    search.taken.push_back(path.empty() ? path : path.substr(1));
    search.rest_taken = true;
    arrive(*node.rest, search);
    search.rest_taken = false;
    search.taken.pop_back();
  }
}

Router::Match Router::find(std::string_view method, std::string_view target) const {
  const std::size_t mark = std::min(target.find('?'), target.size());
  Search search{.method = method, .query = target.substr(mark)};
  if (target.starts_with('/')) walk(*root_, target.substr(0, mark), search);

  Match match;
  if (search.found != nullptr) {
    match.outcome = Outcome::found;
    match.route = search.found->route;
    const std::vector<std::string_view>& names = search.found->names;
    for (std::size_t i = 0; i < names.size(); ++i) {
      std::string_view value = search.found_taken[i];
      // The query belongs to the rest, and follows it directly in the target.
      if (search.found_rest && i + 1 == names.size()) {
        value = search.found_taken[i].empty()
                    ? search.query
                    : std::string_view(value.data(), value.size() + search.query.size());
      }
      match.parameters.add(names[i], value);
    }
  } else if (!search.methods.empty()) {
    match.outcome = Outcome::method_not_allowed;
    if (std::find(search.methods.begin(), search.methods.end(), "GET") != search.methods.end()) {
      add_allowed(search.methods, "HEAD");
    }
    std::sort(search.methods.begin(), search.methods.end());
    for (const std::string_view allowed : search.methods) {
      match.allow.append(match.allow.empty() ? "" : ", ").append(allowed);
    }
  }
  return match;
}

void Router::handle(Request&& request, Responder responder, IoThread& thread) const {
  Match match = find(request.method, request.target);
  if (match.outcome == Outcome::found) {
    match.route->handler(std::move(request), match.parameters, std::move(responder), thread);
    return;
  }
  const bool method_wrong = match.outcome == Outcome::method_not_allowed;
  Response response = method_wrong
                          ? error_response(405, "this resource does not know the method; see Allow")
                          : error_response(404, "there is nothing at this path");
  response.close = false;
  if (method_wrong) response.fields.push_back({"Allow", std::move(match.allow)});
  responder(std::move(response));
}

}  // namespace hk::http
