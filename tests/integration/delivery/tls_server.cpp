#include "integration/delivery/tls_server.h"

#include <gtest/gtest.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace hk::delivery::testing {
namespace {

void require(bool condition) {
  if (!condition) {
    std::abort();
  }
}

void add_extension(X509* certificate, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str());
  require(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

}  // namespace

Identity make_identity(const std::string& names, const Identity* issuer, int days, bool authority,
                       int from) {
  Identity identity;
  identity.key.reset(EVP_EC_gen("P-256"));
  identity.certificate.reset(X509_new());
  X509* certificate = identity.certificate.get();
  require(identity.key != nullptr && certificate != nullptr);
  static std::atomic<long> serial{1};
  X509_set_version(certificate, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate), serial.fetch_add(1));
  constexpr long day = 86'400;
  X509_gmtime_adj(X509_getm_notBefore(certificate), from * day);
  X509_gmtime_adj(X509_getm_notAfter(certificate), days * day);
  X509_set_pubkey(certificate, identity.key.get());
  const std::string common_name = authority ? "Test authority" : "Test receiver";
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(common_name.c_str()), -1, -1,
                             0);
  X509* signer = issuer != nullptr ? issuer->certificate.get() : certificate;
  X509_set_issuer_name(certificate, X509_get_subject_name(signer));
  add_extension(certificate, signer, NID_basic_constraints,
                authority ? "critical,CA:TRUE" : "critical,CA:FALSE");
  if (!names.empty()) {
    add_extension(certificate, signer, NID_subject_alt_name, names);
  }
  EVP_PKEY* key = issuer != nullptr ? issuer->key.get() : identity.key.get();
  require(X509_sign(certificate, key, EVP_sha256()) != 0);
  return identity;
}

CaFile::CaFile(const Identity& authority) {
  std::string pattern = ::testing::TempDir() + "hk-test-ca-XXXXXX";
  const int fd = ::mkstemp(pattern.data());
  require(fd >= 0);
  path_ = pattern;
  FILE* file = ::fdopen(fd, "w");
  require(PEM_write_X509(file, authority.certificate.get()) == 1);
  std::fclose(file);
}

CaFile::~CaFile() { ::unlink(path_.c_str()); }

TlsReceiver::TlsReceiver(const Identity& identity, int max_version)
    : TlsReceiver(identity, max_version, nullptr) {}

void TlsReceiver::demand_client_certificate() {
  SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
}

void TlsReceiver::speak_only(const char* ciphers) {
  require(SSL_CTX_set_cipher_list(context_.get(), ciphers) == 1);
}

TlsReceiver::TlsReceiver(const Identity& identity, int max_version, Answer answer)
    : context_(SSL_CTX_new(TLS_server_method())),
      answer_(std::move(answer)),
      receiver_([this](Socket& s) { serve(s); }) {
  // OpenSSL writes to the socket with write(2): a client that has gone must not end the tests.
  std::signal(SIGPIPE, SIG_IGN);
  SSL_CTX_set_max_proto_version(context_.get(), max_version);
  SSL_CTX_set_min_proto_version(context_.get(), TLS1_VERSION);
  if (max_version < TLS1_2_VERSION) {
    SSL_CTX_set_security_level(context_.get(), 0);
  }
  require(SSL_CTX_use_certificate(context_.get(), identity.certificate.get()) == 1);
  require(SSL_CTX_use_PrivateKey(context_.get(), identity.key.get()) == 1);
}

void TlsReceiver::serve(Socket& socket) {
  const Owned<SSL> ssl(SSL_new(context_.get()));
  SSL_set_fd(ssl.get(), socket.fd());
  if (SSL_accept(ssl.get()) != 1) {
    return;
  }
  if (const char* name = SSL_get_servername(ssl.get(), TLSEXT_NAMETYPE_host_name)) {
    const std::lock_guard lock(mutex_);
    last_name_ = name;
  }
  std::string received;
  char bytes[16 * 1024];
  while (true) {
    const int got = SSL_read(ssl.get(), bytes, sizeof bytes);
    if (got <= 0) {
      return;
    }
    received.append(bytes, static_cast<std::size_t>(got));
    const std::size_t head = received.find("\r\n\r\n");
    const std::size_t field = received.find("Content-Length: ");
    if (head == std::string::npos || field == std::string::npos) {
      continue;
    }
    const std::size_t length = std::strtoul(received.c_str() + field + 16, nullptr, 10);
    if (received.size() < head + 4 + length) {
      continue;
    }
    received.erase(0, head + 4 + length);
    requests_.fetch_add(1);
    if (answer_) {
      answer_(ssl.get(), socket);
      return;
    }
    const std::string answer = ok_answer("secure");
    SSL_write(ssl.get(), answer.data(), static_cast<int>(answer.size()));
  }
}

std::string TlsReceiver::url(std::string_view host) const {
  return "https://" + std::string(host) + ":" + std::to_string(receiver_.port()) + "/hook";
}

std::string TlsReceiver::last_name() {
  const std::lock_guard lock(mutex_);
  return last_name_;
}

}  // namespace hk::delivery::testing
