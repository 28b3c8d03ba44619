/// The sockets of one I/O thread that are read without Asio. Asio tries to read before it waits, so
/// each request costs it a receive that finds nothing; here a socket is read when the kernel has
/// said that something came. Its own epoll descriptor is one descriptor of Asio's, so that timers,
/// posted work and other sockets go on in the same loop. Everything belongs to the thread that runs
/// the io_context. Linux only.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace hk::net {

class PollSet {
 public:
  /// Who is told of a descriptor's events. Both may remove and end itself and others.
  class Watched {
   public:
    virtual void on_writable() {}
    /// Something came, or the end. `last`: nothing will come behind what can be read now.
    virtual void on_readable(bool last) = 0;

   protected:
    ~Watched() = default;
  };

  /// The io_context outlives the set. Throws std::bad_alloc without a descriptor for it.
  explicit PollSet(boost::asio::io_context& io);
  ~PollSet();
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

  /// Tells of each change from now on, once (edge-triggered), of what is there already too. False:
  /// the kernel has no room for it.
  [[nodiscard]] bool add(int descriptor, Watched& watched);
  /// As if it had changed: told behind everything that is ready now.
  void tell_again(int descriptor, Watched& watched);
  /// Nothing more is told of it. Must be called before the descriptor is closed.
  void remove(int descriptor, Watched& watched);
  /// Tells now what has happened until now, instead of when the loop comes round to it. Does
  /// nothing inside a call of a Watched.
  void poll();

  [[nodiscard]] boost::asio::io_context& io() { return io_; }

 private:
  static constexpr std::size_t events_max = 128;  ///< as many as Asio takes at a time

  void wait();
  /// False: there may be more.
  bool tell();

  boost::asio::io_context& io_;
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> epoll_;
  std::array<epoll_event, events_max> events_{};
  std::size_t next_ = 0;   ///< of events_: the next to be told
  std::size_t count_ = 0;  ///< of events_
  bool telling_ = false;
  std::shared_ptr<PollSet*> self_;  ///< second owner: the wait, which may end after us
};

}  // namespace hk::net
