#include "observe/otlp_post.h"

#include <atomic>
#include <boost/asio/connect.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <future>
#include <thread>
#include <vector>

namespace hk::observe {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using Tcp = asio::ip::tcp;
using ErrorCode = boost::system::error_code;
using Addresses = std::vector<Tcp::endpoint>;
using Clock = std::chrono::steady_clock;

/// Asking for the addresses of a name cannot be cut short, so it is done on a thread that owns
/// nothing of ours: if the answer comes too late, nobody waits for it.
std::shared_future<Addresses> look_up(const std::string& host, const std::string& port) {
  auto promise = std::make_shared<std::promise<Addresses>>();  // shared with the thread
  std::shared_future<Addresses> future = promise->get_future().share();
  std::thread([promise, host, port] {
    Addresses found;
    try {
      asio::io_context context;
      Tcp::resolver resolver(context);
      ErrorCode failed;
      for (const auto& entry : resolver.resolve(host, port, failed)) {
        found.push_back(entry.endpoint());
      }
    } catch (const std::exception&) {  // no memory or no descriptors: as good as no address
      found.clear();
    }
    promise->set_value(std::move(found));
  }).detach();
  return future;
}

bool is_literal(const std::string& host) {
  ErrorCode not_an_address;
  asio::ip::make_address(host, not_an_address);
  return !not_an_address;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"  // inside the macro of OpenSSL
bool set_server_name(SSL* tls, const std::string& name) {
  return SSL_set_tlsext_host_name(tls, name.c_str()) == 1;
}
#pragma GCC diagnostic pop

std::unexpected<Error> failed(const std::string& step, const ErrorCode& code) {
  const bool late = code == asio::error::operation_aborted;
  return fail(ErrorKind::unavailable, step + ": " + (late ? "no answer in time" : code.message()));
}

}  // namespace

struct OtlpPost::Impl {
  explicit Impl(OtlpEndpoint to) : endpoint(std::move(to)) {
    if (endpoint.tls) {
      tls.set_default_verify_paths();
      tls.set_verify_mode(asio::ssl::verify_peer);
    }
  }

  const OtlpEndpoint endpoint;
  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> keep_running{context.get_executor()};
  asio::ssl::context tls{asio::ssl::context::tls_client};
  std::shared_future<Addresses> lookup;
  Clock::time_point deadline{};
  std::atomic<Clock::time_point> latest{Clock::time_point::max()};

  [[nodiscard]] Clock::time_point until() const {
    return std::min(deadline, latest.load(std::memory_order_relaxed));
  }

  /// Starts one asynchronous step and waits for its end; past the deadline the socket is closed,
  /// which ends the step with operation_aborted.
  template <class Start>
  ErrorCode finish(Tcp::socket& socket, Start start) {
    bool done = false;
    ErrorCode result;
    start([&done, &result](const ErrorCode& code, auto&&...) {
      done = true;
      result = code;
    });
    bool closed = false;
    while (!done) {
      if (closed) {
        context.run_one();
      } else if (context.run_one_until(until()) == 0 && Clock::now() >= until()) {
        ErrorCode ignored;
        socket.close(ignored);
        closed = true;
      }
    }
    return closed && result ? ErrorCode(asio::error::operation_aborted) : result;
  }

  Result<Addresses> addresses() {
    if (is_literal(endpoint.host)) {
      return Addresses{{asio::ip::make_address(endpoint.host),
                        static_cast<std::uint16_t>(std::stoi(endpoint.port))}};
    }
    if (!lookup.valid()) {
      lookup = look_up(endpoint.host, endpoint.port);
    }
    // Waits in slices, since hasten() may bring the deadline forward meanwhile.
    constexpr std::chrono::milliseconds slice{50};
    while (lookup.wait_until(std::min(until(), Clock::now() + slice)) !=
           std::future_status::ready) {
      if (Clock::now() >= until()) {
        return fail(ErrorKind::unavailable, "looking up " + endpoint.host + ": no answer in time");
      }
    }
    Addresses found = lookup.get();
    lookup = {};
    if (found.empty()) {
      return fail(ErrorKind::unavailable, "there is no address for " + endpoint.host);
    }
    return found;
  }

  template <class Stream>
  Result<void> exchange(Tcp::socket& socket, Stream& stream, const std::string& body) {
    http::request<http::string_body> request{http::verb::post, endpoint.path, 11};
    request.set(http::field::host, endpoint.authority);
    request.set(http::field::user_agent, "hikyaku");
    request.set(http::field::content_type, "application/json");
    request.set(http::field::connection, "close");
    request.body() = body;
    request.prepare_payload();
    if (const auto code = finish(socket, [&](auto handler) {
          http::async_write(stream, request, std::move(handler));
        })) {
      return failed("sending", code);
    }

    boost::beast::flat_buffer buffer;
    http::response_parser<http::string_body> answer;
    constexpr std::size_t answer_bytes_max = std::size_t{64} * 1024;
    answer.body_limit(answer_bytes_max);
    if (const auto code = finish(socket, [&](auto handler) {
          http::async_read(stream, buffer, answer, std::move(handler));
        })) {
      return failed("reading the answer", code);
    }
    const unsigned status = answer.get().result_int();
    if (status < 200 || status > 299) {
      return fail(ErrorKind::unavailable, "it answered " + std::to_string(status));
    }
    return {};
  }

  Result<void> exchange_tls(Tcp::socket& socket, const std::string& body) {
    asio::ssl::stream<Tcp::socket&> stream(socket, tls);
    stream.set_verify_callback(asio::ssl::host_name_verification(endpoint.host));
    if (!is_literal(endpoint.host) && !set_server_name(stream.native_handle(), endpoint.host)) {
      return fail(ErrorKind::internal, "TLS could not be set up");
    }
    if (const auto code = finish(socket, [&](auto handler) {
          stream.async_handshake(asio::ssl::stream_base::client, std::move(handler));
        })) {
      return failed("the TLS handshake", code);
    }
    return exchange(socket, stream, body);
  }

  Result<void> send(const std::string& body) {
    const auto found = addresses();
    if (!found) {
      return std::unexpected(found.error());
    }
    Tcp::socket socket(context);
    if (const auto code = finish(socket, [&](auto handler) {
          asio::async_connect(socket, *found, std::move(handler));
        })) {
      return failed("connecting", code);
    }
    return endpoint.tls ? exchange_tls(socket, body) : exchange(socket, socket, body);
  }
};

OtlpPost::OtlpPost(OtlpEndpoint endpoint) : impl_(std::make_unique<Impl>(std::move(endpoint))) {}
OtlpPost::~OtlpPost() = default;

Result<void> OtlpPost::send(const std::string& body, std::chrono::milliseconds timeout) {
  impl_->deadline = Clock::now() + timeout;
  try {
    return impl_->send(body);
  } catch (const std::exception& problem) {
    return fail(ErrorKind::unavailable, problem.what());
  }
}

void OtlpPost::hasten(Deadline deadline) {
  impl_->latest.store(deadline, std::memory_order_relaxed);
  asio::post(impl_->context, [] {});  // wakes a send that waits for the old deadline
}

}  // namespace hk::observe
