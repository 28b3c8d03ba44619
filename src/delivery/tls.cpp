#include "delivery/tls.h"

#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <array>

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

Result<void> TlsClient::expect_host(SSL* ssl, const std::string& host, HostKind kind) {
  bool accepted = false;
  if (kind == HostKind::name) {
    SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    accepted = SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                        const_cast<char*>(host.c_str())) == 1 &&
               SSL_set1_host(ssl, host.c_str()) == 1;
  } else {  // SNI carries names only
    accepted = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  }
  if (!accepted) {
    return fail(ErrorKind::unavailable, "TLS cannot be set up for this host name");
  }
  return {};
}

std::string TlsClient::describe_failure(SSL* ssl, const boost::system::error_code& error) {
  const long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) {
    return std::string("TLS: the certificate was not accepted: ") +
           X509_verify_cert_error_string(verified);
  }
  return "TLS: " + error.message();
}

}  // namespace hk::delivery
