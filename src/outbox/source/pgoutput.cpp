#include "outbox/source/pgoutput.h"

#include <string>

#include "outbox/source/byte_cursor.h"

namespace hk::outbox::pgoutput {
namespace {

/// The number of its columns. A value is null (n), unchanged and stored elsewhere (u), text (t) or
/// binary (b).
std::size_t skip_row(ByteCursor& in) {
  const std::size_t columns = in.number<std::uint16_t>();
  for (std::size_t i = 0; i < columns && in.ok(); ++i) {
    switch (in.letter()) {
      case 'n':
      case 'u': break;
      case 't':
      case 'b': in.bytes(in.number<std::uint32_t>()); break;
      default: in.refuse(); break;
    }
  }
  return columns;
}

Begin begin(ByteCursor& in) {
  Begin change;
  change.commit_lsn = in.number<std::uint64_t>();
  change.committed_at = in.signed64();
  change.transaction = in.number<std::uint32_t>();
  return change;
}

Commit commit(ByteCursor& in) {
  Commit change;
  in.bytes(1);  // flags: none is defined
  change.commit_lsn = in.number<std::uint64_t>();
  change.end_lsn = in.number<std::uint64_t>();
  change.committed_at = in.signed64();
  return change;
}

Origin origin(ByteCursor& in) {
  Origin change;
  change.commit_lsn = in.number<std::uint64_t>();
  change.name = in.text();
  return change;
}

Relation relation(ByteCursor& in) {
  Relation change;
  change.id = in.number<std::uint32_t>();
  change.schema = in.text();
  change.name = in.text();
  change.identity = in.letter();
  const std::size_t columns = in.number<std::uint16_t>();
  for (std::size_t i = 0; i < columns && in.ok(); ++i) {
    Column column;
    column.key = in.letter() == '\1';
    column.name = in.text();
    column.type = in.number<std::uint32_t>();
    column.modifier = in.signed32();
    change.columns.push_back(column);
  }
  return change;
}

Type type(ByteCursor& in) {
  Type change;
  change.id = in.number<std::uint32_t>();
  change.schema = in.text();
  change.name = in.text();
  return change;
}

Insert insert(ByteCursor& in) {
  Insert change;
  change.relation = in.number<std::uint32_t>();
  if (in.letter() != 'N') {
    in.refuse();
  }
  change.columns = skip_row(in);
  return change;
}

Update update(ByteCursor& in) {
  Update change;
  change.relation = in.number<std::uint32_t>();
  char part = in.letter();
  if (part == 'K' || part == 'O') {
    change.old_row = part;
    skip_row(in);
    part = in.letter();
  }
  if (part != 'N') {
    in.refuse();
  }
  change.columns = skip_row(in);
  return change;
}

Delete deletion(ByteCursor& in) {
  Delete change;
  change.relation = in.number<std::uint32_t>();
  change.old_row = in.letter();
  if (change.old_row != 'K' && change.old_row != 'O') {
    in.refuse();
  }
  change.columns = skip_row(in);
  return change;
}

Truncate truncate(ByteCursor& in) {
  Truncate change;
  const std::uint32_t relations = in.number<std::uint32_t>();
  const auto options = static_cast<unsigned char>(in.letter());
  change.cascade = (options & 1U) != 0;
  change.restart_identity = (options & 2U) != 0;
  for (std::uint32_t i = 0; i < relations && in.ok(); ++i) {
    change.relations.push_back(in.number<std::uint32_t>());
  }
  return change;
}

Message message(ByteCursor& in) {
  Message change;
  change.transactional = (static_cast<unsigned char>(in.letter()) & 1U) != 0;
  change.lsn = in.number<std::uint64_t>();
  change.prefix = in.text();
  change.content = in.bytes(in.number<std::uint32_t>());
  return change;
}

}  // namespace

Result<Change> decode(std::string_view bytes) {
  ByteCursor in(bytes);
  const char kind = in.letter();
  Change change;
  switch (kind) {
    case 'B': change = begin(in); break;
    case 'C': change = commit(in); break;
    case 'O': change = origin(in); break;
    case 'R': change = relation(in); break;
    case 'Y': change = type(in); break;
    case 'I': change = insert(in); break;
    case 'U': change = update(in); break;
    case 'D': change = deletion(in); break;
    case 'T': change = truncate(in); break;
    case 'M': change = message(in); break;
    default: in.refuse(); break;
  }
  if (!in.ended()) {
    return fail(ErrorKind::corruption,
                "logical replication sent " + std::to_string(bytes.size()) +
                    " bytes that are no message of pgoutput, protocol version 1");
  }
  return change;
}

}  // namespace hk::outbox::pgoutput
