/// An HTTP load generator: one thread, epoll, N keep-alive connections. Prints one line of JSON.
///
///   load --url http://127.0.0.1:8080/v2/publish/http://127.0.0.1:9000/hook
///        --connections 64 --seconds 5 --warmup 1 --header 'Authorization: Bearer …'
///
/// Closed loop: a connection sends its next request when the answer is there. With --rate R it is
/// an open loop: request i is meant for start + i/R and its latency counts from then, whether or
/// not a connection was free (no coordinated omission). Every body is unique (see write_stamp), or
/// all are the content of --body-file, or that of request i is line i mod their number of
/// --body-lines. With --stamp-at N those have their stamp at byte N. --method GET sends none. With
/// --targets FILE request i goes to the path in line i mod their number instead of that of --url.
/// With --unique-header 'NAME: x' each request has that header with a number of its own behind it.
/// With --flow-keys N request i carries flow-control key i mod N; with --tokens FILE the token in
/// line i mod their number; with --hosts N the host 127.1.100.100 in the URL's path becomes the one
/// with number i mod N (see wire.h). With --count N it ends after N requests, if the time is not
/// over before.
///
/// 429 and 503 count as refused. With --back-off 1 a refused connection rests for as long as
/// Retry-After says, and what could not be sent in time is not sent at all. Latencies are those of
/// answers that are good.
#include <csignal>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "open_loop.h"
#include "pool.h"

namespace hk::bench {
namespace {

struct Options {
  std::string method{"POST"};
  std::string target{};  ///< behind the authority, raw
  std::string authority{};
  std::uint16_t port = 0;
  std::size_t connections = 64;
  double seconds = 5;
  double warmup = 1;
  std::int64_t rate = 0;  ///< per second; 0 = closed loop
  std::size_t body_bytes = 256;
  std::uint64_t flow_keys = 0;  ///< 0 = none
  std::uint64_t hosts = 0;      ///< 0 = the one in the target
  std::uint64_t count = 0;      ///< requests at most; 0 = until the time is over
  bool back_off = false;
  std::vector<std::string> tokens{};      ///< of one length
  std::vector<std::string> bodies{};      ///< of one length, in turns
  std::vector<std::string> targets{};     ///< of one length, in turns
  std::optional<std::size_t> stamp_at{};  ///< in a body that is given
  std::string unique_header{};            ///< what its number follows
  std::string body{};  ///< sent as it is, without a stamp; "" = body_bytes with one
  std::vector<std::string> headers{};
};

std::vector<std::string> read_lines(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) {
    lines.push_back(line);
    if (line.empty() || line.size() != lines.front().size()) {
      die("load: the lines of " + path + " must be of one length");
    }
  }
  if (lines.empty()) {
    die("load: cannot read " + path);
  }
  return lines;
}

Options parse_options(int argc, char** argv) {
  Options options;
  std::string url;
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) {
      die("load: " + std::string(flag) + " needs a value");
    }
    const std::string value = argv[++i];
    if (flag == "--url") {
      url = value;
    } else if (flag == "--connections") {
      options.connections = static_cast<std::size_t>(to_number(value, flag));
    } else if (flag == "--seconds") {
      options.seconds = std::strtod(value.c_str(), nullptr);
    } else if (flag == "--warmup") {
      options.warmup = std::strtod(value.c_str(), nullptr);
    } else if (flag == "--rate") {
      options.rate = to_number(value, flag);
    } else if (flag == "--body-bytes") {
      options.body_bytes = static_cast<std::size_t>(to_number(value, flag));
    } else if (flag == "--flow-keys") {
      options.flow_keys = static_cast<std::uint64_t>(to_number(value, flag));
    } else if (flag == "--hosts") {
      options.hosts = std::min(hosts_max, static_cast<std::uint64_t>(to_number(value, flag)));
    } else if (flag == "--count") {
      options.count = static_cast<std::uint64_t>(to_number(value, flag));
    } else if (flag == "--back-off") {
      options.back_off = to_number(value, flag) != 0;
    } else if (flag == "--tokens") {
      options.tokens = read_lines(value);
    } else if (flag == "--body-file") {
      std::ifstream file(value, std::ios::binary);
      options.body.assign(std::istreambuf_iterator<char>(file), {});
      if (options.body.empty()) {
        die("load: cannot read " + value);
      }
      options.body_bytes = options.body.size();
    } else if (flag == "--body-lines") {
      options.bodies = read_lines(value);
      options.body = options.bodies.front();
      options.body_bytes = options.body.size();
    } else if (flag == "--stamp-at") {
      options.stamp_at = static_cast<std::size_t>(to_number(value, flag));
    } else if (flag == "--targets") {
      options.targets = read_lines(value);
    } else if (flag == "--unique-header") {
      options.unique_header = value;
    } else if (flag == "--method") {
      options.method = value;
    } else if (flag == "--header") {
      options.headers.push_back(value);
    } else {
      die("load: unknown flag " + std::string(flag));
    }
  }
  const std::string prefix = "http://127.0.0.1:";
  const std::size_t slash = url.find('/', prefix.size());
  if (!url.starts_with(prefix) || slash == std::string::npos || options.connections == 0 ||
      options.body_bytes < stamp_bytes) {
    die("load: --url must be http://127.0.0.1:PORT/…, --connections at least 1, --body-bytes at "
        "least 40");
  }
  options.authority = url.substr(7, slash - 7);
  options.port = static_cast<std::uint16_t>(
      to_number(std::string_view(url).substr(prefix.size(), slash - prefix.size()), "--url"));
  options.target = options.targets.empty() ? url.substr(slash) : options.targets.front();
  if (options.stamp_at && *options.stamp_at + stamp_bytes > options.body.size()) {
    die("load: --stamp-at wants a body of --body-file or --body-lines with room for a stamp there");
  }
  if (options.hosts > 0 && options.target.find(first_host) == std::string::npos) {
    die("load: --hosts wants " + std::string(first_host) + " in the path of --url");
  }
  return options;
}

