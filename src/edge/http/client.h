/// A small blocking HTTP(S) client for the command line and for tests: one request, one connection,
/// one deadline for everything. Not for deliveries. Any thread.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "edge/http/message.h"

namespace hk::http {

struct ClientRequest {
  std::string method{"GET"};
  std::string url{};  ///< http:// or https://
  std::vector<Field> fields{};
  std::string body{};
  std::chrono::milliseconds timeout{10'000};
  std::string ca_file{};  ///< PEM of the authorities to trust; "": those of the system
};

struct ClientResponse {
  int status = 0;
  std::vector<Field> fields{};
  std::string body{};

  /// The first field of that name, or nullopt.
  [[nodiscard]] std::optional<std::string_view> header(std::string_view name) const;
};

/// Sends the request and reads the whole response (64 MiB at most). Does not follow redirects, does
/// not retry. The certificate of an https server must be valid for the host of the URL.
/// invalid_argument: the URL, or a field that cannot be sent; unavailable: the server was not
/// reached; unknown_outcome: the request went out, but no whole response came back.
Result<ClientResponse> fetch(const ClientRequest& request);

/// The parts of an absolute http or https URL without user information.
struct Url {
  bool tls = false;
  std::string host{};  ///< an IPv6 address without its brackets
  std::string port{};
  std::string authority{};  ///< for the Host field
  std::string target{};
};
/// invalid_argument: anything else.
Result<Url> parse_url(std::string_view url);

}  // namespace hk::http
