/// TLS towards destinations: 1.2 or later, the system's roots and perhaps one more file of them,
/// and the name of the URL checked always. There is no switch that turns verification off. One per
/// dispatcher.
#pragma once

#include <boost/asio/ssl/context.hpp>
#include <memory>
#include <string>

#include "base/error.h"

namespace hk::delivery {

struct TlsOptions {
  bool system_roots = true;
  std::string extra_ca_file{};  ///< PEM; "" = none
  bool allow_cbc = true;        ///< false: ciphers with authenticated encryption only
};

class TlsClient {
 public:
  /// invalid_argument: the file cannot be read or holds no certificate.
  static Result<std::unique_ptr<TlsClient>> make(const TlsOptions& options);

  boost::asio::ssl::context& context() { return context_; }
  /// Why a handshake failed, in words for the person who reads the attempt.
  static std::string describe_failure(SSL* ssl, const boost::system::error_code& error);

 private:
  TlsClient() : context_(boost::asio::ssl::context::tls_client) {}
  boost::asio::ssl::context context_;
};

}  // namespace hk::delivery
