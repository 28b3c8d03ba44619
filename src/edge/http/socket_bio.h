/// OpenSSL on a socket without SIGPIPE: its own socket BIO writes with write(2), which ends a
/// process that has not ignored the signal when the peer is gone.
#pragma once

#include <openssl/ssl.h>

namespace hk::http {

/// The socket stays the caller's; it is not closed by OpenSSL.
void attach_socket(SSL* ssl, int socket);

}  // namespace hk::http
