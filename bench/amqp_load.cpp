/// Load as clients of RabbitMQ make it, in AMQP 0-9-1: publishers that wait for the confirm,
/// consumers that acknowledge by hand. One thread, N connections. Prints one line of JSON.
///
///   amqp_load --port P --queue Q --publishers 64 [--batch 10]   for --seconds, or --count messages
///   amqp_load --port P --queue Q --consumers 64 --count N       until N are consumed
///   amqp_load --port P --queue Q --publishers 16 --consumers 8 [--rate 500]
///                                             both, and how long each message was on its way
///
/// The queue is a durable quorum queue, messages are persistent. A publisher sends its next batch
/// when all of the last one are confirmed; with --rate R message i is meant for start + i/R
/// instead, and its latency counts from then. A consumer has up to --prefetch messages, and
/// acknowledges them ten at a time while there are many. The protocol does not answer that: they
/// count as done when a message that is published behind them, over the same channel, is confirmed.
/// --delete 1: the queue is deleted in the end.
#include <sys/epoll.h>

#include <csignal>
#include <memory>

#include "open_loop.h"
#include "wire.h"

namespace hk::bench {
namespace {

struct Options {
  std::string queue{};
  std::uint16_t port = 0;
  std::size_t publishers = 0;
  std::size_t consumers = 0;
  std::uint64_t batch = 1;
  std::uint64_t count = 0;  ///< 0 = until the time is over
  std::int64_t rate = 0;    ///< 0 = closed loop
  std::uint64_t prefetch = 100;
  std::size_t body_bytes = 256;
  double seconds = 5;
  double warmup = 0;
  bool remove = false;
};

Options parse_options(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) {
      die("amqp_load: " + std::string(flag) + " needs a value");
    }
    const std::string value = argv[++i];
    const auto number = [&] { return static_cast<std::uint64_t>(to_number(value, flag)); };
    if (flag == "--queue") {
      options.queue = value;
    } else if (flag == "--port") {
      options.port = static_cast<std::uint16_t>(number());
    } else if (flag == "--publishers") {
      options.publishers = number();
    } else if (flag == "--consumers") {
      options.consumers = number();
    } else if (flag == "--batch") {
      options.batch = number();
    } else if (flag == "--count") {
      options.count = number();
    } else if (flag == "--rate") {
      options.rate = to_number(value, flag);
    } else if (flag == "--prefetch") {
      options.prefetch = number();
    } else if (flag == "--seconds") {
      options.seconds = std::strtod(value.c_str(), nullptr);
    } else if (flag == "--warmup") {
      options.warmup = std::strtod(value.c_str(), nullptr);
    } else if (flag == "--delete") {
      options.remove = number() != 0;
    } else {
      die("amqp_load: unknown flag " + std::string(flag));
    }
  }
  if (options.port == 0 || options.queue.empty() || options.queue.size() > 100 ||
      options.publishers + options.consumers == 0 || options.batch == 0) {
    die("amqp_load: see the head of amqp_load.cpp");
  }
  return options;
}

// ---- the wire: numbers in network order, short strings with one byte of length, long with four --
void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) {
    out += static_cast<char>(value >> (8 * i));
  }
}
std::string short_text(std::string_view text) {
  std::string out;
  put(out, text.size(), 1);
  return out += text;
}
std::string long_text(std::string_view text) {
  std::string out;
  put(out, text.size(), 4);
  return out += text;
}
std::uint64_t get(std::string_view bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = at; i < at + count && i < bytes.size(); ++i) {
    value = value << 8U | static_cast<unsigned char>(bytes[i]);
  }
  return value;
}
std::string frame(int type, int channel, std::string_view payload) {
  std::string out;
  put(out, static_cast<std::uint64_t>(type), 1);
  put(out, static_cast<std::uint64_t>(channel), 2);
  put(out, payload.size(), 4);
  out += payload;
  put(out, 0xCE, 1);
  return out;
}
constexpr std::uint32_t method_id(std::uint32_t of_class, std::uint32_t method) {
  return of_class << 16U | method;
}
std::string method(int channel, std::uint32_t id, std::string_view arguments) {
  std::string payload;
  put(payload, id, 4);
  payload += arguments;
  return frame(1, channel, payload);
}

