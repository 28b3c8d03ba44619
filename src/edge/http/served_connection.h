/// What a connection knows of itself: what it reads, what it owes, what it waits for. Used by
/// connection.cpp alone, for plain sockets and for TLS.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "edge/http/connection.h"
#include "edge/http/pipeline.h"
#include "edge/http/read_buffer.h"
#include "edge/http/request_reader.h"
#include "edge/http/responder.h"

namespace hk::http {

template <class Stream>
class Connection final : public ConnectionBase,
                         public Responder::Target,
                         public std::enable_shared_from_this<Connection<Stream>> {
 public:
  template <class... StreamArguments>
  Connection(IoLoop& loop, ServerCore& core, Peer peer, StreamArguments&&... arguments)
      : loop_(loop),
        core_(core),
        peer_(std::move(peer)),
        stream_(std::in_place, std::forward<StreamArguments>(arguments)...),
        reader_(core.limits, core.bodies) {}

  void start();
  void respond(std::uint64_t slot, Response response) override;
  void watch(std::uint64_t slot, std::move_only_function<void()> told) override;
  void belongs_to(std::uint64_t party) override {
    if (!closed_) stream_->set_party(party);
  }
  void on_deadline(Clock::time_point now) override;
  void drain() override;
  void abort() override { close(); }

 private:
  /// What the peer is expected to do; decides which deadline runs.
  enum class Phase : std::uint8_t { handshake, idle, head, body, busy, linger };

  // Reading.
  void read();
  void on_read(const Failure& failure, std::size_t bytes);
  void process();
  void dispatch();
  void refuse(Refusal refusal);
  [[nodiscard]] Response answer_to(const Refusal& refusal) const;
  [[nodiscard]] bool may_start_request() const;
  // Writing.
  void flush();
  void wait_writable();
  void send_continue_if_owed();
  void flush_soon();
  [[nodiscard]] bool all_sent() const { return sent_ == sending_.size() && out_.empty(); }
  // Life.
  void settle();
  void enter_phase();
  [[nodiscard]] Phase current_phase() const;
  [[nodiscard]] Clock::time_point next_deadline() const;
  [[nodiscard]] Clock::time_point body_deadline() const;
  [[nodiscard]] bool is_over() const;
  void begin_linger();
  void time_out();
  void close();
  void finish_operation();

  IoLoop& loop_;
  ServerCore& core_;
  const Peer peer_;
  std::optional<Stream> stream_;        ///< empty once closed and no operation is pending
  std::shared_ptr<Connection> self_{};  ///< the connection's own hold on itself while open
  std::atomic<bool> closed_{false};     ///< written on the loop's thread only
  std::size_t operations_ = 0;          ///< pending ones; each comes back to finish_operation()

  RequestReader reader_;
  ReadBuffer input_{};
  bool reading_ = false;
  bool processing_ = false;
  bool input_ended_ = false;  ///< no further request will be read
  bool peer_ended_ = false;   ///< it sends nothing any more
  bool continue_owed_ = false;
  std::uint64_t requests_ = 0;

  Pipeline pipeline_{};
  std::string out_{};      ///< responses to send next
  std::string sending_{};  ///< being sent; stays put while a write is pending
  std::size_t sent_ = 0;   ///< of sending_
  bool writing_ = false;
  bool flush_queued_ = false;
  std::uint64_t sent_total_ = 0;
  std::uint64_t write_mark_ = 0;  ///< sent_total_ when the write deadline was last set
  Clock::time_point write_deadline_{};

  Phase phase_ = Phase::idle;
  std::uint64_t phase_request_ = 0;
  Clock::time_point phase_since_{};
  std::uint64_t body_received_ = 0;
};

}  // namespace hk::http
