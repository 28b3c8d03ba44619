/// A small blocking HTTP(S) client for everything that is not a delivery: the command line,
/// exported spans, tests. One request, one connection, one deadline for everything, looking up the
/// host included.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/header.h"

namespace hk::net {

struct Request {
  std::string method{"GET"};
  std::string url{};
  std::vector<Field> fields{};
  std::string body{};
  std::chrono::milliseconds timeout{10'000};
  std::size_t response_bytes_max = std::size_t{64} * 1024 * 1024;
};

struct Response {
  int status = 0;
  std::vector<Field> fields{};
  std::string body{};

  /// The first field of that name, or nullopt.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const {
    return find_field(fields, name);
  }
};

/// Keeps the trusted authorities from one request to the next, but no connection.
class Client {
 public:
  /// `ca_file`: PEM of the authorities to trust; "": those of the system.
  explicit Client(std::string ca_file = {});
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  /// Sends the request and reads the whole response. Does not follow redirects, does not retry. The
  /// certificate of an https server must be valid for the host of the URL. From one thread.
  /// invalid_argument: the URL, or a field that cannot be sent; unavailable: the server was not
  /// reached; unknown_outcome: the request went out, but no whole response came back.
  Result<Response> send(const Request& request);

  /// From any thread: no request, this one or a later one, lasts beyond this by more than a moment.
  void hasten(std::chrono::steady_clock::time_point latest);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// One request of a client of its own.
Result<Response> fetch(const Request& request, const std::string& ca_file = {});

}  // namespace hk::net
