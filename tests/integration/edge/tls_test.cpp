#include <gtest/gtest.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <filesystem>
#include <memory>

#include "integration/edge/harness.h"
#include "net/client.h"
#include "net/tls.h"

namespace hk::http::test {

namespace HK_TEST_FILE {

struct Free {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};
template <class T>
using Owned = std::unique_ptr<T, Free>;

Owned<EVP_PKEY> make_key() {
  return Owned<EVP_PKEY>(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
}

void add_extension(X509* certificate, int id, const char* value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, id, value);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

/// Signed by `issuer`, or by itself when that is null.
Owned<X509> make_certificate(const char* name, long serial, EVP_PKEY* key, X509* issuer,
                             EVP_PKEY* issuer_key) {
  Owned<X509> certificate(X509_new());
  X509_set_version(certificate.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(certificate.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 86'400);
  X509_set_pubkey(certificate.get(), key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate.get(),
                       X509_get_subject_name(issuer != nullptr ? issuer : certificate.get()));
  if (issuer == nullptr) {
    add_extension(certificate.get(), NID_basic_constraints, "critical,CA:TRUE");
  } else {
    add_extension(certificate.get(), NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1");
  }
  X509_sign(certificate.get(), issuer_key != nullptr ? issuer_key : key, EVP_sha256());
  return certificate;
}

/// A private authority and certificates of it, in files of a directory of their own.
class Authority {
 public:
  Authority()
      : directory_(std::filesystem::temp_directory_path() /
                   ("hk_tls_" + std::to_string(::getpid()) + "_" + std::to_string(next_++))),
        key_(make_key()),
        certificate_(make_certificate("test authority", 1, key_.get(), nullptr, nullptr)) {
    std::filesystem::create_directories(directory_);
    write_certificate(certificate_.get(), ca_file());
  }
  Authority(const Authority&) = delete;
  Authority& operator=(const Authority&) = delete;
  ~Authority() { std::filesystem::remove_all(directory_); }

  [[nodiscard]] std::string ca_file() const { return directory_ / "ca.crt"; }
  [[nodiscard]] TlsFiles files() const {
    return {directory_ / "server.crt", directory_ / "server.key"};
  }

  /// A fresh pair in files(); the number tells certificates apart.
  void issue(long serial) {
    const Owned<EVP_PKEY> key = make_key();
    const Owned<X509> certificate =
        make_certificate("localhost", serial, key.get(), certificate_.get(), key_.get());
    write_certificate(certificate.get(), files().certificate_chain);
    write_key(key.get());
  }
  /// A key that does not belong to the certificate.
  void spoil_key() { write_key(make_key().get()); }

 private:
  static void write_certificate(X509* certificate, const std::string& path) {
    const Owned<std::FILE> file(std::fopen(path.c_str(), "w"));
    PEM_write_X509(file.get(), certificate);
  }
  void write_key(EVP_PKEY* key) {
    const Owned<std::FILE> file(std::fopen(files().private_key.c_str(), "w"));
    PEM_write_PrivateKey(file.get(), key, nullptr, nullptr, 0, nullptr, nullptr);
  }

  static inline int next_ = 0;
  std::filesystem::path directory_;
  Owned<EVP_PKEY> key_;
  Owned<X509> certificate_;
};

class TlsServer {
 public:
  explicit TlsServer(ServerLimits limits = {}, bool hsts_subdomains = false) {
    authority_.issue(100);
    ServerOptions options;
    options.tls = std::make_unique<TlsFiles>(authority_.files());
    options.limits = limits;
    options.hsts_subdomains = hsts_subdomains;
    server_.emplace(std::move(options));
  }
  Authority& authority() { return authority_; }
  TestServer& operator*() { return *server_; }
  TestServer* operator->() { return &*server_; }
  [[nodiscard]] std::string url(const std::string& host = "127.0.0.1") {
    return "https://" + host + ":" + std::to_string(server_->port());
  }
  Result<net::Response> get(const std::string& target) {
    return net::fetch({.url = url() + target}, authority_.ca_file());
  }

 private:
  Authority authority_{};
  std::optional<TestServer> server_{};
};

struct Handshake {
  bool done = false;
  std::string version{};
  std::string cipher{};
  std::string protocol{};
  long serial = 0;
};

/// A handshake with settings of the test's choice.
template <class Configure>
Handshake shake_hands(std::uint16_t port, Configure configure) {
  Handshake result;
  const Owned<SSL_CTX> context(SSL_CTX_new(TLS_client_method()));
  configure(context.get());
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    const Owned<SSL> ssl(SSL_new(context.get()));
    net::attach_socket(ssl.get(), socket);
    result.done = SSL_connect(ssl.get()) == 1;
    if (result.done) {
      result.version = SSL_get_version(ssl.get());
      result.cipher = SSL_get_cipher_name(ssl.get());
      const Owned<X509> certificate(SSL_get1_peer_certificate(ssl.get()));
      result.serial = ASN1_INTEGER_get(X509_get0_serialNumber(certificate.get()));
      const unsigned char* name = nullptr;
      unsigned int size = 0;
      SSL_get0_alpn_selected(ssl.get(), &name, &size);
      if (size != 0) result.protocol.assign(reinterpret_cast<const char*>(name), size);
      SSL_shutdown(ssl.get());
    }
  }
  ERR_clear_error();
  ::close(socket);
  return result;
}

long serial_of(std::uint16_t port) {
  return shake_hands(port, [](SSL_CTX*) {}).serial;
}

TEST(Tls, RequestsAreServedAndTheCertificateIsVerified) {
  TlsServer server;

  const auto answer = server.get("/x");
  const auto by_name =
      net::fetch({.url = server.url("localhost") + "/y"}, server.authority().ca_file());
  const auto posted = net::fetch(
      {.method = "POST", .url = server.url() + "/large", .body = std::string(5U << 20U, 'x')},
      server.authority().ca_file());
  const auto big = server.get("/big");

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->body, "GET /x ");
  EXPECT_EQ(answer->header("Strict-Transport-Security"), "max-age=31536000");
  ASSERT_TRUE(by_name) << by_name.error().message;
  ASSERT_TRUE(posted) << posted.error().message;
  EXPECT_EQ(posted->body.size(), (5U << 20U) + 12);
  ASSERT_TRUE(big) << big.error().message;
  EXPECT_EQ(big->body.size(), 32U << 20U);
}

TEST(Tls, BrowsersAreToldOfSubdomainsIfTheSettingSaysSo) {
  TlsServer server({}, true);

  const auto answer = server.get("/x");

  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->header("Strict-Transport-Security"), "max-age=31536000; includeSubDomains");
}

TEST(Tls, AClientRefusesAnUnknownAuthorityAndAWrongName) {
  TlsServer server;
  const Authority other;

  const auto unknown = net::fetch({.url = server.url()}, other.ca_file());
  const auto system = net::fetch({.url = server.url()});
  const auto wrong = net::fetch({.url = server.url("127.0.0.2")}, server.authority().ca_file());

  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().kind, ErrorKind::unavailable);
  EXPECT_FALSE(system);
  EXPECT_FALSE(wrong);
  EXPECT_TRUE(server->targets().empty());
}

TEST(Tls, OnlyModernVersionsAndCiphersAreSpoken) {
  TlsServer server;
  const std::uint16_t port = server->port();

  const auto tls13 = shake_hands(port, [](SSL_CTX*) {});
  EXPECT_EQ(tls13.version, "TLSv1.3");

  const auto tls12 = shake_hands(
      port, [](SSL_CTX* context) { SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION); });
  EXPECT_EQ(tls12.version, "TLSv1.2");
  EXPECT_TRUE(tls12.cipher.starts_with("ECDHE-")) << tls12.cipher;

