#include "net/look_up.h"

#include <netdb.h>

#include <cstring>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>

namespace hk::net {

LookUp::Found LookUp::ask(const std::string& host, const std::string& port, int flags) {
  Found result;
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* found = nullptr;
  result.fault = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found);
  if (result.fault != 0) return result;
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, ::freeaddrinfo);
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    Endpoint& endpoint = result.endpoints.emplace_back();
    std::memcpy(&endpoint.address, one->ai_addr, one->ai_addrlen);
    endpoint.size = one->ai_addrlen;
  }
  return result;
}

Result<std::vector<Endpoint>> LookUp::checked(const Url& url, Found found) {
  if (found.fault != 0) {
    return fail(ErrorKind::unavailable,
                "cannot resolve " + url.host + ": " + ::gai_strerror(found.fault));
  }
  return std::move(found.endpoints);
}

Result<void> LookUp::begin(const std::string& host, const std::string& port) {
  auto promise = std::make_shared<std::promise<Found>>();  // the second owner is the thread
  asked_ = promise->get_future().share();
  try {
    std::thread([promise, host, port] {
      try {
        promise->set_value(ask(host, port, 0));
      } catch (const std::bad_alloc&) {
        promise->set_value(Found{.endpoints = {}, .fault = EAI_MEMORY});
      }
    }).detach();
  } catch (const std::system_error& problem) {
    asked_ = {};
    return fail(ErrorKind::unavailable, "cannot resolve " + host + ": " + problem.what());
  }
  return {};
}

Result<std::vector<Endpoint>> LookUp::find(const Url& url, const Deadline& deadline) {
  const std::string port = std::to_string(url.port);
  if (url.kind != HostKind::name) {
    return checked(url, ask(url.host, port, AI_NUMERICHOST));
  }
  if (!asked_.valid() || asked_for_ != url.host + ":" + port) {
    asked_for_ = url.host + ":" + port;
    if (auto begun = begin(url.host, port); !begun) return std::unexpected(begun.error());
  }
  while (asked_.wait_until(deadline.next_look()) != std::future_status::ready) {
    if (deadline.passed()) {
      return fail(ErrorKind::unavailable,
                  "cannot resolve " + url.host + ": no answer within the timeout");
    }
  }
  return checked(url, std::exchange(asked_, {}).get());
}

}  // namespace hk::net
