/// The client's connection: a non-blocking socket, with TLS or without, and the deadline of
/// everything that is done on it. One thread.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/deadline.h"
#include "net/look_up.h"
#include "net/tls.h"

namespace hk::net {

class Wire {
 public:
  /// The deadline outlives it.
  explicit Wire(const Deadline& deadline) : deadline_(deadline) {}
  ~Wire();
  Wire(const Wire&) = delete;
  Wire& operator=(const Wire&) = delete;

  /// To the first one that takes it. unavailable: none does.
  Result<void> connect(const Url& url, const std::vector<Endpoint>& endpoints);
  /// unavailable: no handshake, or the certificate is not trusted for the host of the URL.
  Result<void> start_tls(const Url& url, SSL_CTX* context);
  Result<void> write_all(std::string_view bytes);  ///< unknown_outcome
  /// 0 at the end of the stream. unknown_outcome: it broke, or nothing came in time.
  Result<std::size_t> read_some(char* data, std::size_t size);

 private:
  [[nodiscard]] bool wait(short events) const;
  Result<void> connect_to(const Endpoint& endpoint);
  /// Waits as OpenSSL asks; false when it is not asking but failing, or there is no time.
  bool wait_for_tls(int result);

  const Deadline& deadline_;
  int socket_ = -1;
  SslPtr ssl_{};
};

}  // namespace hk::net
