#include "outbox/source/notify_source.h"

#include <utility>

#include "observe/log.h"
#include "outbox/source/look_delay.h"
#include "security/credentials.h"

namespace hk::outbox {
namespace {

/// Every relay on the channel receives the proofs of the others and knows them by this.
constexpr std::string_view proof_prefix = "hikyaku proof ";

std::string new_proof() {
  std::uint64_t nonce = 0;
  security::fill_random(&nonce, sizeof nonce);
  return std::string(proof_prefix) + std::to_string(nonce);
}

}  // namespace

NotifySource::NotifySource(const Settings& settings, NotifyTimes times)
    : database_(settings.direct_database()),
      channel_(settings.table.channel()),
      interval_(settings.poll_interval),
      times_(times) {}

int NotifySource::fd() const { return phase_ == Phase::away ? -1 : wake_.fd(); }

bool NotifySource::take_due() { return std::exchange(due_, false); }

Millis NotifySource::look_again_after(std::size_t idle_looks) const {
  return listening() ? told_delay(interval_, idle_looks) : poll_delay(interval_, idle_looks);
}

Result<void> NotifySource::start() {
  if (auto opened = wake_.open(); !opened) {
    return opened;
  }
  if (auto listened = listen(); !listened) {
    return lost(std::move(listened).error());
  }
  due_ = true;  // what was notified while nobody listened is lost
  return {};
}

/// Ends in proving, listening or polling, or in an error of the connection.
Result<void> NotifySource::listen() {
  connection_.reset();
  auto connected = Database::connect(database_, "hikyaku outbox listen", times_.connect);
  if (!connected) {
    return std::unexpected(std::move(connected).error().error);
  }
  connection_ = std::move(*connected);
  if (auto listened = connection_->run("LISTEN " + quoted_identifier(channel_)); !listened) {
    Error error = std::move(listened).error().error;
    if (error.kind == ErrorKind::unavailable) {
      return std::unexpected(std::move(error));
    }
    fall_back(error.message);
    return {};
  }
  if (auto sent = send_proof(); !sent) {
    return sent;
  }
  if (auto watched = wake_.watch(connection_->fd()); !watched) {
    return watched;
  }
  phase_ = Phase::proving;
  deadline_ = Clock::now() + times_.proof;
  wake_.wake_after(times_.proof);
  return read_notifications();
}

/// From a connection of its own: one's own NOTIFY comes back within the statement that sends it,
/// also through a transaction pooler, and would prove nothing.
Result<void> NotifySource::send_proof() {
  proof_ = new_proof();
  auto other = Database::connect(database_, "hikyaku outbox listen", times_.connect);
  if (!other) {
    return std::unexpected(std::move(other).error().error);
  }
  auto sent = other->run("SELECT pg_notify($1, $2)", {channel_, proof_});
  if (!sent) {
    return std::unexpected(std::move(sent).error().error);
  }
  return {};
}

Result<void> NotifySource::on_readable() {
  if (phase_ == Phase::away) {
    return {};
  }
  const WakeSet::Ready ready = wake_.take();
  if (connection_ && ready.has(connection_->fd())) {
    if (auto read = read_notifications(); !read) {
      return lost(std::move(read).error());
    }
  }
  if (!ready.timer) {
    return {};
  }
  if (auto done = on_timer(); !done) {
    return lost(std::move(done).error());
  }
  return {};
}

Result<void> NotifySource::read_notifications() {
  auto notifications = connection_->take_notifications();
  if (!notifications) {
    return std::unexpected(std::move(notifications).error().error);
  }
  for (const Notification& one : *notifications) {
    if (one.channel != channel_) {
      continue;
    }
    if (!one.payload.starts_with(proof_prefix)) {
      due_ = true;
    } else if (phase_ == Phase::proving && one.payload == proof_) {
      phase_ = Phase::listening;
      said_ = false;
      wake_.wake_after(times_.silence);
    }
  }
  if (phase_ == Phase::listening) {
    deadline_ = Clock::now() + times_.silence;
  }
  return {};
}

Result<void> NotifySource::on_timer() {
  if (phase_ == Phase::polling) {
    // A try that fails changes nothing: the table is polled meanwhile.
    if (auto listened = listen(); !listened) {
      fall_back(listened.error().message);
    }
    due_ = true;
    return {};
  }
  const auto now = Clock::now();
  if (now < deadline_) {
    wake_.wake_after(std::chrono::ceil<Millis>(deadline_ - now));
    return {};
  }
  if (phase_ == Phase::proving) {
    // Somewhere in the pool a server connection listens now and bothers its pooler with it.
    (void)connection_->run("UNLISTEN " + quoted_identifier(channel_));
    fall_back("LISTEN was accepted, but a notification did not arrive");
    return {};
  }
  if (auto alive = connection_->run("SELECT 1"); !alive) {
    return std::unexpected(std::move(alive).error().error);
  }
  wake_.wake_after(times_.silence);
  return read_notifications();
}

void NotifySource::fall_back(std::string_view why) {
  connection_.reset();
  phase_ = Phase::polling;
  wake_.wake_after(times_.try_again);
  if (!std::exchange(said_, true)) {
    observe::log(observe::Level::warn, "outbox.listen_unavailable",
                 {{"channel", channel_},
                  {"error", why},
                  {"instead", "polling"},
                  {"what_to_do",
                   "is a transaction pooler in between? Name a direct connection by "
                   "OUTBOX_LISTEN_DATABASE, or set OUTBOX_SOURCE=poll"}});
  }
}

std::unexpected<Error> NotifySource::lost(Error error) {
  connection_.reset();
  phase_ = Phase::away;
  return std::unexpected(std::move(error));
}

}  // namespace hk::outbox
