#include "integration/delivery/harness.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "observe/log.h"

namespace hk::delivery::testing {

Socket::~Socket() {
  if (fd_ >= 0) {
    ::close(fd_);
  }
}

bool Socket::write(std::string_view bytes) const {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

std::string Socket::read_request() {
  while (true) {
    const std::size_t head = rest_.find("\r\n\r\n");
    if (head != std::string::npos) {
      std::size_t length = 0;
      const std::size_t field = rest_.find("\r\nContent-Length: ");
      if (field != std::string::npos && field < head) {
        length = std::strtoul(rest_.c_str() + field + 18, nullptr, 10);
      }
      if (rest_.size() >= head + 4 + length) {
        std::string request = rest_.substr(0, head + 4 + length);
        rest_.erase(0, request.size());
        return request;
      }
    }
    char bytes[16 * 1024];
    const ssize_t got = ::recv(fd_, bytes, sizeof bytes, 0);
    if (got <= 0) {
      return "";
    }
    rest_.append(bytes, static_cast<std::size_t>(got));
  }
}

bool Socket::wait_for_close() const {
  const auto until = std::chrono::steady_clock::now() + patience;
  while (std::chrono::steady_clock::now() < until) {
    pollfd poll_fd{fd_, POLLIN, 0};
    if (::poll(&poll_fd, 1, 100) > 0) {
      char bytes[16 * 1024];
      if (::recv(fd_, bytes, sizeof bytes, 0) <= 0) {
        return true;
      }
    }
  }
  return false;
}

void Socket::reset() const {
  const linger hard{1, 0};
  ::setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
}

Socket refuse_on_loopback(std::uint16_t& port) {
  Socket bound(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(bound.fd(), raw, size) != 0 || ::getsockname(bound.fd(), raw, &size) != 0) {
    std::abort();
  }
  port = ntohs(address.sin_port);
  return bound;
}

Socket listen_on_loopback(std::uint16_t& port, int backlog) {
  Socket listener = refuse_on_loopback(port);
  if (::listen(listener.fd(), backlog) != 0) {
    std::abort();
  }
  return listener;
}

Receiver::Receiver(std::function<void(Socket&)> behave)
    : behave_(std::move(behave)), listener_(listen_on_loopback(port_)) {
  accepting_ = std::thread([this] {
    while (true) {
      const int fd = ::accept4(listener_.fd(), nullptr, nullptr, SOCK_CLOEXEC);
      const std::lock_guard lock(mutex_);
      if (fd < 0 || stopping_) {
        if (fd >= 0) {
          ::close(fd);
        }
        return;
      }
      connections_.fetch_add(1);
      open_.push_back(::dup(fd));  // shutdown() on the copy wakes the thread that reads
      threads_.emplace_back([this, fd] {
        Socket socket(fd);
        behave_(socket);
        ::shutdown(fd, SHUT_RDWR);
      });
    }
  });
}

Receiver::~Receiver() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (const int fd : open_) {
      ::shutdown(fd, SHUT_RDWR);
    }
  }
  ::shutdown(listener_.fd(), SHUT_RDWR);
  accepting_.join();
  for (std::thread& thread : threads_) {
    thread.join();
  }
  for (const int fd : open_) {
    ::close(fd);
  }
}

std::string Receiver::url(std::string_view path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + std::string(path);
}

std::string ok_answer(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" +
         std::string(body);
}

void FakeSubmitter::submit(std::vector<engine::Submission>& batch) {
  const std::lock_guard lock(mutex_);
  calls.fetch_add(1);
  const std::size_t taken = std::min(batch.size(), room.load());
  for (std::size_t i = 0; i < taken; ++i) {
    reports_.push_back(std::move(batch[i].command.get<core::CompleteAttempt>()));
  }
  batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(taken));
  changed_.notify_all();
}

std::vector<core::CompleteAttempt> FakeSubmitter::wait_for(std::size_t count) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [&] { return reports_.size() >= count; });
  return reports_;
}

std::size_t FakeSubmitter::count() {
  const std::lock_guard lock(mutex_);
  return reports_.size();
}

void FakeSpans::record(observe::Span span) {
  const std::lock_guard lock(mutex_);
  spans_.push_back(std::move(span));
}

std::vector<observe::Span> FakeSpans::taken() {
  const std::lock_guard lock(mutex_);
  return spans_;
}

DispatcherOptions loopback_options() {
  DispatcherOptions options;
  options.egress.allow_loopback = true;
  options.system_roots = false;
  return options;
}

World::World(DispatcherOptions options) : work_(io.get_executor()) {
  observe::set_log_level(observe::Level::off);
  const auto key = std::make_shared<const Secret>("sig_test");
  auto made = Deliveries::make(
      std::move(options), {&io},
      {.submitter = submitter,
       .keys = [key](core::TenantId) { return key; },
       .metrics = metrics,
       .spans = spans,
       .webhook_secrets = [](core::TenantId, std::string_view sealed) -> Result<Secret> {
         if (!sealed.starts_with(sealed_with)) {
           return fail(ErrorKind::corruption, "another master key");
         }
         return Secret(std::string(sealed.substr(sealed_with.size())));
       },
       .version = "1.2.3"});
  if (!made) {
    std::abort();
  }
  deliveries = *std::move(made);
  thread_ = std::thread([this] { io.run(); });
}

World::~World() {
  work_.reset();
  io.stop();
  thread_.join();
  deliveries.reset();
}

void World::on_io_thread(std::function<void()> work) {
  std::promise<void> done;
  boost::asio::post(io, [&] {
    work();
    done.set_value();
  });
  done.get_future().wait();
}

void World::start(std::vector<core::StartAttempt> attempts) {
  deliveries->start(std::move(attempts));
}

core::CompleteAttempt World::deliver(core::StartAttempt attempt) {
  const std::size_t before = submitter.count();
  std::vector<core::StartAttempt> one;
  one.push_back(std::move(attempt));
  start(std::move(one));
  const auto reports = submitter.wait_for(before + 1);
  return reports.size() > before ? reports.back() : core::CompleteAttempt{};
}

core::CompleteAttempt World::deliver(const std::string& url) { return deliver(attempt_to(url)); }

core::StartAttempt attempt_to(const std::string& url, std::string body,
                              std::chrono::milliseconds timeout) {
  static std::atomic<std::uint64_t> last{0};
  auto message = std::make_shared<core::Message>();
  message->id = {core::Seq{++last}, 7};
  message->tenant = core::TenantId{1};
  message->url = url;
  message->body = std::move(body);
  message->timeout = timeout;
  message->trace.trace_id[0] = 1;
  core::StartAttempt start;
  start.id = message->id;
  start.tenant = message->tenant;
  start.fence = {3, 1};
  start.started_at = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  start.span_id[7] = 9;
  start.message = std::move(message);
  return start;
}

core::StartAttempt webhook_to(const std::string& url, std::string body,
                              std::chrono::milliseconds timeout) {
  core::StartAttempt start = attempt_to(url, std::move(body), timeout);
  auto target = std::make_shared<core::WebhookTarget>();
  target->id = "msg_p5jXN8AQM9LWM0D4loKWxJek";
  target->attempt = "1";
  target->secrets = {{.sealed = std::string(sealed_with) + std::string(webhook_secret)}};
  start.webhook = std::move(target);
  return start;
}

}  // namespace hk::delivery::testing
