#include "outbox/source/replication_source.h"

#include <utility>

#include "observe/log.h"
#include "outbox/source/look_delay.h"

namespace hk::outbox {
namespace {

constexpr std::string_view object_in_use = "55006";
constexpr std::string_view already_exists = "42710";
constexpr std::string_view undefined_object = "42704";
constexpr std::string_view limit_exceeded = "53400";

}  // namespace

ReplicationSource::ReplicationSource(Settings settings, ReplicationPace pace)
    : settings_(std::move(settings)),
      pace_(pace),
      channel_(settings_.table.channel()),
      progress_(channel_) {}

int ReplicationSource::fd() const { return phase_ == Phase::away ? -1 : wake_.fd(); }

Millis ReplicationSource::look_again_after(std::size_t idle_looks) const {
  const bool told = phase_ == Phase::streaming || phase_ == Phase::standby;
  if (!told) {
    return poll_delay(settings_.poll_interval, idle_looks);
  }
  const Millis delay = told_delay(settings_.poll_interval, idle_looks);
  return told_ ? unseen_delay(delay, std::chrono::floor<Millis>(Clock::now() - *told_)) : delay;
}

// ---- to the slot ----

Result<void> ReplicationSource::start() {
  if (auto opened = wake_.open(); !opened) {
    return opened;
  }
  link_.reset();
  if (auto connected = connect_watch(); !connected) {
    return lost(std::move(connected).error());
  }
  if (auto taken = take_slot(); !taken) {
    return lost(std::move(taken).error());
  }
  progress_.make_due();
  arm();
  return {};
}

Result<void> ReplicationSource::connect_watch() {
  watch_.reset();
  auto connected =
      Database::connect(settings_.direct_database(), "hikyaku outbox slot", pace_.connect);
  if (!connected) {
    return std::unexpected(std::move(connected).error().error);
  }
  watch_ = std::move(*connected);
  auto name = watch_->run("SELECT current_database()");
  if (!name) {
    return std::unexpected(std::move(name).error().error);
  }
  slot_ = slot_name(settings_, name->text(0, 0));
  // PostgreSQL that stops ends this connection first and then waits for what replicates: seeing
  // its end is how a stream that owes something lets the server go.
  return wake_.watch(watch_->fd());
}

/// Ends in creating, standby or streaming.
Result<void> ReplicationSource::take_slot() {
  auto state = read_slot(*watch_, slot_, settings_.table);
  if (!state) {
    return std::unexpected(std::move(state).error());
  }
  if (auto checked = check_slot(*state, slot_, settings_.table); !checked) {
    return checked;
  }
  measure(*state);
  if (!state->exists) {
    return create();
  }
  if (state->active) {
    stand_by(state->active_pid);
    return {};
  }
  if (state->lost || rebuild_) {
    return drop_for_rebuild(*state);
  }
  return stream(state->confirmed);
}

Result<void> ReplicationSource::drop_for_rebuild(const SlotState& state) {
  auto dropped = watch_->run("SELECT pg_drop_replication_slot($1)", {slot_});
  if (!dropped && dropped.error().sqlstate == object_in_use) {
    stand_by(0);
    return {};
  }
  if (!dropped && dropped.error().sqlstate != undefined_object) {
    return std::unexpected(std::move(dropped).error().error);
  }
  rebuild_ = false;
  observe::log(observe::Level::warn, "outbox.slot_rebuilt",
               {{"slot", slot_},
                {"reason", state.lost ? "the server had removed the log that the slot needs "
                                        "(max_slot_wal_keep_size)"
                                      : "the slot is older than the publication"},
                {"instead", "the table is looked through: nothing is lost"}});
  return create();
}

Result<void> ReplicationSource::connect_link() {
  link_.reset();
  auto connected = ReplicationLink::connect(settings_.direct_database(), pace_.connect);
  if (connected) {
    link_ = std::move(*connected);
    return wake_.watch(link_->fd());
  }
  auto role = watch_->run(
      "SELECT rolsuper OR rolreplication, current_user FROM pg_catalog.pg_roles"
      " WHERE rolname = current_user");
  if (role && role->size() == 1 && !role->flag(0, 0)) {
    const std::string user(role->text(0, 1));
    return fail(ErrorKind::permission_denied,
                connected.error().error.message + ": let the role replicate (ALTER ROLE " +
                    quoted_identifier(user) + " REPLICATION), or set OUTBOX_SOURCE=notify");
  }
  return std::unexpected(std::move(connected).error().error);
}

Result<void> ReplicationSource::create() {
  if (auto connected = connect_link(); !connected) {
    return connected;
  }
  if (auto sent = link_->begin_create(slot_); !sent) {
    return std::unexpected(std::move(sent).error().error);
  }
  phase_ = Phase::creating;
  schedule_tick();
  return {};
}

Result<void> ReplicationSource::stream(Lsn confirmed) {
  if (auto connected = connect_link(); !connected) {
    return connected;
  }
  auto started = link_->start(slot_, channel_);
  if (!started) {
    if (started.error().sqlstate == object_in_use) {
      stand_by(0);
      return {};
    }
    Error error = std::move(started).error().error;
    // Somebody dropped it between our look and our try: the next try creates it.
    error.kind = error.kind == ErrorKind::not_found ? ErrorKind::unavailable : error.kind;
    return std::unexpected(std::move(error));
  }
  phase_ = Phase::streaming;
  said_standby_ = false;
  heard_ = Clock::now();
  progress_.restart(confirmed);
  schedule_tick();
  return read_stream();  // what came with the answer does not make the descriptor readable again
}

void ReplicationSource::stand_by(std::int64_t holder) {
  link_.reset();
  unread_ = false;
  rebuild_ = false;  // whoever has it may have mended it
  phase_ = Phase::standby;
  schedule_tick();
  if (!std::exchange(said_standby_, true)) {
    observe::log(observe::Level::info, "outbox.slot_taken",
                 {{"slot", slot_}, {"server_process", holder}});
  }
}

// ---- on the slot ----

Result<void> ReplicationSource::on_readable() {
  if (phase_ == Phase::away) {
    return {};
  }
  if (auto read = read_ready(wake_.take()); !read) {
    return lost(std::move(read).error());
  }
  return {};
}

Result<void> ReplicationSource::read_ready(const WakeSet::Ready& ready) {
  if (ready.has(watch_->fd())) {
    if (auto alive = watch_->take_notifications(); !alive) {
      return std::unexpected(std::move(alive).error().error);
    }
  }
  if (link_ && (ready.timer || ready.has(link_->fd()))) {
    auto read = phase_ == Phase::creating ? read_created() : read_stream();
    if (!read) {
      return read;
    }
  }
  if (Clock::now() >= next_tick_) {
    if (auto ticked = tick(); !ticked) {
      return ticked;
    }
  }
  arm();
  return {};
}

Result<void> ReplicationSource::read_created() {
  auto created = link_->poll_created();
  if (created && !*created) {
    return {};
  }
  if (created) {
    observe::log(observe::Level::info, "outbox.slot_created", {{"slot", slot_}});
  } else if (created.error().sqlstate == limit_exceeded) {
    return fail(ErrorKind::quota_reached,
                "the server has no replication slot left: raise max_replication_slots, drop one "
                "that nobody uses (pg_replication_slots shows them), or set OUTBOX_SOURCE=notify");
  } else if (created.error().sqlstate != already_exists) {
    return std::unexpected(std::move(created).error().error);
  }
  return take_slot();
}

Result<void> ReplicationSource::read_stream() {
  auto more = link_->read(pace_.frames_per_read_max,
                          [this](const ReplicationFrame& frame) { return take_frame(frame); });
  if (!more) {
    // The plugin looks the publication up as it was when the change was made. A slot that is older
    // than the publication never gets past that change.
    rebuild_ = rebuild_ || more.error().sqlstate == undefined_object;
    Error error = std::move(more).error().error;
    error.kind = ErrorKind::unavailable;
    return std::unexpected(std::move(error));
  }
  unread_ = *more;
  return {};
}

Result<void> ReplicationSource::take_frame(const ReplicationFrame& frame) {
  heard_ = Clock::now();
  if (const auto* keepalive = std::get_if<Keepalive>(&frame)) {
    progress_.on_keepalive(keepalive->end);
    return keepalive->reply_wanted ? send_status(false) : Result<void>{};
  }
  const auto change = pgoutput::decode(std::get<WalData>(frame).data);
  if (!change) {
    return std::unexpected(change.error());
  }
  progress_.on_change(*change);
  if (std::holds_alternative<pgoutput::Commit>(*change) && progress_.due()) {
    told_ = heard_;
  }
  return {};
}

Result<void> ReplicationSource::looked_through() {
  if (!progress_.looked_through() || phase_ != Phase::streaming) {
    return {};
  }
  if (auto sent = send_status(false); !sent) {
    return lost(std::move(sent).error());
  }
  return {};
}

Result<void> ReplicationSource::tick() {
  if (phase_ == Phase::standby) {
    return take_slot();
  }
  schedule_tick();
  auto state = read_slot(*watch_, slot_, settings_.table);
  if (!state) {
    return std::unexpected(std::move(state).error());
  }
  measure(*state);
  if (phase_ != Phase::streaming) {
    return {};
  }
  const auto silent = Clock::now() - heard_;
  if (silent >= pace_.silence) {
    return fail(ErrorKind::unavailable, "the replication connection has been silent for " +
                                            std::to_string(pace_.silence.count()) + " ms");
  }
  return send_status(silent >= pace_.ask);
}

Result<void> ReplicationSource::send_status(bool reply_wanted) {
  StandbyStatus status;
  status.received = progress_.received();
  status.confirmed = progress_.confirmed();
  status.now = std::chrono::floor<Millis>(std::chrono::system_clock::now());
  status.reply_wanted = reply_wanted;
  if (auto sent = link_->send(status); !sent) {
    return std::unexpected(std::move(sent).error().error);
  }
  return {};
}

void ReplicationSource::measure(const SlotState& state) {
  retained_ = state.retained_wal;
  const bool too_much = state.retained_wal > settings_.slot_wal_max;
  if (too_much && !said_retains_) {
    observe::log(observe::Level::warn, "outbox.slot_retains_wal",
                 {{"slot", slot_},
                  {"retained_bytes", state.retained_wal},
                  {"limit_bytes", settings_.slot_wal_max},
                  {"what_to_do",
                   "is the relay behind, or is a transaction open for long? "
                   "`hikyaku outbox drop-slot` lets the log go; no row is lost"}});
  }
  said_retains_ = too_much;
}

void ReplicationSource::schedule_tick() {
  next_tick_ = Clock::now() + (phase_ == Phase::standby ? pace_.take_over : pace_.tick);
}

void ReplicationSource::arm() {
  const auto left = std::chrono::ceil<Millis>(next_tick_ - Clock::now());
  wake_.wake_after(unread_ ? Millis{0} : left);
}

std::unexpected<Error> ReplicationSource::lost(Error error) {
  link_.reset();
  watch_.reset();
  unread_ = false;
  phase_ = Phase::away;
  return std::unexpected(std::move(error));
}

}  // namespace hk::outbox
