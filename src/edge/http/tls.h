/// The certificate the server shows, and its exchange while serving. reload() may be called from
/// any thread; connections take what is current when they are accepted.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <mutex>

#include "base/error.h"
#include "edge/http/server.h"
#include "net/tls.h"

namespace hk::http {

class TlsKeeper {
 public:
  explicit TlsKeeper(TlsFiles files) : files_(std::move(files)) {}

  /// Reads both files again. invalid_argument: unreadable, not PEM, or not a pair; what was in use
  /// stays in use.
  Result<void> reload();
  /// A server side of a new connection; null when OpenSSL is out of memory.
  net::SslPtr new_connection();

 private:
  const TlsFiles files_;
  std::mutex mutex_{};
  std::shared_ptr<SSL_CTX> context_{};  ///< guarded by mutex_
};

}  // namespace hk::http
