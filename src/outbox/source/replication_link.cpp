#include "outbox/source/replication_link.h"

#include <libpq-fe.h>

#include <memory>
#include <utility>

#include "outbox/table.h"

namespace hk::outbox {
namespace {

struct FreeBytes {
  void operator()(char* bytes) const { ::PQfreemem(bytes); }
};

struct FreeResult {
  void operator()(PGresult* result) const { ::PQclear(result); }
};
using OwnedResult = std::unique_ptr<PGresult, FreeResult>;

DatabaseError reply_error(const PGresult* result) {
  const char* sqlstate = ::PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* primary = ::PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  return database_error(sqlstate != nullptr ? sqlstate : "",
                        primary != nullptr ? primary : ::PQresultErrorMessage(result));
}

std::string walsender_literal(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    out.append(c == '\'' ? 2 : 1, c);
  }
  return out + "'";
}

}  // namespace

DatabaseResult<ReplicationLink> ReplicationLink::connect(const Secret& database, Millis timeout) {
  auto connected = Database::connect(database, "hikyaku outbox replication", timeout,
                                     /*replication=*/true);
  if (!connected) {
    return std::unexpected(std::move(connected).error());
  }
  return ReplicationLink(std::move(*connected));
}

DatabaseError ReplicationLink::lost() const {
  const std::string said = ::PQerrorMessage(database_.raw());
  return database_error("", said.empty() ? "the replication connection was lost" : said);
}

DatabaseResult<void> ReplicationLink::begin_create(std::string_view slot) {
  // The older spelling of the options, which every version understands.
  const std::string command =
      "CREATE_REPLICATION_SLOT " + quoted_identifier(slot) + " LOGICAL pgoutput NOEXPORT_SNAPSHOT";
  if (::PQsendQuery(database_.raw(), command.c_str()) != 1 || ::PQflush(database_.raw()) < 0) {
    return std::unexpected(lost());
  }
  return {};
}

DatabaseResult<bool> ReplicationLink::poll_created() {
  PGconn* connection = database_.raw();
  if (::PQconsumeInput(connection) == 0) {
    return std::unexpected(lost());
  }
  while (::PQisBusy(connection) == 0) {
    const OwnedResult result(::PQgetResult(connection));
    if (result == nullptr) {
      return true;
    }
    if (::PQresultStatus(result.get()) == PGRES_FATAL_ERROR) {
      return std::unexpected(reply_error(result.get()));
    }
  }
  return false;
}

DatabaseResult<void> ReplicationLink::start(std::string_view slot, std::string_view publication) {
  std::string command = "START_REPLICATION SLOT " + quoted_identifier(slot) +
                        " LOGICAL 0/0 (proto_version '1', publication_names " +
                        walsender_literal(quoted_identifier(publication));
  if (database_.server_version() >= 140'000) {
    command += ", messages 'true'";
  }
  auto started = database_.run(command + ")");
  if (!started) {
    return std::unexpected(std::move(started).error());
  }
  if (::PQresultStatus(started->raw()) != PGRES_COPY_BOTH) {
    return std::unexpected(database_error("", "the server did not begin to replicate"));
  }
  return {};
}

DatabaseResult<bool> ReplicationLink::read(
    std::size_t frames_max, const std::function<Result<void>(const ReplicationFrame&)>& take) {
  PGconn* connection = database_.raw();
  if (::PQconsumeInput(connection) == 0) {
    return std::unexpected(lost());
  }
  for (std::size_t i = 0; i < frames_max; ++i) {
    char* data = nullptr;
    const int length = ::PQgetCopyData(connection, &data, /*async=*/1);
    const std::unique_ptr<char, FreeBytes> owned(data);
    if (length == 0) {
      return false;
    }
    if (length < 0) {
      return std::unexpected(length == -1 ? ended() : lost());
    }
    const auto frame = decode_frame({data, static_cast<std::size_t>(length)});
    if (!frame) {
      return std::unexpected(database_error("", frame.error().message));
    }
    if (auto taken = take(*frame); !taken) {
      return std::unexpected(database_error("", taken.error().message));
    }
  }
  return true;
}

/// Why the server ended the stream: an error of the plugin, or its own end.
DatabaseError ReplicationLink::ended() {
  const OwnedResult result(::PQgetResult(database_.raw()));
  if (result != nullptr && ::PQresultStatus(result.get()) == PGRES_FATAL_ERROR) {
    return reply_error(result.get());
  }
  return database_error("", "the server ended the replication");
}

DatabaseResult<void> ReplicationLink::send(const StandbyStatus& status) {
  const std::string message = encode_status(status);
  // 0: it does not fit into the socket now. The next one says more.
  const int put =
      ::PQputCopyData(database_.raw(), message.data(), static_cast<int>(message.size()));
  if (put < 0 || ::PQflush(database_.raw()) < 0) {
    return std::unexpected(lost());
  }
  return {};
}

}  // namespace hk::outbox
