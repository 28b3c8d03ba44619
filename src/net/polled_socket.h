/// A connected TCP socket in a PollSet: one receive per arrival, no buffers of its own. One read,
/// or one wait for something to read, and waits for writing may be under way; their handlers are
/// never called from inside the call that starts them, and each is called once: after close() with
/// operation_aborted. The thread of the set only.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>
#include <functional>

#include "net/poll_set.h"

namespace hk::net {

class PolledSocket final : public PollSet::Watched {
 public:
  using Failure = boost::system::error_code;
  using ReadDone = std::move_only_function<void(const Failure&, std::size_t)>;
  using WaitDone = std::move_only_function<void(const Failure&)>;
  using Socket = boost::asio::basic_stream_socket<boost::asio::ip::tcp,
                                                  boost::asio::io_context::executor_type>;

  /// Takes the socket out of Asio's hands. REQUIRES: connected, non-blocking, nothing under way.
  /// Throws std::bad_alloc if the kernel has no room for it. The set outlives it.
  PolledSocket(PollSet& set, Socket socket);
  ~PolledSocket() { close(); }
  PolledSocket(const PolledSocket&) = delete;
  PolledSocket& operator=(const PolledSocket&) = delete;

  /// Ends with eof when the peer has closed its side. REQUIRES: size > 0; `data` stays until then.
  void async_read_some(char* data, std::size_t size, ReadDone done);
  /// The same into the set's room, where it stays until `done` returns. REQUIRES: no more than
  /// PollSet::room_bytes.
  void async_read_to_room(std::size_t size, ReadDone done) {
    async_read_some(set_.room(), size, std::move(done));
  }
  [[nodiscard]] const char* room() const { return set_.room(); }
  /// For who reads from the descriptor itself, and has just found nothing there.
  void async_wait_readable(WaitDone done) { readable_done_ = std::move(done); }
  /// For who has just found no room.
  void async_wait_writable(WaitDone done);
  /// What the kernel takes now; would_block when that is nothing.
  std::size_t write_some(const char* data, std::size_t size, Failure& failure);
  void shutdown_send();
  void close();
  /// Whose line it waits in to be read.
  void set_party(PollSet::Party party) { set_.set_party(*this, party); }

  /// What has come was not read to its end, as far as the set has told: the next read need not
  /// wait.
  [[nodiscard]] bool may_have_more() const { return readable_; }
  /// -1 once closed.
  [[nodiscard]] int descriptor() const { return descriptor_; }

  void on_writable() override;
  void on_readable(bool last) override;

 private:
  void try_read();

  PollSet& set_;
  int descriptor_ = -1;
  bool readable_ = false;
  bool queued_ = false;  ///< a posted read will come: until then nobody else reads
  bool last_ = false;    ///< the peer has closed its side: then a short read is not the end
  char* data_ = nullptr;
  std::size_t size_ = 0;
  ReadDone read_done_{};
  WaitDone readable_done_{};
  WaitDone write_done_{};
};

}  // namespace hk::net