class Load {
 public:
  explicit Load(Options options)
      : options_(std::move(options)),
        pool_(options_.port, options_.connections,
              [this](Connection& connection, int status, const Frame& response) {
                on_answer(connection, status, response);
              }) {
    std::string head = options_.method + " " + options_.target +
                       " HTTP/1.1\r\nHost: " + options_.authority + "\r\n";
    for (const std::string& header : options_.headers) {
      head += header + "\r\n";
    }
    if (options_.hosts > 0) {
      host_at_ = head.find(first_host);
    }
    if (!options_.tokens.empty()) {
      head += "Authorization: Bearer ";
      token_at_ = head.size();
      head += options_.tokens.front() + "\r\n";
    }
    if (options_.flow_keys > 0) {
      head += "Upstash-Flow-Control-Value: parallelism=1000,rate=1000000\r\n";
      head += "Upstash-Flow-Control-Key: key" + std::string(std::size_t{key_digits}, '0') + "\r\n";
      key_end_ = head.size() - 2;
    }
    if (!options_.unique_header.empty()) {
      head += options_.unique_header + std::string(std::size_t{unique_digits}, '0');
      unique_end_ = head.size();
      head += "\r\n";
    }
    if (!has_body()) {
      head += "\r\n";
    } else {
      if (head.find("\r\nContent-Type: ") == std::string::npos) {
        head += "Content-Type: text/plain\r\n";
      }
      head += "Content-Length: " + std::to_string(options_.body_bytes) + "\r\n\r\n";
    }
    body_at_ = head.size();
    for (Connection& connection : pool_.connections()) {
      connection.request = head;
      if (has_body()) {
        connection.request +=
            options_.body.empty() ? std::string(options_.body_bytes, '.') : options_.body;
      }
    }
  }

  void run() {
    start_ns_ = now_ns();
    from_ns_ = start_ns_ + static_cast<std::int64_t>(options_.warmup * 1e9);
    until_ns_ = from_ns_ + static_cast<std::int64_t>(options_.seconds * 1e9);
    if (options_.rate > 0) {
      pool_.watch(open_loop_.start(options_.rate, start_ns_, until_ns_), [this] { on_timer(); });
    } else {
      for (Connection& connection : pool_.connections()) {
        if (goes_on(now_ns())) {
          send_next(connection, now_ns());
        }
      }
    }
    // Requests on the wire at the end are waited for: whether they were taken must be known.
    const std::int64_t give_up_ns = until_ns_ + 10'000'000'000;
    while (goes_on(now_ns()) || (pool_.in_flight() > 0 && now_ns() < give_up_ns)) {
      pool_.poll(resting_.empty() ? 50 : 5);
      end_rests();
    }
    unanswered_ += pool_.in_flight();
  }

