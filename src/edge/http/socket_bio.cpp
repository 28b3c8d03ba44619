#include "edge/http/socket_bio.h"

#include <openssl/bio.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstdint>

#include "base/assert.h"

namespace hk::http {

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

}  // namespace hk::http
