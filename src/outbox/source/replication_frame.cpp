#include "outbox/source/replication_frame.h"

#include "base/bytes.h"
#include "outbox/source/byte_cursor.h"

namespace hk::outbox {

Result<ReplicationFrame> decode_frame(std::string_view bytes) {
  ByteCursor in(bytes);
  ReplicationFrame frame;
  switch (in.letter()) {
    case 'w': {
      WalData data;
      data.start = in.number<std::uint64_t>();
      data.end = in.number<std::uint64_t>();
      in.bytes(8);  // the server's clock
      data.data = in.all();
      frame = data;
      break;
    }
    case 'k': {
      Keepalive keepalive;
      keepalive.end = in.number<std::uint64_t>();
      in.bytes(8);
      keepalive.reply_wanted = in.letter() != '\0';
      frame = keepalive;
      break;
    }
    default: in.refuse(); break;
  }
  if (!in.ended()) {
    return fail(ErrorKind::corruption, "the replication connection sent " +
                                           std::to_string(bytes.size()) +
                                           " bytes that are neither data nor a keepalive");
  }
  return frame;
}

std::string encode_status(const StandbyStatus& status) {
  constexpr std::chrono::sys_days year_2000 = std::chrono::year{2000} / 1 / 1;
  const std::chrono::microseconds clock = status.now - year_2000;
  std::string out = "r";
  append_be<std::uint64_t>(out, status.received);   // written
  append_be<std::uint64_t>(out, status.confirmed);  // flushed
  append_be<std::uint64_t>(out, status.confirmed);  // applied
  append_be<std::uint64_t>(out, static_cast<std::uint64_t>(clock.count()));
  out.push_back(status.reply_wanted ? '\1' : '\0');
  return out;
}

}  // namespace hk::outbox
