/// Host names to addresses for the client, with a deadline. One thread.
#pragma once

#include <sys/socket.h>

#include <future>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/deadline.h"
#include "net/url.h"

namespace hk::net {

struct Endpoint {
  sockaddr_storage address{};
  socklen_t size = 0;
};

/// Asking the system cannot be cut short, so it is done on a thread that owns nothing of ours: if
/// the answer comes too late, nobody waits for it. A look-up that is still under way is taken up
/// again by the next request for the name.
class LookUp {
 public:
  /// unavailable: not found, or no answer in time.
  Result<std::vector<Endpoint>> find(const Url& url, const Deadline& deadline);

 private:
  /// `fault` is of getaddrinfo(); 0: there are addresses.
  struct Found {
    std::vector<Endpoint> endpoints{};
    int fault = 0;
  };
  static Found ask(const std::string& host, const std::string& port, int flags);
  static Result<std::vector<Endpoint>> checked(const Url& url, Found found);
  Result<void> begin(const std::string& host, const std::string& port);

  std::shared_future<Found> asked_;
  std::string asked_for_;
};

}  // namespace hk::net
