/// The sockets of one I/O thread that are read without Asio. Asio tries to read before it waits, so
/// each request costs it a receive that finds nothing; here a socket is read when the kernel has
/// said that something came. Its own epoll descriptor is one descriptor of Asio's, so that timers,
/// posted work and other sockets go on in the same loop. Everything belongs to the thread that runs
/// the io_context. Linux only.
///
/// Parties take turns: what has come is asked for a few sockets at a time and put into a line for
/// each party, and the lines are served one socket each. So who has a thousand sockets ready is a
/// thousand turns of its own behind, and everybody else a few.
#pragma once

#include <sys/epoll.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/intrusive/list.hpp>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <unordered_map>

namespace hk::net {

class PollSet {
  struct Line;

 public:
  /// Whose sockets wait in one line. Whatever tells them apart: the set compares it, no more.
  using Party = std::uint64_t;
  static constexpr Party unknown = 0;  ///< of who has not said who it is
  /// Of all whose peer has closed or is gone: thousands that leave at once hold up nobody.
  static constexpr Party leaving = std::numeric_limits<Party>::max();

  /// Who is told of a descriptor's events. Both may remove and end itself and others.
  class Watched {
   public:
    virtual void on_writable() {}
    /// Something came, or the end. `last`: nothing will come behind what can be read now.
    virtual void on_readable(bool last) = 0;

   protected:
    virtual ~Watched() = default;

   private:
    friend class PollSet;
    Line* line_ = nullptr;      ///< null: not in a set
    std::uint32_t events_ = 0;  ///< not told yet; in the line while there are any
    boost::intrusive::list_member_hook<> place_{};
  };

  /// The io_context outlives the set. Throws std::bad_alloc without a descriptor for it.
  explicit PollSet(boost::asio::io_context& io);
  ~PollSet();
  PollSet(const PollSet&) = delete;
  PollSet& operator=(const PollSet&) = delete;

  /// Tells of each change from now on, once (edge-triggered), of what is there already too. False:
  /// the kernel has no room for it.
  [[nodiscard]] bool add(int descriptor, Watched& watched);
  /// From now on it waits in that party's line.
  void set_party(Watched& watched, Party party);
  /// Nothing more is told of it. Must be called before the descriptor is closed.
  void remove(int descriptor, Watched& watched);
  /// Tells now what has happened until now, instead of when the loop comes round to it. Does
  /// nothing inside a call of a Watched.
  void poll();

  /// Who has no descriptor is told once (on_readable) at the end of the longest line: when
  /// everything that is ready now has had its turn, about.
  void tell_behind_all(Watched& watched);
  /// Not any more.
  void forget(Watched& watched);

  /// For what is read from one socket and used before the next one is.
  static constexpr std::size_t room_bytes = std::size_t{64} * 1024;
  [[nodiscard]] char* room() { return room_.get(); }

  [[nodiscard]] boost::asio::io_context& io() { return io_; }

 private:
  using Ready = boost::intrusive::list<
      Watched, boost::intrusive::member_hook<Watched, boost::intrusive::list_member_hook<>,
                                             &Watched::place_>>;
  /// One party's. There is one as long as anybody of that party is in the set.
  struct Line : boost::intrusive::list_base_hook<> {
    Party party = unknown;
    std::size_t members = 0;
    Ready ready{};  ///< first come, first told; while there are any, it is in round_
  };

  void go_on();
  void wait();
  /// What the loop calls: a bounded number of turns.
  void go_round();
  void look_and_tell(int looks);
  void collect();
  void line_up(Watched& watched, std::uint32_t events);
  void tell(Line& line);
  Line& line_of(Party party);
  static void join(Watched& watched, Line& line);
  void leave(Watched& watched);
  [[nodiscard]] bool anything_ready() const { return !round_.empty() || behind_all_ != nullptr; }

  static constexpr std::size_t events_max = 128;  ///< as many as Asio takes at a time

  boost::asio::io_context& io_;
  boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type> epoll_;
  std::array<epoll_event, events_max> events_{};
  std::unique_ptr<char[]> room_ = std::make_unique_for_overwrite<char[]>(room_bytes);
  std::unordered_map<Party, Line> lines_;
  boost::intrusive::list<Line> round_{};  ///< those with somebody ready, in turn
  Watched* behind_all_ = nullptr;         ///< to be put at the end of the longest line
  Watched* told_ = nullptr;               ///< just now; null when it was removed meanwhile
  bool telling_ = false;
  bool waits_ = false;   ///< for the kernel
  bool posted_ = false;  ///< the loop comes to go_round() by itself
  std::shared_ptr<PollSet*>
      self_;  ///< second owners: the wait and the post, which may end after us
};

}  // namespace hk::net
