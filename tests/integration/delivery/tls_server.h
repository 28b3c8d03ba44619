/// Certificates made for a test, and a receiver that speaks TLS with one of them.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "integration/delivery/harness.h"

namespace hk::delivery::testing {

struct FreeOpenSsl {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
template <class T>
using Owned = std::unique_ptr<T, FreeOpenSsl>;

struct Identity {
  Owned<EVP_PKEY> key{};
  Owned<X509> certificate{};
};

/// `names`: a subjectAltName value ("DNS:a,IP:127.0.0.1"). `issuer` null: signed by itself. `days`:
/// until it expires; negative = that long ago. `from`: the day it becomes valid.
Identity make_identity(const std::string& names, const Identity* issuer, int days, bool authority,
                       int from = -400);

/// A file that goes away with the object.
class CaFile {
 public:
  explicit CaFile(const Identity& authority);
  ~CaFile();
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Answers every request with 200 over TLS; counts the requests that got through.
class TlsReceiver {
 public:
  /// What becomes of the connection of a request that was read.
  using Answer = std::function<void(SSL*, Socket&)>;

  explicit TlsReceiver(const Identity& identity, int max_version = TLS1_3_VERSION);
  /// One request per connection, which `answer` answers in its own way.
  TlsReceiver(const Identity& identity, int max_version, Answer answer);
  /// From now on clients must show a certificate. Before the first connection only.
  void demand_client_certificate();
  /// These alone, of TLS 1.2. Before the first connection only.
  void speak_only(const char* ciphers);
  [[nodiscard]] std::string url(std::string_view host = "127.0.0.1") const;
  [[nodiscard]] int requests() const { return requests_.load(); }
  [[nodiscard]] int connections() const { return receiver_.connections(); }
  std::string last_name();  ///< sent by SNI

 private:
  void serve(Socket& socket);
  Owned<SSL_CTX> context_;
  Answer answer_;
  std::atomic<int> requests_{0};
  std::mutex mutex_;
  std::string last_name_;
  Receiver receiver_;
};

}  // namespace hk::delivery::testing
