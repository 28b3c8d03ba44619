/// One request on its way through an adapter. Made by the Service, handed to exactly one handler,
/// on the I/O thread that read the request.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/batcher.h"
#include "api/options.h"
#include "edge/http/message.h"
#include "edge/http/server.h"
#include "engine/submitter.h"
#include "engine/tenant_directory.h"

namespace hk::observe {
class Metrics;
}

namespace hk::api {

/// The answer to one request; move-only, called once, on the request's I/O thread. Counts it.
class Answer {
 public:
  Answer(http::Responder respond, observe::Metrics& metrics);
  Answer(Answer&& other) noexcept;
  Answer& operator=(Answer&&) = delete;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() = default;

  void operator()(http::Response response);
  /// See http::Responder.
  void when_gone(std::move_only_function<void()> told) { respond_.when_gone(std::move(told)); }
  [[nodiscard]] bool pending() const { return pending_; }

 private:
  http::Responder respond_;
  observe::Metrics* metrics_;
  std::chrono::steady_clock::time_point start_;
  bool pending_ = true;
};

/// What handlers work with; outlives every call.
struct Services {
  engine::Submitter& submitter;
  const engine::TenantDirectory& tenants;
  observe::Metrics& metrics;
  const Options& options;

  [[nodiscard]] Moment now() const;
};

struct Call {
  http::Request& request;  ///< the handler may take it apart
  Answer answer;           ///< a handler that does not answer at once moves it into its callback
  Batcher& batcher;
  std::shared_ptr<const engine::TenantDirectory::Entry>
      tenant{};         ///< null on open and admin routes
  std::string param{};  ///< the {…} of the route, percent-decoded
  std::string_view
      rest{};  ///< what {…...} matched: raw, query included; points into request.target
};

}  // namespace hk::api