constexpr std::uint32_t connection_start = method_id(10, 10);
constexpr std::uint32_t connection_tune = method_id(10, 30);
constexpr std::uint32_t connection_open_ok = method_id(10, 41);
constexpr std::uint32_t channel_open_ok = method_id(20, 11);
constexpr std::uint32_t declare_ok = method_id(50, 11);
constexpr std::uint32_t delete_ok = method_id(50, 41);
constexpr std::uint32_t qos_ok = method_id(60, 11);
constexpr std::uint32_t consume_ok = method_id(60, 21);
constexpr std::uint32_t consumer_cancelled = method_id(60, 30);  // its queue was deleted
constexpr std::uint32_t deliver = method_id(60, 60);
constexpr std::uint32_t ack = method_id(60, 80);
constexpr std::uint32_t confirm_ok = method_id(85, 11);

struct Link {
  int fd = -1;
  bool consumes = false;
  bool wants_write = false;
  std::string in{};
  std::string out{};
  // A publisher's batch: tags are counted from 1, first_tag is that of its first message.
  std::uint64_t first_tag = 1;
  std::vector<bool> confirmed{};
  std::size_t unconfirmed = 0;
  std::int64_t meant_ns = 0;
  // A consumer's
  std::uint64_t delivery_tag = 0;
  std::uint64_t unacknowledged = 0;
};

class Run {
 public:
  explicit Run(Options options)
      : options_(std::move(options)), epoll_(epoll_create1(EPOLL_CLOEXEC)) {
    // What publishing one message puts on the wire; the stamp in its body is overwritten.
    std::string arguments;
    put(arguments, 0, 2);
    arguments += short_text("") + short_text(options_.queue);
    put(arguments, 0, 1);
    message_ = method(1, method_id(60, 40), arguments);
    std::string header;
    put(header, 60, 2);
    put(header, 0, 2);
    put(header, options_.body_bytes, 8);
    put(header, 0x1000, 2);  // only the delivery mode:
    put(header, 2, 1);       // persistent
    message_ += frame(2, 1, header);
    stamp_at_ = message_.size() + 7;
    message_ += frame(3, 1, std::string(options_.body_bytes, '.'));
    links_.reserve(options_.publishers + options_.consumers);
    for (std::size_t i = 0; i < options_.publishers + options_.consumers; ++i) {
      links_.push_back(std::make_unique<Link>());
      links_.back()->consumes = i >= options_.publishers;
      open(*links_.back());
    }
  }

