#include "cli/own_server.h"

#include <algorithm>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "delivery/destination.h"
#include "delivery/outcome.h"
#include "delivery/request_head.h"
#include "delivery/retry_after.h"
#include "edge/http/responder.h"
#include "observe/metrics.h"

namespace hk::cli {
namespace {

namespace asio = boost::asio;
using Clock = std::chrono::steady_clock;
using observe::AttemptResult;

constexpr std::chrono::milliseconds tick{50};

/// The fields of a head that we wrote ourselves: nothing in it can be malformed.
std::vector<net::Field> fields_of(std::string_view head) {
  std::vector<net::Field> fields;
  head.remove_prefix(head.find("\r\n") + 2);
  while (!head.starts_with("\r\n")) {
    const std::size_t colon = head.find(": ");
    const std::size_t end = head.find("\r\n");
    fields.push_back(
        {std::string(head.substr(0, colon)), std::string(head.substr(colon + 2, end - colon - 2))});
    head.remove_prefix(end + 2);
  }
  return fields;
}

delivery::Answer answer_of(http::Response response) {
  const Moment now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  delivery::RetryAfter retry_after;
  for (const net::Field& field : response.fields) {
    retry_after.field(field.name, field.value, now);
  }
  auto outcome = delivery::judge_answer(response.status, false, retry_after.wish());
  response.body.resize(std::min(response.body.size(), outbox::answer_bytes_kept));
  return {.result = outcome.delivered ? AttemptResult::delivered : AttemptResult::http_error,
          .delivered = outcome.delivered,
          .give_up = outcome.give_up,
          .retry_after = outcome.retry_after,
          .error = std::move(outcome.error),
          .status = response.status,
          .body = std::move(response.body)};
}

delivery::Answer failed(AttemptResult result, std::string error) {
  return {.result = result, .error = std::move(error)};
}

class OwnServer;

/// Where the server's threads leave their answers: it may outlive the carrier.
class Door final : public http::Responder::Target {
 public:
  Door(asio::io_context& io, OwnServer& carrier) : io_(&io), carrier_(&carrier) {}

  void respond(std::uint64_t number, http::Response response) override;
  void watch(std::uint64_t, std::move_only_function<void()>) override {}  // nobody hangs up
  void close() {
    const std::lock_guard lock(mutex_);
    io_ = nullptr;
    carrier_ = nullptr;
  }

 private:
  std::mutex mutex_;
  asio::io_context* io_;  ///< guarded; null once the carrier is gone
  OwnServer* carrier_;    ///< guarded; dereferenced on the sender's I/O thread only
};

class OwnServer final : public outbox::Carrier {
 public:
  OwnServer(asio::io_context& io, delivery::AnswerTaker& taker, TakeRequests take)
      : taker_(taker),
        take_(std::move(take)),
        timer_(io.get_executor()),
        door_(std::make_shared<Door>(io, *this)) {}
  ~OwnServer() override { door_->close(); }

  void start(std::vector<delivery::Request> requests) override;
  void on_response(std::uint64_t number, http::Response response);

 private:
  struct Waiting {
    delivery::Request request{};
    Clock::time_point began{};
  };
  using Timer =
      asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, asio::io_context::executor_type>;

  static Result<http::Request> to_http(const delivery::Request& request);
  void end(std::map<std::uint64_t, Waiting>::iterator waiting, delivery::Answer answer);
  void arm();
  void on_tick();

  delivery::AnswerTaker& taker_;
  TakeRequests take_;
  std::map<std::uint64_t, Waiting> waiting_;  ///< by number; as many as the sender has places
  Timer timer_;
  bool armed_ = false;
  std::shared_ptr<Door> door_;  ///< second owners: the responders of requests under way
};

void Door::respond(std::uint64_t number, http::Response response) {
  const std::lock_guard lock(mutex_);
  if (io_ == nullptr) {
    return;
  }
  // The carrier is destroyed after the thread that runs this has ended.
  asio::post(*io_, [carrier = carrier_, number, response = std::move(response)]() mutable {
    carrier->on_response(number, std::move(response));
  });
}

Result<http::Request> OwnServer::to_http(const delivery::Request& request) {
  const auto url = delivery::parse_destination(request.message->url);
  if (!url) {
    return std::unexpected(url.error());
  }
  std::string head;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  if (auto built = delivery::append_request_head(head, request, *url, now); !built) {
    return std::unexpected(built.error());
  }
  return http::Request{.method = request.message->method,
                       .target = url->target,
                       .fields = fields_of(head),
                       .body = request.message->body,
                       .peer = "127.0.0.1"};
}

void OwnServer::start(std::vector<delivery::Request> requests) {
  std::vector<HandIn> handed_in;
  for (delivery::Request& request : requests) {
    const std::uint64_t number = request.id.seq.value();
    auto made = to_http(request);
    const auto waiting = waiting_.emplace(number, Waiting{std::move(request), Clock::now()}).first;
    if (!made) {
      end(waiting, failed(AttemptResult::blocked, "not sent: " + made.error().message));
      continue;
    }
    handed_in.push_back({*std::move(made), http::Responder(door_, number)});
  }
  if (!handed_in.empty()) {
    take_(std::move(handed_in));
    arm();
  }
}

void OwnServer::on_response(std::uint64_t number, http::Response response) {
  if (const auto found = waiting_.find(number); found != waiting_.end()) {
    end(found, answer_of(std::move(response)));
  }
}

void OwnServer::end(std::map<std::uint64_t, Waiting>::iterator waiting, delivery::Answer answer) {
  answer.took = Clock::now() - waiting->second.began;
  const delivery::Request request = std::move(waiting->second.request);
  waiting_.erase(waiting);
  taker_.take(request, std::move(answer));
}

void OwnServer::arm() {
  if (armed_ || waiting_.empty()) {
    return;
  }
  armed_ = true;
  timer_.expires_after(tick);
  timer_.async_wait([this](const boost::system::error_code& error) {
    if (!error) {
      on_tick();
    }
  });
}

void OwnServer::on_tick() {
  armed_ = false;
  const auto now = Clock::now();
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto one = next++;
    const Millis timeout = one->second.request.timeout;
    if (now - one->second.began >= timeout) {
      end(one, failed(AttemptResult::timeout, "timeout: no complete answer within " +
                                                  std::to_string(timeout.count()) + " ms"));
    }
  }
  arm();
}

}  // namespace

outbox::MakeCarrier into_own_server(TakeRequests take) {
  return [take = std::move(take)](
             void* io_context,
             delivery::AnswerTaker& taker) -> Result<std::unique_ptr<outbox::Carrier>> {
    return std::make_unique<OwnServer>(*static_cast<asio::io_context*>(io_context), taker, take);
  };
}

}  // namespace hk::cli
