#include "api/admin/handlers.h"
#include "api/admin/queue_metrics.h"
#include "observe/metrics.h"

namespace hk::api::admin {

void healthz(const Services& /*services*/, Call& call) {
  http::Response response;
  response.body = R"({"status":"ok"})";
  call.answer(std::move(response));
}

void readyz(const Services& services, Call& call) {
  const bool ready = !services.options.ready || services.options.ready();
  http::Response response;
  response.status = ready ? 200 : 503;
  response.body = ready ? R"({"status":"ready"})" : R"({"status":"not ready"})";
  call.answer(std::move(response));
}

void metrics(const Services& services, Call& call) {
  render_queues(services, call.batcher,
                [&services, answer = std::move(call.answer)](const std::string& queues) mutable {
                  http::Response response;
                  response.content_type = "text/plain; version=0.0.4";
                  response.body = services.metrics.render() + queues;
                  answer(std::move(response));
                });
}

}  // namespace hk::api::admin
