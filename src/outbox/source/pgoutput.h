/// The messages of PostgreSQL's logical replication (output plugin `pgoutput`, protocol version 1,
/// no streaming of open transactions), as far as a relay wants to know them: which transaction did
/// what to which table; the values of rows are checked but not kept. Pure; texts point into the
/// bytes that were decoded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"

namespace hk::outbox {

/// A position in PostgreSQL's write-ahead log. 0 is none.
using Lsn = std::uint64_t;

namespace pgoutput {

struct Begin {
  Lsn commit_lsn = 0;
  std::int64_t committed_at = 0;  ///< microseconds since 2000
  std::uint32_t transaction = 0;
};

struct Commit {
  Lsn commit_lsn = 0;
  Lsn end_lsn = 0;  ///< confirming this position is confirming the transaction
  std::int64_t committed_at = 0;
};

struct Origin {
  Lsn commit_lsn = 0;
  std::string_view name{};
};

struct Column {
  bool key = false;
  std::string_view name{};
  std::uint32_t type = 0;
  std::int32_t modifier = 0;
};

struct Relation {
  std::uint32_t id = 0;
  std::string_view schema{};  ///< "" is pg_catalog
  std::string_view name{};
  char identity = 'd';
  std::vector<Column> columns{};
};

struct Type {
  std::uint32_t id = 0;
  std::string_view schema{};
  std::string_view name{};
};

struct Insert {
  std::uint32_t relation = 0;
  std::size_t columns = 0;
};

struct Update {
  std::uint32_t relation = 0;
  char old_row = '\0';  ///< 'K' its key, 'O' all of it, 0 not told
  std::size_t columns = 0;
};

struct Delete {
  std::uint32_t relation = 0;
  char old_row = 'K';
  std::size_t columns = 0;
};

struct Truncate {
  std::vector<std::uint32_t> relations{};
  bool cascade = false;
  bool restart_identity = false;
};

/// pg_logical_emit_message().
struct Message {
  bool transactional = false;  ///< stands between a Begin and a Commit
  Lsn lsn = 0;
  std::string_view prefix{};
  std::string_view content{};
};

using Change =
    std::variant<Begin, Commit, Origin, Relation, Type, Insert, Update, Delete, Truncate, Message>;

/// One whole message. corruption: cut short, too long, or of no known kind.
Result<Change> decode(std::string_view bytes);

}  // namespace pgoutput
}  // namespace hk::outbox
