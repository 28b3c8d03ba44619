#include "delivery/tls.h"

#include <openssl/ssl.h>

#include <array>

#include "net/tls.h"

namespace hk::delivery {

Result<std::unique_ptr<TlsClient>> TlsClient::make(const TlsOptions& options) {
  std::unique_ptr<TlsClient> client(new TlsClient);
  SSL_CTX* native = client->context_.native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_2_VERSION);
  SSL_CTX_set_options(native, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  // Forward secrecy always, authenticated encryption first. Receivers that know only CBC are still
  // about, and a message that cannot be delivered helps nobody: they are refused if that is asked
  // for.
  std::string ciphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20";
  if (options.allow_cbc) {
    ciphers += ":ECDHE+AES";
  }
  if (SSL_CTX_set_cipher_list(native, ciphers.c_str()) != 1) {
    return fail(ErrorKind::internal, "TLS for deliveries cannot be set up: no such ciphers");
  }
  constexpr std::array<unsigned char, 9> http_1_1 = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(native, http_1_1.data(), http_1_1.size());

  boost::system::error_code error;
  client->context_.set_verify_mode(boost::asio::ssl::verify_peer, error);
  if (!error && options.system_roots) {
    client->context_.set_default_verify_paths(error);
  }
  if (error) {
    return fail(ErrorKind::internal, "TLS for deliveries cannot be set up: " + error.message());
  }
  if (!options.extra_ca_file.empty()) {
    client->context_.load_verify_file(options.extra_ca_file, error);
    if (error) {
      return fail(ErrorKind::invalid_argument,
                  "the CA file '" + options.extra_ca_file +
                      "' must be readable and hold PEM certificates: " + error.message());
    }
  }
  return client;
}

std::string TlsClient::describe_failure(SSL* ssl, const boost::system::error_code& error) {
  const std::string fault = net::certificate_fault(ssl);
  return fault.empty() ? "TLS: " + error.message()
                       : "TLS: the certificate was not accepted: " + fault;
}

}  // namespace hk::delivery
