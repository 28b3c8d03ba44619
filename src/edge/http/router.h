/// A table of routes: method, pattern, function. Adapters fill it before the server starts; then it
/// is constant and any I/O thread may look things up. The table is the list of what is supported:
/// it can be enumerated for documentation and tests.
///
/// Patterns: "/v2/queues/{name}/pause" — a segment in braces takes one non-empty segment, raw (not
/// decoded). "/v2/publish/{rest...}" — takes everything behind the slash, raw and with the query,
/// so that a URL inside a target survives as it was sent. Literal segments win over named ones,
/// those over the rest. A slash at the end makes no difference. Literal segments under /v2 are
/// compared without regard to case.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edge/http/message.h"
#include "edge/http/server.h"

namespace hk::http {

/// What the braces of a pattern took, in the order of the pattern.
class RouteParameters {
 public:
  void add(std::string_view name, std::string_view value) { values_.emplace_back(name, value); }
  /// REQUIRES: the pattern has that name.
  [[nodiscard]] const std::string& at(std::string_view name) const;
  [[nodiscard]] std::size_t size() const { return values_.size(); }

 private:
  std::vector<std::pair<std::string_view, std::string>> values_{};  ///< names: of the route table
};

using RouteHandler = std::function<void(Request&&, const RouteParameters&, Responder, IoThread&)>;

struct Route {
  std::string method{};
  std::string pattern{};
  RouteHandler handler{};
};

class Router {
 public:
  enum class Outcome : std::uint8_t { found, not_found, method_not_allowed };
  struct Match {
    Outcome outcome = Outcome::not_found;
    const Route* route = nullptr;  ///< found
    RouteParameters parameters{};  ///< found
    std::string allow{};           ///< method_not_allowed: the value of the Allow field
  };

  Router();
  Router(Router&&) noexcept;
  Router& operator=(Router&&) noexcept;
  ~Router();

  /// REQUIRES: a well-formed pattern; the pair of method and pattern is new (asserted: tables are
  /// ours). A GET route also answers HEAD.
  void add(Route route);
  [[nodiscard]] Match find(std::string_view method, std::string_view target) const;
  /// Finds and calls; answers 404 and 405 with {"error":"…"} itself.
  void handle(Request&& request, Responder responder, IoThread& thread) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Route>>& routes() const { return routes_; }

 private:
  struct Node;
  struct Search;
  static void walk(const Node& node, std::string_view path, Search& search);
  static void arrive(const Node& node, Search& search);

  std::vector<std::unique_ptr<Route>> routes_{};
  std::unique_ptr<Node> root_;
};

}  // namespace hk::http
