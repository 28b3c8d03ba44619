/// Load as clients of SQS make it, in the JSON protocol. One thread, N keep-alive connections.
/// Prints one line of JSON.
///
///   sqs_load send  --port P --queue-url U [--batch 10] [--groups 10000] [--fifo 1]
///                  [--count N]           for --seconds, or until N messages are taken
///   sqs_load drain --port P --queue-url U --count N [--hold 1]
///                  receives 10 at a time, and deletes them (--hold: keeps them for 12 hours),
///                  until it has N or --seconds are over
///   sqs_load wake  --port P --queue-url U --rate 100
///                  how long after a send begins one of the waiting receivers has the message
///   sqs_load wait  --port P --queue-url U --connections 10000
///                  one long poll on each; prints "waiting" when all of them are sent
///
/// Requests whose bytes repeat are signed once; --sign-each 1 makes them differ; --noise 1 fills
/// bodies with what does not compress (and signs each). A connection sends its next request when
/// the answer is there.
#include <csignal>
#include <map>

#include "pool.h"
#include "sigv4.h"

namespace hk::bench {
namespace {

struct Options {
  std::string mode{};
  std::string queue_url{};
  std::uint16_t port = 0;
  std::size_t connections = 64;
  double seconds = 5;
  double warmup = 0;
  std::uint64_t batch = 1;
  std::uint64_t groups = 0;  ///< 0 = none
  std::uint64_t count = 0;   ///< 0 = until the time is over
  std::uint64_t rate = 100;
  std::size_t body_bytes = 256;
  bool fifo = false;
  bool sign_each = false;
  bool hold = false;
  bool noise = false;
};

Options parse_options(int argc, char** argv) {
  Options options;
  options.mode = argc > 1 ? argv[1] : "";
  for (int i = 2; i < argc; ++i) {
    const std::string_view flag = argv[i];
    if (i + 1 == argc) {
      die("sqs_load: " + std::string(flag) + " needs a value");
    }
    const std::string value = argv[++i];
    const auto number = [&] { return static_cast<std::uint64_t>(to_number(value, flag)); };
    if (flag == "--queue-url") {
      options.queue_url = value;
    } else if (flag == "--port") {
      options.port = static_cast<std::uint16_t>(number());
    } else if (flag == "--connections") {
      options.connections = number();
    } else if (flag == "--seconds") {
      options.seconds = std::strtod(value.c_str(), nullptr);
    } else if (flag == "--warmup") {
      options.warmup = std::strtod(value.c_str(), nullptr);
    } else if (flag == "--batch") {
      options.batch = number();
    } else if (flag == "--groups") {
      options.groups = number();
    } else if (flag == "--count") {
      options.count = number();
    } else if (flag == "--rate") {
      options.rate = number();
    } else if (flag == "--fifo") {
      options.fifo = number() != 0;
    } else if (flag == "--sign-each") {
      options.sign_each = number() != 0;
    } else if (flag == "--noise") {
      options.noise = number() != 0;
    } else if (flag == "--hold") {
      options.hold = number() != 0;
    } else {
      die("sqs_load: unknown flag " + std::string(flag));
    }
  }
  if (options.port == 0 || options.queue_url.empty() || options.connections == 0 ||
      options.batch == 0 || options.batch > 10 || options.rate == 0) {
    die("sqs_load: see the head of sqs_load.cpp");
  }
  return options;
}

/// An empty list of failures is good, too: some servers do not leave it out.
bool is_good(int status, std::string_view body) {
  return status >= 200 && status < 300 && body.find("\"Failed\":[{") == std::string_view::npos;
}

/// The values of a member, in order. Enough for handles, which hold nothing that JSON escapes.
std::vector<std::string> values_of(std::string_view body, std::string_view member) {
  const std::string opening = "\"" + std::string(member) + "\":\"";
  std::vector<std::string> values;
  for (std::size_t at = body.find(opening); at != std::string_view::npos;
       at = body.find(opening, at)) {
    at += opening.size();
    const std::size_t end = body.find('"', at);
    values.emplace_back(body.substr(at, end - at));
  }
  return values;
}

/// Six random bits a character: nothing repeats that LZ4 could find.
void fill_with_noise(std::string& text, std::uint64_t number) {
  std::uint64_t state = (number + 1) * 0x9e3779b97f4a7c15U;
  for (char& c : text) {
    state ^= state << 13U;
    state ^= state >> 7U;
    state ^= state << 17U;
    c = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz-_"[state >> 58U];
  }
}

class Run {
 public:
  explicit Run(Options options)
      : options_(std::move(options)), signer_("127.0.0.1:" + std::to_string(options_.port)) {}

  void send();
  void drain();
  void wake();
  void wait();

