#include "net/tls.h"

#include <openssl/bio.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "base/assert.h"

namespace hk::net {

namespace {

int socket_of(BIO* bio) {
  return static_cast<int>(reinterpret_cast<std::intptr_t>(BIO_get_data(bio)));
}

bool must_retry(ssize_t result) {
  return result < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = ::recv(socket_of(bio), data, static_cast<std::size_t>(size), 0);
  if (must_retry(result)) BIO_set_retry_read(bio);
  if (result == 0) BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(result);
}

int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  const ssize_t result = ::send(socket_of(bio), data, static_cast<std::size_t>(size), MSG_NOSIGNAL);
  if (must_retry(result)) BIO_set_retry_write(bio);
  return static_cast<int>(result);
}

long bio_ctrl(BIO* bio, int command, long, void*) {
  switch (command) {
    case BIO_CTRL_FLUSH: return 1;
    case BIO_CTRL_EOF: return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    default: return 0;
  }
}

int bio_create(BIO* bio) {
  BIO_set_init(bio, 1);
  return 1;
}

BIO_METHOD* make_method() {
  BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "hikyaku socket");
  HK_ASSERT(method != nullptr);
  BIO_meth_set_read(method, bio_read);
  BIO_meth_set_write(method, bio_write);
  BIO_meth_set_ctrl(method, bio_ctrl);
  BIO_meth_set_create(method, bio_create);
  return method;
}

}  // namespace

void attach_socket(SSL* ssl, int socket) {
  static BIO_METHOD* const method = make_method();  // lives as long as the process
  BIO* bio = BIO_new(method);
  HK_ASSERT(bio != nullptr);
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a number kept as a pointer, which nobody follows
  BIO_set_data(bio, reinterpret_cast<void*>(static_cast<std::intptr_t>(socket)));
  SSL_set_bio(ssl, bio, bio);
}

bool expect_host(SSL* ssl, const std::string& host, HostKind kind) {
  if (kind != HostKind::name) {  // SNI carries names only
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  }
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  // What the macro SSL_set_tlsext_host_name does, without its C cast.
  return SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                  const_cast<char*>(host.c_str())) == 1 &&
         SSL_set1_host(ssl, host.c_str()) == 1;
}

std::string certificate_fault(const SSL* ssl) {
  const long verified = SSL_get_verify_result(ssl);
  return verified == X509_V_OK ? "" : X509_verify_cert_error_string(verified);
}

}  // namespace hk::net
