/// The HTTP API of the server: finds the route, authenticates and hands the request to its adapter.
/// main makes one, gives handle() to the http::Server, and keeps it until the engine has ended (its
/// batchers are the engine's mailboxes).
/// Thread safety: handle() is called by every I/O thread at once; each has a batcher of its own.
#pragma once

#include <array>
#include <memory>
#include <string_view>
#include <vector>

#include "api/batcher.h"
#include "api/call.h"
#include "api/options.h"
#include "api/sources/directory.h"
#include "edge/http/server.h"
#include "engine/submitter.h"
#include "engine/tenant_directory.h"

namespace hk::api {

class Service {
 public:
  static constexpr std::size_t io_threads_max = 256;

  /// REQUIRES: options.check_destination, check_header and check_zone are set; the
  /// references outlive the service.
  Service(engine::Submitter& submitter, const engine::TenantDirectory& tenants,
          observe::Metrics& metrics, Options options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  /// Makes the batchers ahead of the first request. Optional: a thread without one gets it then.
  /// REQUIRES: no request is being handled.
  void attach(const std::vector<http::IoThread*>& threads);

  /// The server's handler. Never blocks, never throws; answers every request exactly once.
  /// `caller`: whose request it is, where that is known already; null: the request has to prove it.
  void handle(http::Request&& request, http::Responder respond, http::IoThread& io,
              std::shared_ptr<const engine::TenantDirectory::Entry> caller = nullptr);

  /// The answer, in the words of whom it asks, to a request that is refused before handle() gets
  /// it. The server's write_refusal. Any thread.
  static http::Response refusal(const http::Request& request, int status, std::string_view reason);

  /// What the server is to read of a body for this target. Any thread.
  [[nodiscard]] std::size_t body_bytes_max(std::string_view target) const;

  /// Who is let in. Any thread.
  [[nodiscard]] limits::Admissions& admissions() { return admissions_; }
  /// Looks at how busy the server is, and tightens or loosens its limits. Once a second or so.
  void measure();

  /// For large answers that clients have not read yet, in bytes.
  [[nodiscard]] const engine::TenantRoom& answer_room() const { return *answer_room_; }

 private:
  /// The thread's own. On that thread.
  Batcher& batcher_of(http::IoThread& io);

  // Constant after construction.
  const Options options_;
  limits::Admissions admissions_;
  sources::Directory sources_;
  const Services services_;
  const std::shared_ptr<engine::TenantRoom> answer_room_;
  // Slot i is touched by I/O thread i alone.
  std::array<std::unique_ptr<Batcher>, io_threads_max> batchers_;
};

}  // namespace hk::api
