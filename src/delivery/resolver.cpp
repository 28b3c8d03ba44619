#include "delivery/resolver.h"

#include <netdb.h>
#include <sys/socket.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace hk::delivery {
namespace {

using Clock = std::chrono::steady_clock;

Result<Addresses> ask_system(const std::string& host) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_ADDRCONFIG;
  addrinfo* list = nullptr;
  const int error = ::getaddrinfo(host.c_str(), nullptr, &hints, &list);
  if (error != 0) {
    const bool ours = error == EAI_SYSTEM || error == EAI_MEMORY;
    return fail(ours ? ErrorKind::internal : ErrorKind::unavailable,
                std::string("host name not resolved: ") + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owned(list, ::freeaddrinfo);
  Addresses answers;
  for (const addrinfo* one = list; one != nullptr; one = one->ai_next) {
    Address address;
    if (one->ai_family == AF_INET) {
      sockaddr_in in{};
      std::memcpy(&in, one->ai_addr, sizeof in);
      std::memcpy(address.bytes.data(), &in.sin_addr, 4);
    } else if (one->ai_family == AF_INET6) {
      sockaddr_in6 in{};
      std::memcpy(&in, one->ai_addr, sizeof in);
      address.v6 = true;
      std::memcpy(address.bytes.data(), &in.sin6_addr, 16);
    } else {
      continue;
    }
    answers.push_back(address);
  }
  return answers;
}

/// Shared with the threads: one that is stuck in the system's resolver may outlive the Resolver.
struct Shared {
  explicit Shared(ResolverOptions o) : options(std::move(o)) {}

  struct LookUp {
    Clock::time_point deadline{};
    std::vector<Resolver::Done> waiting{};
  };
  struct Known {
    Addresses answers{};
    Clock::time_point until{};
  };

  const ResolverOptions options;
  std::mutex mutex;  ///< guards everything below
  std::condition_variable work;
  std::condition_variable watch;
  bool stopping = false;
  std::deque<std::string> queue;
  std::unordered_map<std::string, LookUp> under_way;
  std::unordered_set<std::string> asking;  ///< a name that hangs holds one thread, not all of them
  std::unordered_map<std::string, Known> remembered;
  std::vector<bool> busy;

  void remember(const std::string& host, const Addresses& answers) {
    const auto now = Clock::now();
    if (remembered.size() >= options.names_remembered_max) {
      std::erase_if(remembered, [now](const auto& one) { return one.second.until <= now; });
      if (remembered.size() >= options.names_remembered_max) {
        remembered.clear();
      }
    }
    remembered[host] = Known{answers, now + options.remember};
  }
};

Result<Addresses> bounded(Result<Addresses> answers, std::size_t answers_max) {
  if (!answers) {
    return answers;
  }
  if (answers->empty()) {
    return fail(ErrorKind::unavailable, "host name not resolved: it has no address");
  }
  if (answers->size() > answers_max) {
    answers->resize(answers_max);  // what is left out is never connected to
  }
  return answers;
}

void answer_all(std::vector<Resolver::Done>& waiting, const Result<Addresses>& answer) {
  for (auto& done : waiting) {
    done(answer);
  }
}

void run_worker(const std::shared_ptr<Shared>& shared, std::size_t index) {
  std::unique_lock lock(shared->mutex);
  while (true) {
    shared->work.wait(lock, [&] { return shared->stopping || !shared->queue.empty(); });
    if (shared->stopping) {
      return;
    }
    const std::string host = std::move(shared->queue.front());
    shared->queue.pop_front();
    if (!shared->under_way.contains(host) || shared->asking.contains(host)) {
      continue;  // its waiters were told that it took too long, or another thread asks already
    }

    shared->busy[index] = true;
    shared->asking.insert(host);
    lock.unlock();
    const Result<Addresses> answers =
        bounded(shared->options.ask(host), shared->options.answers_max);
    lock.lock();
    shared->busy[index] = false;
    shared->asking.erase(host);

    if (answers) {
      shared->remember(host, *answers);
    }
    auto found = shared->under_way.extract(host);
    if (found && !shared->stopping) {
      lock.unlock();
      answer_all(found.mapped().waiting, answers);
      lock.lock();
    }
  }
}

/// Tells those who waited too long; the thread that asks cannot be interrupted.
void run_watch(const std::shared_ptr<Shared>& shared) {
  const Result<Addresses> too_late =
      fail(ErrorKind::unavailable, "host name not resolved: no answer in time");
  std::unique_lock lock(shared->mutex);
  while (!shared->stopping) {
    auto next = Clock::time_point::max();
    std::vector<Resolver::Done> late;
    const auto now = Clock::now();
    for (auto it = shared->under_way.begin(); it != shared->under_way.end();) {
      if (it->second.deadline <= now) {
        std::ranges::move(it->second.waiting, std::back_inserter(late));
        it = shared->under_way.erase(it);
      } else {
        next = std::min(next, it->second.deadline);
        ++it;
      }
    }
    if (!late.empty()) {
      lock.unlock();
      answer_all(late, too_late);
      lock.lock();
    } else if (next == Clock::time_point::max()) {
      shared->watch.wait(lock);
    } else {
      shared->watch.wait_until(lock, next);
    }
  }
}

class SystemResolver final : public Resolver {
 public:
  explicit SystemResolver(ResolverOptions options)
      : shared_(std::make_shared<Shared>(std::move(options))) {
    shared_->busy.resize(shared_->options.threads);
    for (std::size_t i = 0; i < shared_->options.threads; ++i) {
      workers_.emplace_back([shared = shared_, i] { run_worker(shared, i); });
    }
    watch_ = std::thread([shared = shared_] { run_watch(shared); });
  }

  ~SystemResolver() override {
    std::vector<bool> busy;
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
      busy = shared_->busy;
    }
    shared_->work.notify_all();
    shared_->watch.notify_all();
    watch_.join();
    for (std::size_t i = 0; i < workers_.size(); ++i) {
      // A thread inside the system's resolver would keep us for as long as that likes.
      busy[i] ? workers_[i].detach() : workers_[i].join();
    }
  }

  std::optional<Addresses> known(const std::string& host) override {
    if (host == "localhost" || host.ends_with(".localhost")) {  // RFC 6761: never asked of anybody
      return Addresses{Address::v4(127, 0, 0, 1)};
    }
    if (const auto literal = parse_address(host)) {
      return Addresses{*literal};
    }
    const std::lock_guard lock(shared_->mutex);
    const auto found = shared_->remembered.find(host);
    if (found == shared_->remembered.end() || found->second.until <= Clock::now()) {
      return std::nullopt;
    }
    return found->second.answers;
  }

  void look_up(const std::string& host, Done done) override {
    std::unique_lock lock(shared_->mutex);
    auto found = shared_->under_way.find(host);
    if (found == shared_->under_way.end()) {
      if (shared_->under_way.size() >= shared_->options.waiting_names_max) {
        lock.unlock();
        done(fail(ErrorKind::limit_exceeded, "host name not resolved: too many look-ups at once"));
        return;
      }
      found = shared_->under_way.try_emplace(host).first;
      found->second.deadline = Clock::now() + shared_->options.timeout;
      if (!shared_->asking.contains(host)) {
        shared_->queue.push_back(host);
        shared_->work.notify_one();
      }
      shared_->watch.notify_one();
    }
    found->second.waiting.push_back(std::move(done));
  }

 private:
  std::shared_ptr<Shared> shared_;
  std::vector<std::thread> workers_;
  std::thread watch_;
};

}  // namespace

std::unique_ptr<Resolver> make_resolver(ResolverOptions options) {
  if (!options.ask) {
    options.ask = ask_system;
  }
  return std::make_unique<SystemResolver>(std::move(options));
}

}  // namespace hk::delivery
