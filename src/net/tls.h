/// What everything that speaks TLS here shares: server, deliveries and client.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "net/url.h"

namespace hk::net {

struct SslFree {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using SslPtr = std::unique_ptr<SSL, SslFree>;

/// OpenSSL on a socket without SIGPIPE: its own socket BIO writes with write(2), which ends a
/// process that has not ignored the signal when the peer is gone. The socket stays the caller's; it
/// is not closed by OpenSSL.
void attach_socket(SSL* ssl, int socket);

/// Sets the name that is sent (SNI) and the one that the certificate must carry. False: OpenSSL
/// refused it.
bool expect_host(SSL* ssl, const std::string& host, HostKind kind);

/// Why the peer's certificate was not accepted; "" if that is not what went wrong.
std::string certificate_fault(const SSL* ssl);

}  // namespace hk::net