  void print() const {
    std::printf(
        "{\"requests\":%llu,\"seconds\":%.3f,\"rps\":%.1f,%s,\"errors\":%llu,\"non_2xx\":%llu,"
        "\"sent_total\":%llu,\"ok_total\":%llu,\"created_total\":%llu,\"unanswered\":%llu,\"late\":"
        "%zu,\"accepted\":%llu,\"refused\":%llu,\"refused_without_retry_after\":%llu,\"slowest_"
        "us\":%lld,\"since_"
        "sent\":{%s},"
        "\"from_ns\":%lld,\"until_ns\":%lld,\"first_bad_answer\":%d}\n",
        ull(requests_), options_.seconds, static_cast<double>(requests_) / options_.seconds,
        latencies_.json().c_str(), ull(errors_), ull(non_2xx_), ull(sent_), ull(ok_), ull(created_),
        ull(unanswered_), open_loop_.waiting(), ull(accepted_), ull(refused_),
        ull(refused_without_retry_after_), static_cast<long long>(slowest_ns_ / 1000),
        since_sent_.json().c_str(), static_cast<long long>(from_ns_),
        static_cast<long long>(until_ns_), first_bad_status_);
  }

 private:
  static constexpr int key_digits = 8;
  static constexpr int unique_digits = 16;
  static constexpr int resting = 1;  ///< a connection's stage

  [[nodiscard]] bool goes_on(std::int64_t now) const {
    return now < until_ns_ && (options_.count == 0 || sent_ < options_.count);
  }

  [[nodiscard]] bool has_body() const { return options_.method != "GET"; }

  static unsigned long long ull(std::uint64_t value) { return value; }

  /// Nothing can be sent: then no timer is needed, which would take the server's CPU.
  [[nodiscard]] bool none_free() const {
    return pool_.in_flight() + resting_.size() >= pool_.size();
  }
  void on_timer() {
    open_loop_.on_timer();
    std::vector<Connection>& connections = pool_.connections();
    for (std::size_t i = 0; i < connections.size() && open_loop_.waiting() > 0; ++i) {
      next_ = (next_ + 1) % connections.size();
      if (!connections[next_].busy && connections[next_].stage != resting) {
        send_next(connections[next_], open_loop_.take());
      }
    }
    if (!none_free()) {
      open_loop_.arm();
    }
  }

  void send_next(Connection& connection, std::int64_t meant_ns) {
    if (options_.flow_keys > 0) {
      write_digits(connection.request.data() + key_end_, sent_ % options_.flow_keys, key_digits);
    }
    if (options_.hosts > 0) {
      write_host(connection.request.data() + host_at_, sent_ % options_.hosts);
    }
    if (!options_.tokens.empty()) {
      connection.request.replace(token_at_, options_.tokens.front().size(),
                                 options_.tokens[sent_ % options_.tokens.size()]);
    }
    if (!options_.targets.empty()) {
      connection.request.replace(options_.method.size() + 1, options_.targets.front().size(),
                                 options_.targets[sent_ % options_.targets.size()]);
    }
    if (!options_.unique_header.empty()) {
      write_digits(connection.request.data() + unique_end_, sent_, unique_digits);
    }
    if (!options_.bodies.empty()) {
      connection.request.replace(body_at_, options_.body_bytes,
                                 options_.bodies[sent_ % options_.bodies.size()]);
    }
    if ((options_.body.empty() && has_body()) || options_.stamp_at) {
      const std::size_t at = body_at_ + options_.stamp_at.value_or(0);
      write_stamp(connection.request.data() + at, sent_, meant_ns);
    }
    ++sent_;
    connection.meant_ns = meant_ns;
    pool_.send_prepared(connection);
  }

