/// One request on its way through an adapter. Made by the Service, handed to exactly one handler,
/// on the I/O thread that read the request.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/batcher.h"
#include "api/limits/admissions.h"
#include "api/options.h"
#include "api/surface.h"
#include "edge/http/message.h"
#include "edge/http/server.h"
#include "engine/submitter.h"
#include "engine/tenant_directory.h"
#include "engine/tenant_room.h"

namespace hk::observe {
class Metrics;
}

namespace hk {
class JsonWriter;
}

namespace hk::api {

struct Problem;
struct Services;

namespace sources {
class Directory;
}

/// The answer to one request; move-only, called once, on the request's I/O thread. Counts it. A
/// large one takes room until it is sent: clients that do not read must not fill the memory.
class Answer {
 public:
  static constexpr std::size_t large_bytes = std::size_t{64} * 1024;

  Answer(http::Responder respond, observe::Metrics& metrics,
         std::shared_ptr<engine::TenantRoom> room);
  Answer(Answer&& other) noexcept;
  Answer& operator=(Answer&&) = delete;
  Answer(const Answer&) = delete;
  Answer& operator=(const Answer&) = delete;
  ~Answer() = default;

  void operator()(http::Response response);
  /// False: there is no room for it, and nothing was answered.
  [[nodiscard]] bool try_answer(http::Response& response);
  /// An error, in the words of the surface.
  void refuse(const Error& error);
  void refuse(int status, std::string_view text);
  /// Of the own API.
  void refuse(const Problem& what, int status, std::string_view detail,
              std::vector<net::Field> fields = {});
  /// A limit does not let it in.
  void refuse(const limits::Turned& turned);
  void refuse_method(const std::string& allowed);
  /// Logs what was thrown, and tells it as our fault if there was no answer yet.
  void fail(const std::exception& thrown);
  void of_surface(Surface surface, std::string request_id) {
    surface_ = surface;
    request_id_ = std::move(request_id);
  }
  void of_tenant(core::TenantId tenant) {
    tenant_ = tenant;
    respond_.belongs_to(tenant.value());
  }
  /// The limits let it in; it is under way until it is answered.
  void admitted(limits::Ticket ticket) { ticket_ = std::move(ticket); }
  /// When it turns out what the request costs; nullopt: it may go on.
  [[nodiscard]] std::optional<limits::Turned> recharge(std::uint64_t cost);
  /// The same, and it refuses by itself. False: it did.
  [[nodiscard]] bool costs(std::uint64_t cost);
  /// The answer was there before: that costs no more than a read.
  void replayed() { ticket_.replayed(); }
  [[nodiscard]] std::chrono::steady_clock::time_point begun_at() const { return start_; }
  /// For a request that changes nothing: without room for a large answer it is told to come back.
  /// All others get theirs in any case.
  void may_be_refused() { may_be_refused_ = true; }
  /// See http::Responder.
  void when_gone(std::move_only_function<void()> told) { respond_.when_gone(std::move(told)); }
  [[nodiscard]] bool pending() const { return pending_; }
  /// "": requests of the surface have none.
  [[nodiscard]] const std::string& request_id() const { return request_id_; }

 private:
  [[nodiscard]] bool take_room(http::Response& response);

  http::Responder respond_;
  observe::Metrics* metrics_;
  std::shared_ptr<engine::TenantRoom> room_;
  core::TenantId tenant_{};
  limits::Ticket ticket_{};
  std::string request_id_{};  ///< "": requests of the surface have none
  std::chrono::steady_clock::time_point start_;
  Surface surface_ = Surface::qstash;
  bool may_be_refused_ = false;
  bool pending_ = true;
};

/// Runs a piece of a handler on the I/O thread. What a store or a library throws (a broken record,
/// no memory) ends here: it is logged and, if the request is still unanswered, told (thrown.h).
template <class Work>
void answering(Answer& answer, Work&& work) {
  try {
    work();
  } catch (const std::exception& thrown) {
    answer.fail(thrown);
  }
}

/// What handlers work with; outlives every call.
struct Services {
  engine::Submitter& submitter;
  const engine::TenantDirectory& tenants;
  observe::Metrics& metrics;
  const Options& options;
  limits::Admissions& admissions;
  sources::Directory& sources;

  [[nodiscard]] Moment now() const;
};

struct Call {
  http::Request& request;  ///< the handler may take it apart
  Answer answer;           ///< a handler that does not answer at once moves it into its callback
  Batcher& batcher;
  std::shared_ptr<const engine::TenantDirectory::Entry>
      tenant{};           ///< null on open routes and those of the whole server
  bool by_admin = false;  ///< the admin's token was used, for the tenant if any
  std::shared_ptr<const core::webhook::AppToken> app{};  ///< the token of one application was used
  std::string param{};                     ///< the first {…} of the route, percent-decoded
  std::vector<std::string> more_params{};  ///< the others, in their order
  std::string_view
      rest{};  ///< what {…...} matched: raw, query included; points into request.target

  /// Of routes that are rated by content: what it was found to cost. nullopt: it may go on.
  [[nodiscard]] std::optional<limits::Turned> admit_late(const Services& services,
                                                         const limits::Costs& costs);
};

}  // namespace hk::api