 private:
  [[nodiscard]] std::string queue_member() const {
    return R"("QueueUrl":")" + options_.queue_url + "\"";
  }
  [[nodiscard]] std::string message(std::uint64_t number, std::int64_t sent_ns) const;
  [[nodiscard]] std::string send_request(std::uint64_t& number) const;
  [[nodiscard]] std::string receive_request(int max, int wait, int visibility) const;
  [[nodiscard]] std::string delete_request(const std::vector<std::string>& handles) const;
  /// What is between the braces is the mode's own.
  void print(std::uint64_t messages, double seconds, const std::string& more) const;
  void note_bad(int status) {
    ++bad_;
    first_bad_status_ = first_bad_status_ == 0 ? status : first_bad_status_;
  }

  const Options options_;
  const Signer signer_;
  Latencies latencies_;
  std::uint64_t bad_ = 0;
  int first_bad_status_ = 0;
};

/// The members of one message.
std::string Run::message(std::uint64_t number, std::int64_t sent_ns) const {
  std::string body(options_.body_bytes, '.');
  if (options_.noise) {
    fill_with_noise(body, number);
  }
  if (options_.sign_each) {
    write_stamp(body.data(), number, sent_ns);
  }
  std::string text = R"("MessageBody":")" + body + "\"";
  if (options_.groups > 0) {
    text += R"(,"MessageGroupId":"g)" + std::to_string(number % options_.groups) + "\"";
  }
  if (options_.fifo) {
    text += R"(,"MessageDeduplicationId":")" + std::to_string(getpid()) + "-" +
            std::to_string(number) + "\"";
  }
  return text;
}