  void on_answer(Connection& connection, int status, const Frame& response) {
    if (status == 0) {
      ++errors_;
      ++unanswered_;
    } else {
      count(connection, status, response);
    }
    go_on(connection);
  }

  void count(Connection& connection, int status, const Frame& response) {
    const std::int64_t now = now_ns();
    slowest_ns_ = std::max(slowest_ns_, now - connection.sent_ns);
    const bool good = status >= 200 && status < 300;
    ok_ += good ? 1 : 0;
    created_ += status == 200 || status == 201 ? 1 : 0;
    if (!good && first_bad_status_ == 0) {
      first_bad_status_ = status;
    }
    // An open loop counts by when a request was meant, so that late answers are in the figures.
    accepted_ += good && now >= from_ns_ && now < until_ns_ ? 1 : 0;
    const std::int64_t counts_at = options_.rate > 0 ? connection.meant_ns : now;
    if (counts_at >= from_ns_ && counts_at < until_ns_) {
      ++requests_;
      if (good) {
        latencies_.add(now - connection.meant_ns);
        since_sent_.add(now - connection.sent_ns);
      } else {
        ++non_2xx_;
        refused_ += status == 429 || status == 503 ? 1 : 0;
      }
    }
    if (status == 429 || status == 503) {
      note_refusal(connection, response, now);
    }
  }

  void note_refusal(Connection& connection, const Frame& response, std::int64_t now) {
    const auto after = field(response.head, "retry-after");
    refused_without_retry_after_ += after ? 0 : 1;
    if (after && options_.back_off) {
      connection.stage = resting;
      resting_.emplace(now + to_number(*after, "Retry-After") * 1'000'000'000, &connection);
    }
  }

  void end_rests() {
    for (const std::int64_t now = now_ns(); !resting_.empty() && resting_.begin()->first <= now;) {
      Connection& connection = *resting_.begin()->second;
      resting_.erase(resting_.begin());
      connection.stage = 0;
      go_on(connection);
    }
  }

  void go_on(Connection& connection) {
    if (connection.stage == resting || connection.busy) {
      return;
    }
    if (options_.rate > 0) {
      open_loop_.plan();
      if (open_loop_.waiting() > 0 && (!options_.back_off || now_ns() < until_ns_)) {
        send_next(connection, open_loop_.take());
      } else {
        open_loop_.arm();
      }
    } else if (const std::int64_t now = now_ns(); goes_on(now)) {
      send_next(connection, now);
    }
  }

  const Options options_;
  Pool pool_;
  OpenLoop open_loop_{};
  std::size_t body_at_ = 0;
  std::size_t host_at_ = 0;
  std::size_t token_at_ = 0;
  std::size_t key_end_ = 0;     ///< behind the digits of the flow-control key
  std::size_t unique_end_ = 0;  ///< behind its digits
  std::size_t next_ = 0;
  std::multimap<std::int64_t, Connection*> resting_;  ///< by the end of their rest
  std::int64_t start_ns_ = 0;
  std::int64_t from_ns_ = 0;   ///< measured from here …
  std::int64_t until_ns_ = 0;  ///< … to here

  std::uint64_t requests_ = 0;  ///< inside the measured time
  std::uint64_t non_2xx_ = 0;
  std::uint64_t refused_ = 0;   ///< of them
  std::uint64_t accepted_ = 0;  ///< answered, and well, inside the measured time
  std::uint64_t errors_ = 0;
  std::uint64_t sent_ = 0;  ///< these four: warm-up included
  std::uint64_t ok_ = 0;
  std::uint64_t created_ = 0;
  std::uint64_t unanswered_ = 0;
  std::uint64_t refused_without_retry_after_ = 0;  ///< warm-up included
  std::int64_t slowest_ns_ = 0;  ///< of all answers, from when the request was sent
  int first_bad_status_ = 0;
  Latencies latencies_;   ///< from when a request was meant to be sent …
  Latencies since_sent_;  ///< … and from when it was
};

}  // namespace
}  // namespace hk::bench

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  hk::bench::Load load(hk::bench::parse_options(argc, argv));
  load.run();
  load.print();
}
