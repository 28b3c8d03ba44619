#include "edge/http/tls.h"

#include <openssl/err.h>

#include <array>
#include <string>
#include <string_view>

namespace hk::http {

namespace {

using Context = std::shared_ptr<SSL_CTX>;

std::string last_openssl_error() {
  std::array<char, 256> text{};
  ERR_error_string_n(ERR_get_error(), text.data(), text.size());
  ERR_clear_error();
  return text.data();
}

int choose_http_1_1(SSL*, const unsigned char** out, unsigned char* out_size,
                    const unsigned char* offered, unsigned int offered_size, void*) {
  constexpr std::string_view wanted = "http/1.1";
  for (unsigned int i = 0; i < offered_size; i += offered[i] + 1U) {
    const unsigned int size = offered[i];
    if (size >= offered_size - i) break;
    if (std::string_view(reinterpret_cast<const char*>(offered + i + 1), size) == wanted) {
      *out = offered + i + 1;
      *out_size = static_cast<unsigned char>(size);
      return SSL_TLSEXT_ERR_OK;
    }
  }
  return SSL_TLSEXT_ERR_NOACK;
}

/// TLS 1.2 with forward secrecy and authenticated encryption, and 1.3; nothing that was optional.
bool harden(SSL_CTX* context) {
  // Session tickets would keep one key alive as long as the context; a full handshake is cheap.
  SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  // An encrypted key must fail, not ask at the terminal.
  SSL_CTX_set_default_passwd_cb(context, [](char*, int, int, void*) { return 0; });
  SSL_CTX_set_alpn_select_cb(context, choose_http_1_1, nullptr);
  return SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) == 1 &&
         SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20") == 1;
}

Result<Context> load(const TlsFiles& files) {
  Context context(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  if (!context || !harden(context.get())) {
    return fail(ErrorKind::internal, "OpenSSL cannot set up TLS: " + last_openssl_error());
  }
  if (SSL_CTX_use_certificate_chain_file(context.get(), files.certificate_chain.c_str()) != 1) {
    return fail(
        ErrorKind::invalid_argument,
        "cannot use the certificate chain " + files.certificate_chain +
            " (a PEM file with the server's certificate first is needed): " + last_openssl_error());
  }
  if (SSL_CTX_use_PrivateKey_file(context.get(), files.private_key.c_str(), SSL_FILETYPE_PEM) !=
          1 ||
      SSL_CTX_check_private_key(context.get()) != 1) {
    return fail(ErrorKind::invalid_argument, "cannot use the private key " + files.private_key +
                                                 " (an unencrypted PEM key that belongs to " +
                                                 files.certificate_chain +
                                                 " is needed): " + last_openssl_error());
  }
  return context;
}

}  // namespace

Result<void> TlsKeeper::reload() {
  ERR_clear_error();
  Result<Context> fresh = load(files_);
  if (!fresh) return std::unexpected(std::move(fresh.error()));
  const std::scoped_lock lock(mutex_);
  context_ = std::move(*fresh);
  return {};
}

net::SslPtr TlsKeeper::new_connection() {
  const std::scoped_lock lock(mutex_);
  net::SslPtr ssl(SSL_new(context_.get()));
  if (ssl) SSL_set_accept_state(ssl.get());
  return ssl;
}

}  // namespace hk::http
