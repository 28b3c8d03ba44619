#include "api/call.h"

#include <algorithm>
#include <utility>

#include "api/limits/told.h"
#include "api/problem.h"
#include "api/surface.h"
#include "api/thrown.h"
#include "base/assert.h"
#include "observe/metrics.h"

namespace hk::api {

Answer::Answer(http::Responder respond, observe::Metrics& metrics,
               std::shared_ptr<engine::TenantRoom> room)
    : respond_(std::move(respond)),
      metrics_(&metrics),
      room_(std::move(room)),
      start_(std::chrono::steady_clock::now()) {}

Answer::Answer(Answer&& other) noexcept
    : respond_(std::move(other.respond_)),
      metrics_(other.metrics_),
      room_(std::move(other.room_)),
      tenant_(other.tenant_),
      ticket_(std::move(other.ticket_)),
      request_id_(std::move(other.request_id_)),
      start_(other.start_),
      surface_(other.surface_),
      may_be_refused_(other.may_be_refused_),
      pending_(std::exchange(other.pending_, false)) {}

bool Answer::take_room(http::Response& response) {
  if (response.body.size() <= large_bytes || response.held) {
    return true;
  }
  response.held = engine::TenantRoom::take(room_, tenant_, response.body.size());
  return response.held != nullptr;
}

bool Answer::try_answer(http::Response& response) {
  if (!take_room(response)) {
    return false;
  }
  (*this)(std::move(response));
  return true;
}

void Answer::operator()(http::Response response) {
  HK_ASSERT(pending_);
  pending_ = false;
  if (!take_room(response) && may_be_refused_) {
    response = error_for(surface_, 503,
                         "too many large answers have not been read yet: read those that you "
                         "requested, then try again",
                         request_id_);
    response.fields.push_back({"Retry-After", "1"});
  }
  if (surface_ == Surface::own && ticket_.standing()) {
    limits::add_standing(response, *ticket_.standing());
  }
  ticket_.end();
  if (!request_id_.empty()) {
    response.fields.push_back({"X-Request-Id", std::move(request_id_)});
  }
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start_;
  metrics_->request(response.status, taken.count());
  respond_(std::move(response));
}

void Answer::refuse(const Error& error) { (*this)(error_for(surface_, error, request_id_)); }

void Answer::refuse(int status, std::string_view text) {
  (*this)(error_for(surface_, status, text, request_id_));
}

void Answer::refuse(const Problem& what, int status, std::string_view detail,
                    std::vector<net::Field> fields) {
  http::Response response = problem(what, status, detail, request_id_);
  response.fields = std::move(fields);
  (*this)(std::move(response));
}

void Answer::refuse(const limits::Turned& turned) {
  http::Response response = limits::refusal(surface_, turned, request_id_);
  ticket_ = {};  // what it says of the limits is in the answer already
  (*this)(std::move(response));
}

std::optional<limits::Turned> Answer::recharge(std::uint64_t cost) {
  std::optional<limits::Turned> turned = ticket_.correct(cost);
  if (turned) {
    ticket_ = {};  // the refusal says what there is to say of the limits
  }
  return turned;
}

std::optional<limits::Turned> Call::admit_late(const Services& services,
                                               const limits::Costs& costs) {
  const std::uint64_t cost = limits::total(costs);
  if (!tenant || by_admin || cost == 0) {
    return std::nullopt;
  }
  const auto most = static_cast<core::RateClass>(std::ranges::max_element(costs) - costs.begin());
  auto ticket = services.admissions.admit(answer.begun_at(), *tenant,
                                          {.of = most, .cost = cost, .of_each = costs});
  if (!ticket) {
    if (most == core::RateClass::publish) {
      services.metrics.publish_refused("rate_limited");
    }
    answer.admitted({});
    return std::move(ticket.error());
  }
  answer.admitted(std::move(*ticket));
  return std::nullopt;
}

bool Answer::costs(std::uint64_t cost) {
  const std::optional<limits::Turned> turned = recharge(cost);
  if (turned) {
    refuse(*turned);
  }
  return !turned;
}

void Answer::refuse_method(const std::string& allowed) {
  http::Response response =
      error_for(surface_, 405, "method not allowed; this path allows " + allowed, request_id_);
  response.fields.push_back({"Allow", allowed});
  (*this)(std::move(response));
}

void Answer::fail(const std::exception& thrown) {
  http::Response response = error_for(surface_, error_of_thrown(thrown), request_id_);
  if (pending_) {
    (*this)(std::move(response));
  }
}

Moment Services::now() const {
  if (options.now) {
    return options.now();
  }
  return std::chrono::floor<Millis>(std::chrono::system_clock::now());
}

}  // namespace hk::api
