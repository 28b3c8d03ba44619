#include <gtest/gtest.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <boost/asio.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <thread>

#include "net/client.h"

namespace hk::net {
namespace HK_TEST_FILE {

namespace asio = boost::asio;
namespace beast_http = boost::beast::http;
using Tcp = asio::ip::tcp;
using namespace std::chrono_literals;

struct Certificate {
  std::string chain;
  std::string key;
};

template <class Write>
std::string pem(Write write) {
  const std::unique_ptr<BIO, decltype(&BIO_free)> memory(BIO_new(BIO_s_mem()), BIO_free);
  write(memory.get());
  char buffer[8192];
  const int size = BIO_read(memory.get(), buffer, sizeof buffer);
  return {buffer, static_cast<std::size_t>(std::max(size, 0))};
}

/// Signed by itself, for an hour; subject: "IP:127.0.0.1".
Certificate make_certificate(const char* subject) {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(
      EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509* const x = certificate.get();
  X509_set_version(x, 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -60);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("server"), -1, -1, 0);
  X509_set_issuer_name(x, X509_get_subject_name(x));
  X509_EXTENSION* const names =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, subject);
  X509_add_ext(x, names, -1);
  X509_EXTENSION_free(names);
  X509_sign(x, key.get(), EVP_sha256());
  return {pem([x](BIO* out) { PEM_write_bio_X509(out, x); }), pem([&key](BIO* out) {
            PEM_write_bio_PrivateKey(out, key.get(), nullptr, nullptr, 0, nullptr, nullptr);
          })};
}

/// Serves one request over TLS; the body that arrived, empty if none did.
class TlsServer {
 public:
  explicit TlsServer(const Certificate& certificate) {
    tls_.use_certificate_chain(asio::buffer(certificate.chain));
    tls_.use_private_key(asio::buffer(certificate.key), asio::ssl::context::pem);
    thread_ = std::thread([this] { serve(); });
  }
  ~TlsServer() { thread_.join(); }

  [[nodiscard]] std::string port() const {
    return std::to_string(acceptor_.local_endpoint().port());
  }
  std::string body() {
    thread_.join();
    thread_ = std::thread([] {});
    return body_;
  }

 private:
  void serve() {
    boost::system::error_code failed;
    asio::ssl::stream<Tcp::socket> stream(acceptor_.accept(), tls_);
    stream.handshake(asio::ssl::stream_base::server, failed);
    boost::beast::flat_buffer buffer;
    beast_http::request<beast_http::string_body> request;
    if (!failed) {
      beast_http::read(stream, buffer, request, failed);
    }
    if (!failed) {
      body_ = request.body();
      beast_http::response<beast_http::string_body> response{beast_http::status::ok, 11};
      response.prepare_payload();
      beast_http::write(stream, response, failed);
    }
  }

  asio::io_context context_;
  Tcp::acceptor acceptor_{context_, {asio::ip::address_v4::loopback(), 0}};
  asio::ssl::context tls_{asio::ssl::context::tls_server};
  std::string body_;
  std::thread thread_;
};

/// The roots that OpenSSL calls the system's are those of SSL_CERT_FILE while it is set.
class TrustedRoot {
 public:
  explicit TrustedRoot(const std::string& chain) {
    std::string name = (std::filesystem::temp_directory_path() / "hikyaku-root-XXXXXX").string();
    directory_ = ::mkdtemp(name.data());
    const std::string path = directory_ + "/root.pem";
    std::ofstream(path) << chain;
    ::setenv("SSL_CERT_FILE", path.c_str(), 1);
  }
  ~TrustedRoot() {
    ::unsetenv("SSL_CERT_FILE");
    std::filesystem::remove_all(directory_);
  }
  TrustedRoot(const TrustedRoot&) = delete;
  TrustedRoot& operator=(const TrustedRoot&) = delete;

 private:
  std::string directory_;
};

TEST(Client, TrustsAServerOnlyByARootAndItsName) {
  struct Row {
    std::string_view name;
    const char* subject;
    bool trusted;
    bool arrives;
  };
  const Row rows[] = {
      {"trusted and named", "IP:127.0.0.1", true, true},
      {"unknown root", "IP:127.0.0.1", false, false},
      {"another address", "IP:127.0.0.2", true, false},
      {"another name", "DNS:server.example", true, false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Certificate certificate = make_certificate(row.subject);
    const TrustedRoot root(row.trusted ? certificate.chain : make_certificate(row.subject).chain);
    TlsServer server(certificate);
    const Request request{.method = "POST",
                          .url = "https://127.0.0.1:" + server.port() + "/x",
                          .body = "{}",
                          .timeout = 30s};
    const auto by_system = Client().send(request);

    EXPECT_EQ(by_system.has_value(), row.arrives)
        << (by_system ? "sent" : by_system.error().message);
    EXPECT_EQ(server.body(), row.arrives ? "{}" : "");
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::net