  const auto tls11 = shake_hands(port, [](SSL_CTX* context) {
    SSL_CTX_set_security_level(context, 0);
    SSL_CTX_set_min_proto_version(context, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(context, TLS1_1_VERSION);
  });
  EXPECT_FALSE(tls11.done);

  for (const char* cipher :
       {"ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA", "AES128-GCM-SHA256"}) {
    const auto weak = shake_hands(port, [cipher](SSL_CTX* context) {
      SSL_CTX_set_max_proto_version(context, TLS1_2_VERSION);
      SSL_CTX_set_cipher_list(context, cipher);
    });
    EXPECT_FALSE(weak.done) << cipher;
  }
}

TEST(Tls, Http11IsChosenFromWhatTheClientOffers) {
  TlsServer server;

  const auto both = shake_hands(server->port(), [](SSL_CTX* context) {
    constexpr unsigned char offered[] = "\x02h2\x08http/1.1";
    SSL_CTX_set_alpn_protos(context, offered, sizeof offered - 1);
  });

  EXPECT_TRUE(both.done);
  EXPECT_EQ(both.protocol, "http/1.1");
}

TEST(Tls, AReloadedCertificateIsShownToNewConnections) {
  TlsServer server;
  ASSERT_EQ(serial_of(server->port()), 100);

  server.authority().issue(200);
  EXPECT_EQ(serial_of(server->port()), 100) << "nothing changes before the reload";
  const Result<void> reloaded = server->server().reload_tls();

  ASSERT_TRUE(reloaded) << reloaded.error().message;
  EXPECT_EQ(serial_of(server->port()), 200);
}

TEST(Tls, ABadPairLeavesTheOldOneInUse) {
  TlsServer server;
  server.authority().issue(200);
  server.authority().spoil_key();

  const Result<void> mismatched = server->server().reload_tls();
  std::filesystem::remove(server.authority().files().certificate_chain);
  const Result<void> missing = server->server().reload_tls();

  ASSERT_FALSE(mismatched);
  EXPECT_EQ(mismatched.error().kind, ErrorKind::invalid_argument);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::invalid_argument);
  EXPECT_EQ(serial_of(server->port()), 100);
}

TEST(Tls, PlainHttpOnATlsPortIsClosed) {
  TlsServer server;
  RawClient client(server->port());

  client.send(get("/x"));

  const std::string all = client.read_all();
  EXPECT_EQ(all.find("HTTP/"), std::string::npos);
  EXPECT_TRUE(server->targets().empty());
  EXPECT_TRUE(server.get("/after"));
}

TEST(Tls, AHandshakeThatStallsIsCutOff) {
  ServerLimits limits;
  limits.handshake_deadline = 200ms;
  TlsServer server(limits);
  RawClient silent(server->port());
  RawClient stalled(server->port());
  stalled.send("\x16\x03\x01");

  EXPECT_EQ(silent.read_all(), "");
  EXPECT_EQ(stalled.read_all(), "");
  EXPECT_EQ(server->server().stats().timeouts_total, 2U);
}

TEST(Tls, StoppingEndsConnectionsInEveryState) {
  TlsServer server;
  RawClient in_handshake(server->port());
  in_handshake.send("\x16");
  std::jthread waiting([&server] { EXPECT_FALSE(server.get("/hold")); });
  auto entry = server->held().take();

  server->server().stop(100ms);

  EXPECT_EQ(in_handshake.read_all(), "");
  EXPECT_EQ(server->server().stats().connections_open, 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::http::test