  void run() {
    start_ns_ = now_ns();
    from_ns_ = start_ns_ + static_cast<std::int64_t>(options_.warmup * 1e9);
    until_ns_ = from_ns_ + static_cast<std::int64_t>(options_.seconds * 1e9);
    for (const auto& link : links_) {
      if (link->consumes) {
        std::string arguments;
        put(arguments, 0, 2);
        arguments += short_text(options_.queue) + short_text("");
        put(arguments, 0, 1);
        put(arguments, 0, 4);
        send(*link, method(1, method_id(60, 20), arguments));
      }
    }
    if (options_.rate > 0) {
      start_timer();
    } else {
      for (const auto& link : links_) {
        if (!link->consumes) {
          publish(*link, now_ns());
        }
      }
    }
    // What was confirmed must arrive, if somebody consumes.
    std::int64_t moved_ns = now_ns();
    for (std::uint64_t seen = 0;
         goes_on() || (!is_done() && now_ns() - moved_ns < 5'000'000'000);) {
      poll(50);
      if (consumed_ + confirmed_ != seen) {
        seen = consumed_ + confirmed_;
        moved_ns = now_ns();
      }
    }
    finish();
  }

  void print() const {
    const double whole = static_cast<double>(end_ns_ - start_ns_) / 1e9;
    const auto ull = [](std::uint64_t value) -> unsigned long long { return value; };
    std::printf(
        "{\"published\":%llu,\"publish_rate\":%.1f,\"consumed\":%llu,\"consume_rate\":%.1f,"
        "\"seconds\":%.3f,\"whole_rate\":%.1f,\"refused\":%llu,\"confirm\":{%s},\"seen\":{%s}}\n",
        ull(confirmed_), static_cast<double>(confirmed_inside_) / options_.seconds, ull(consumed_),
        static_cast<double>(consumed_inside_) / options_.seconds, whole,
        static_cast<double>(options_.publishers > 0 ? confirmed_ : consumed_) / whole,
        ull(refused_), confirms_.json().c_str(), seen_.json().c_str());
  }

 private:
  // ---- opening: one step after the other, before the clock runs ----
  void open(Link& link) {
    link.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = loopback(options_.port);
    if (connect(link.fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      die("cannot connect to 127.0.0.1:" + std::to_string(options_.port));
    }
    no_delay(link.fd);
    write_all(link, std::string_view("AMQP\0\0\x09\x01", 8));
    await(link, connection_start);
    const std::string_view secret("\0guest\0guest", 12);
    write_all(link, method(0, method_id(10, 11),
                           long_text("") + short_text("PLAIN") + long_text(secret) +
                               short_text("en_US")));
    const std::string tune = await(link, connection_tune);
    std::string arguments = tune.substr(4, 6);  // channels and frame size as they are,
    put(arguments, 0, 2);                       // no heartbeats
    write_all(link, method(0, method_id(10, 31), arguments));
    arguments = short_text("/") + short_text("");
    put(arguments, 0, 1);
    write_all(link, method(0, method_id(10, 40), arguments));
    await(link, connection_open_ok);
    write_all(link, method(1, method_id(20, 10), short_text("")));
    await(link, channel_open_ok);
    arguments.clear();
    put(arguments, 0, 2);
    arguments += short_text(options_.queue);
    put(arguments, 2, 1);  // durable
    arguments += long_text(short_text("x-queue-type") + "S" + long_text("quorum"));
    write_all(link, method(1, method_id(50, 10), arguments));
    await(link, declare_ok);
    arguments.clear();
    if (link.consumes) {
      put(arguments, 0, 4);
      put(arguments, options_.prefetch, 2);
      put(arguments, 0, 1);
      write_all(link, method(1, method_id(60, 10), arguments));
      await(link, qos_ok);
    }
    arguments.assign(1, '\0');
    write_all(link, method(1, method_id(85, 10), arguments));
    await(link, confirm_ok);
    fcntl(link.fd, F_SETFL, O_NONBLOCK);
    epoll_event event{.events = EPOLLIN, .data = {.ptr = &link}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, link.fd, &event);
  }

  static void write_all(Link& link, std::string_view bytes) {
    if (::send(link.fd, bytes.data(), bytes.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(bytes.size())) {
      die("amqp_load: cannot send");
    }
  }

  /// The payload of the next method, which must be this one.
  static std::string await(Link& link, std::uint32_t id) {
    while (true) {
      const std::size_t size = link.in.size() < 7 ? 0 : get(link.in, 3, 4);
      if (link.in.size() >= 8 && link.in.size() >= size + 8) {
        const std::string payload = link.in.substr(7, size);
        link.in.erase(0, size + 8);
        if (get(payload, 0, 4) != id) {
          die("amqp_load: the server refuses: " + payload.substr(std::min<std::size_t>(7, size)));
        }
        return payload;
      }
      char chunk[4096];
      const ssize_t got = read(link.fd, chunk, sizeof chunk);
      if (got <= 0) {
        die("amqp_load: the server closed the connection");
      }
      link.in.append(chunk, static_cast<std::size_t>(got));
    }
  }

  // ---- publishing ----
  [[nodiscard]] bool goes_on() const {
    return now_ns() < until_ns_ && (options_.count == 0 || !is_done());
  }
  [[nodiscard]] bool may_publish() const {
    return now_ns() < until_ns_ && (options_.count == 0 || published_ < options_.count);
  }
  [[nodiscard]] bool is_done() const {
    if (options_.publishers == 0) {
      return consumed_ >= options_.count;
    }
    return confirmed_ + refused_ == published_ &&
           (options_.count == 0 || published_ >= options_.count) &&
           (options_.consumers == 0 || consumed_ >= confirmed_);
  }

  void publish(Link& link, std::int64_t meant_ns) {
    if (options_.rate == 0 && !may_publish()) {
      return;
    }
    link.first_tag += link.confirmed.size();
    link.confirmed.assign(options_.rate > 0 ? 1 : options_.batch, false);
    link.unconfirmed = link.confirmed.size();
    link.meant_ns = meant_ns;
    std::string bytes;
    for (std::size_t i = 0; i < link.unconfirmed; ++i) {
      write_stamp(message_.data() + stamp_at_, published_++, meant_ns);
      bytes += message_;
    }
    send(link, bytes);
  }

  void on_confirm(Link& link, std::uint64_t tag, bool multiple, bool good) {
    if (link.consumes) {
      link.unconfirmed = 0;
      return;
    }
    const std::int64_t now = now_ns();
    for (std::size_t i = 0; i < link.confirmed.size(); ++i) {
      const std::uint64_t own = link.first_tag + i;
      if (link.confirmed[i] || (multiple ? own > tag : own != tag)) {
        continue;
      }
      link.confirmed[i] = true;
      --link.unconfirmed;
      if (!good) {
        ++refused_;
        continue;
      }
      ++confirmed_;
      if (now >= from_ns_ && now < until_ns_) {
        ++confirmed_inside_;
        confirms_.add(now - link.meant_ns);
      }
    }
    if (link.unconfirmed > 0) {
      return;
    }
    if (options_.rate == 0) {
      publish(link, now_ns());
    } else if (open_loop_.waiting() > 0) {
      publish(link, open_loop_.take());
    }
  }

  // ---- an open loop ----
  void start_timer() {
    epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
    epoll_ctl(epoll_, EPOLL_CTL_ADD, open_loop_.start(options_.rate, start_ns_, until_ns_), &event);
  }
  void on_timer() {
    open_loop_.on_timer();
    for (const auto& link : links_) {
      if (!link->consumes && link->unconfirmed == 0 && open_loop_.waiting() > 0) {
        publish(*link, open_loop_.take());
      }
    }
    open_loop_.arm();
  }

  // ---- consuming ----
  void on_body(Link& link, std::string_view body) {
    const std::int64_t now = now_ns();
    if (finishing_) {
      return;  // what was published to see the acknowledgements through
    }
    ++consumed_;
    if (now >= from_ns_ && now < until_ns_) {
      ++consumed_inside_;
      if (const auto sent = read_stamp(body)) {
        seen_.add(now - *sent);
      }
    }
    ++link.unacknowledged;
    if (link.unacknowledged >= 10) {
      acknowledge(link);
    }
  }
  void acknowledge(Link& link) {
    if (link.unacknowledged == 0) {
      return;
    }
    std::string arguments;
    put(arguments, link.delivery_tag, 8);
    put(arguments, 1, 1);  // and all before it
    link.unacknowledged = 0;
    send(link, method(1, ack, arguments));
  }

  // ---- sockets ----
  void send(Link& link, std::string_view bytes) {
    link.out += bytes;
    push(link);
  }
  void push(Link& link) {
    if (!link.out.empty()) {
      const ssize_t sent = ::send(link.fd, link.out.data(), link.out.size(), MSG_NOSIGNAL);
      if (sent < 0 && errno != EAGAIN) {
        die("amqp_load: the server closed the connection");
      }
      link.out.erase(0, sent > 0 ? static_cast<std::size_t>(sent) : 0);
    }
    if (const bool wants = !link.out.empty(); wants != link.wants_write) {
      link.wants_write = wants;
      epoll_event event{.events = EPOLLIN | (wants ? EPOLLOUT : 0U), .data = {.ptr = &link}};
      epoll_ctl(epoll_, EPOLL_CTL_MOD, link.fd, &event);
    }
  }

  void poll(int timeout_ms) {
    epoll_event events[512];
    const int count = epoll_wait(epoll_, events, 512, timeout_ms);
    for (int i = 0; i < count; ++i) {
      if (events[i].data.ptr == nullptr) {
        on_timer();
      } else {
        on_ready(*static_cast<Link*>(events[i].data.ptr));
      }
    }
  }

  void on_ready(Link& link) {
    push(link);
    char chunk[64 * 1024];
    const ssize_t got = read(link.fd, chunk, sizeof chunk);
    if (got < 0 && errno == EAGAIN) {
      return;
    }
    if (got <= 0) {
      die("amqp_load: the server closed the connection");
    }
    link.in.append(chunk, static_cast<std::size_t>(got));
    std::size_t at = 0;
    while (link.in.size() - at >= 8) {
      const std::size_t size = get(link.in, at + 3, 4);
      if (link.in.size() - at < size + 8) {
        break;
      }
      on_frame(link, link.in[at], std::string_view(link.in).substr(at + 7, size));
      at += size + 8;
    }
    link.in.erase(0, at);
    // Fewer than ten came: nothing more is there at the moment.
    if (link.consumes && static_cast<std::size_t>(got) < sizeof chunk && link.in.empty()) {
      acknowledge(link);
    }
  }

  void on_frame(Link& link, int type, std::string_view payload) {
    if (type == 3) {
      on_body(link, payload);  // a body of 256 bytes is one frame
      return;
    }
    if (type != 1) {
      return;
    }
    const auto id = static_cast<std::uint32_t>(get(payload, 0, 4));
    if (id == ack || id == method_id(60, 120)) {
      on_confirm(link, get(payload, 4, 8), (get(payload, 12, 1) & 1U) != 0, id == ack);
    } else if (id == deliver) {
      link.delivery_tag = get(payload, 5 + get(payload, 4, 1), 8);
    } else if (id == delete_ok) {
      deleted_ = true;
    } else if (id != consume_ok && id != consumer_cancelled) {
      die("amqp_load: the server refuses: " +
          std::string(payload.substr(std::min<std::size_t>(7, payload.size()))));
    }
  }

  template <typename Done>
  void poll_until(const Done& done) {
    for (const std::int64_t give_up = now_ns() + 5'000'000'000; !done() && now_ns() < give_up;) {
      poll(10);
    }
  }

  void finish() {
    finishing_ = true;
    for (const auto& link : links_) {
      if (link->consumes) {
        acknowledge(*link);
        link->unconfirmed = 1;
        send(*link, message_);
      }
    }
    poll_until([this] {
      return std::all_of(links_.begin(), links_.end(), [](const auto& link) {
        return !link->consumes || link->unconfirmed == 0;
      });
    });
    end_ns_ = now_ns();
    if (options_.remove) {
      std::string arguments;
      put(arguments, 0, 2);
      arguments += short_text(options_.queue);
      put(arguments, 0, 1);
      send(*links_.front(), method(1, method_id(50, 40), arguments));
      poll_until([this] { return deleted_; });
    }
  }

  const Options options_;
  const int epoll_;
  OpenLoop open_loop_{};
  std::string message_{};
  std::size_t stamp_at_ = 0;
  std::vector<std::unique_ptr<Link>> links_{};
  std::int64_t start_ns_ = 0;
  std::int64_t from_ns_ = 0;   ///< measured from here …
  std::int64_t until_ns_ = 0;  ///< … to here
  std::int64_t end_ns_ = 0;
  bool finishing_ = false;
  bool deleted_ = false;
  std::uint64_t published_ = 0;
  std::uint64_t confirmed_ = 0;
  std::uint64_t confirmed_inside_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t consumed_ = 0;
  std::uint64_t consumed_inside_ = 0;
  Latencies confirms_;
  Latencies seen_;  ///< from when a message was meant to be published
};

}  // namespace
}  // namespace hk::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  hk::bench::Run run(hk::bench::parse_options(argc, argv));
  run.run();
  run.print();
}