std::string Run::send_request(std::uint64_t& number) const {
  if (options_.batch == 1) {
    return signer_.request("SendMessage",
                           "{" + queue_member() + "," + message(number++, now_ns()) + "}");
  }
  std::string entries;
  for (std::uint64_t i = 0; i < options_.batch; ++i) {
    entries += (i == 0 ? R"({"Id":")" : R"(,{"Id":")") + std::to_string(i) + "\"," +
               message(number++, now_ns()) + "}";
  }
  return signer_.request("SendMessageBatch",
                         "{" + queue_member() + R"(,"Entries":[)" + entries + "]}");
}

std::string Run::receive_request(int max, int wait, int visibility) const {
  return signer_.request("ReceiveMessage", "{" + queue_member() + R"(,"MaxNumberOfMessages":)" +
                                               std::to_string(max) + R"(,"WaitTimeSeconds":)" +
                                               std::to_string(wait) + R"(,"VisibilityTimeout":)" +
                                               std::to_string(visibility) + "}");
}

std::string Run::delete_request(const std::vector<std::string>& handles) const {
  std::string entries;
  for (std::size_t i = 0; i < handles.size(); ++i) {
    entries += (i == 0 ? R"({"Id":")" : R"(,{"Id":")") + std::to_string(i) +
               R"(","ReceiptHandle":")" + handles[i] + "\"}";
  }
  return signer_.request("DeleteMessageBatch",
                         "{" + queue_member() + R"(,"Entries":[)" + entries + "]}");
}

void Run::print(std::uint64_t messages, double seconds, const std::string& more) const {
  std::printf(
      "{\"messages\":%llu,\"seconds\":%.3f,\"rate\":%.1f,%s,\"bad\":%llu,\"first_bad_answer\":%d%s}"
      "\n",
      static_cast<unsigned long long>(messages), seconds,
      seconds > 0 ? static_cast<double>(messages) / seconds : 0.0, latencies_.json().c_str(),
      static_cast<unsigned long long>(bad_), first_bad_status_, more.c_str());
}

void Run::send() {
  std::uint64_t number = 0;
  const std::string same = options_.sign_each ? "" : send_request(number);
  const auto next = [&] { return options_.sign_each ? send_request(number) : same; };
  std::uint64_t asked = 0;
  std::uint64_t taken = 0;   // with the warm-up
  std::uint64_t inside = 0;  // the measured time
  const std::int64_t start = now_ns();
  const std::int64_t from = start + static_cast<std::int64_t>(options_.warmup * 1e9);
  const std::int64_t until = from + static_cast<std::int64_t>(options_.seconds * 1e9);
  std::int64_t last = start;
  const auto goes_on = [&](std::int64_t now) {
    return now < until && (options_.count == 0 || asked < options_.count);
  };
  Pool pool(options_.port, options_.connections,
            [&](Connection& connection, int status, const Frame& response) {
              const std::int64_t now = now_ns();
              if (!is_good(status, response.body)) {
                note_bad(status);
              } else {
                taken += options_.batch;
                last = now;
                if (now >= from && now < until) {
                  inside += options_.batch;
                  latencies_.add(now - connection.sent_ns);
                }
              }
              if (goes_on(now)) {
                asked += options_.batch;
                pool.send(connection, next());
              }
            });
  for (Connection& connection : pool.connections()) {
    if (goes_on(now_ns())) {
      asked += options_.batch;
      pool.send(connection, next());
    }
  }
  while (pool.in_flight() > 0 && now_ns() < until + 10'000'000'000) {
    pool.poll(50);
  }
  if (options_.count > 0) {
    print(taken, static_cast<double>(last - start) / 1e9, "");
  } else {
    print(inside, options_.seconds, ",\"taken\":" + std::to_string(taken));
  }
}

void Run::drain() {
  const std::string receive = receive_request(10, 0, options_.hold ? 43'200 : 600);
  std::uint64_t got = 0;
  std::uint64_t empty = 0;
  std::map<Connection*, std::size_t> deleting;
  const std::int64_t start = now_ns();
  const std::int64_t until = start + static_cast<std::int64_t>(options_.seconds * 1e9);
  std::int64_t last = start;
  const auto goes_on = [&] { return got < options_.count && now_ns() < until; };
  Pool pool(options_.port, options_.connections,
            [&](Connection& connection, int status, const Frame& response) {
              if (!is_good(status, response.body)) {
                note_bad(status);
                connection.stage = 0;
              } else if (connection.stage == 1) {
                got += deleting[&connection];
                last = now_ns();
                connection.stage = 0;
              } else if (const auto handles = values_of(response.body, "ReceiptHandle");
                         handles.empty()) {
                ++empty;
              } else if (options_.hold) {
                got += handles.size();
                last = now_ns();
              } else {
                deleting[&connection] = handles.size();
                connection.stage = 1;
                pool.send(connection, delete_request(handles));
                return;
              }
              latencies_.add(now_ns() - connection.sent_ns);
              if (goes_on()) {
                pool.send(connection, receive);
              }
            });
  for (Connection& connection : pool.connections()) {
    pool.send(connection, receive);
  }
  while (pool.in_flight() > 0 && now_ns() < until + 10'000'000'000) {
    pool.poll(50);
  }
  print(got, static_cast<double>(last - start) / 1e9, ",\"empty\":" + std::to_string(empty));
}

void Run::wake() {
  const std::string receive = receive_request(1, 20, 600);
  std::uint64_t number = 0;
  std::uint64_t got = 0;
  Latencies acknowledged;
  Pool pool(options_.port, options_.connections + 1,
            [&](Connection& connection, int status, const Frame& response) {
              const std::int64_t now = now_ns();
              if (!is_good(status, response.body)) {
                note_bad(status);
              }
              if (&connection == pool.connections().data()) {
                acknowledged.add(now - connection.sent_ns);
                return;
              }
              for (const std::string& text : values_of(response.body, "Body")) {
                if (const auto sent = read_stamp(text)) {
                  ++got;
                  latencies_.add(now - *sent);
                }
              }
              pool.send(connection, receive);
            });
  for (std::size_t i = 1; i < pool.connections().size(); ++i) {
    pool.send(pool.connections()[i], receive);
  }
  Connection& sender = pool.connections().front();
  const std::int64_t step = 1'000'000'000 / static_cast<std::int64_t>(options_.rate);
  std::int64_t next = now_ns() + 500'000'000;  // All of them wait by then.
  const std::int64_t until = next + static_cast<std::int64_t>(options_.seconds * 1e9);
  while (now_ns() < until || (got < number && now_ns() < until + 5'000'000'000)) {
    if (const std::int64_t now = now_ns(); now >= next && now < until && !sender.busy) {
      pool.send(sender, send_request(number));
      next += step;
    }
    pool.poll(1);
  }
  print(got, options_.seconds,
        ",\"sent\":" + std::to_string(number) + ",\"acknowledged\":{" + acknowledged.json() + "}");
}

void Run::wait() {
  const std::string receive = receive_request(1, 20, 600);
  std::uint64_t empty = 0;
  std::int64_t shortest = INT64_MAX;
  Pool pool(options_.port, options_.connections,
            [&](Connection& connection, int status, const Frame& response) {
              if (!is_good(status, response.body)) {
                note_bad(status);
              } else {
                ++empty;
              }
              shortest = std::min(shortest, now_ns() - connection.sent_ns);
              latencies_.add(now_ns() - connection.sent_ns);
            });
  for (Connection& connection : pool.connections()) {
    pool.send(connection, receive);
  }
  while (pool.unsent() > 0) {
    pool.poll(50);
  }
  std::printf("waiting\n");
  std::fflush(stdout);
  const std::int64_t give_up = now_ns() + 40'000'000'000;
  while (pool.in_flight() > 0 && now_ns() < give_up) {
    pool.poll(50);
  }
  print(empty, 0,
        ",\"unanswered\":" + std::to_string(pool.in_flight()) +
            ",\"shortest_ms\":" + std::to_string(shortest / 1'000'000));
}

}  // namespace
}  // namespace hk::bench

int main(int argc, char** argv) {
  using namespace hk::bench;
  std::signal(SIGPIPE, SIG_IGN);
  Options options = parse_options(argc, argv);
  const std::string mode = options.mode;
  if (mode == "wake" || options.noise) {
    options.sign_each = true;  // The bodies differ.
  }
  Run run(std::move(options));
  if (mode == "send") {
    run.send();
  } else if (mode == "drain") {
    run.drain();
  } else if (mode == "wake") {
    run.wake();
  } else if (mode == "wait") {
    run.wait();
  } else {
    die("sqs_load: the mode is send, drain, wake or wait");
  }
}
