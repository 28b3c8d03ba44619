/// A replication connection: CREATE_REPLICATION_SLOT without waiting for it, START_REPLICATION, and
/// the stream that follows, read and answered without blocking. Knows the protocol, not what the
/// changes mean. The relay's thread.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "outbox/database.h"
#include "outbox/source/replication_frame.h"

namespace hk::outbox {

class ReplicationLink {
 public:
  static DatabaseResult<ReplicationLink> connect(const Secret& database, Millis timeout);

  [[nodiscard]] int fd() const { return database_.fd(); }

  /// Sends the command. The server answers when every transaction that is open now has ended, which
  /// may be in a millisecond or in a day: poll_created() when fd() is readable.
  DatabaseResult<void> begin_create(std::string_view slot);
  /// False: not yet.
  DatabaseResult<bool> poll_created();

  /// From the slot's own position. `publication` also is the prefix of messages.
  DatabaseResult<void> start(std::string_view slot, std::string_view publication);

  /// Hands on what has come, at most `frames_max`; true when more may be there already. An error of
  /// `take` ends it.
  DatabaseResult<bool> read(std::size_t frames_max,
                            const std::function<Result<void>(const ReplicationFrame&)>& take);

  DatabaseResult<void> send(const StandbyStatus& status);

 private:
  explicit ReplicationLink(Database database) : database_(std::move(database)) {}
  [[nodiscard]] DatabaseError lost() const;
  DatabaseError ended();

  Database database_;
};

}  // namespace hk::outbox
