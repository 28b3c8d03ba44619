// What a receiver answers, behind a byte of flags: 1 = it was a HEAD, 2 = keep all of the body,
// 4 = the connection closes at the end, the other bits are the size of a piece. Whatever comes,
// what is kept is bounded and safe to show, and how the bytes are cut into pieces changes nothing.
#include "delivery/response.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "delivery/outcome.h"
#include "fuzz/text.h"

using namespace hk;
using namespace hk::delivery;

namespace {

using Progress = ResponseReader::Progress;

constexpr ResponseLimits limits{.header_bytes_max = 1024,
                                .header_bytes_kept = 256,
                                .body_bytes_kept = 100,
                                .body_bytes_read = 2048,
                                .interim_max = 3};

struct Seen {
  Progress progress = Progress::more;
  Response response{};
};

Seen read(std::string_view bytes, unsigned flags, std::size_t piece) {
  ResponseReader reader(limits);
  reader.begin((flags & 1U) != 0, (flags & 2U) != 0);
  Seen seen;
  while (!bytes.empty() && seen.progress == Progress::more) {
    const std::span<char> room = reader.prepare();
    HK_ASSERT(!room.empty());
    const std::size_t count = std::min({room.size(), piece, bytes.size()});
    std::memcpy(room.data(), bytes.data(), count);
    bytes.remove_prefix(count);
    seen.progress = reader.commit(count);
  }
  if (seen.progress == Progress::more && (flags & 4U) != 0) {
    seen.progress = reader.end();
    HK_ASSERT(seen.progress != Progress::more);
  }
  HK_ASSERT(seen.progress != Progress::malformed || *reader.fault() != '\0');
  if (seen.progress == Progress::done) {
    seen.response = std::move(reader.response());
  }
  return seen;
}

void check(const Response& response, unsigned flags) {
  HK_ASSERT(response.status >= 200 && response.status <= 999);
  HK_ASSERT(response.body.size() <=
            ((flags & 2U) != 0 ? limits.body_bytes_read : limits.body_bytes_kept));
  std::size_t bytes = 0;
  for (const auto& [name, value] : response.headers) {
    bytes += name.size() + value.size();
    HK_ASSERT(
        std::ranges::all_of(value, [](char c) { return c == '\t' || (c >= 0x20 && c <= 0x7e); }));
  }
  HK_ASSERT(bytes <= limits.header_bytes_kept);
  const auto asked = response.retry_after.asked();
  HK_ASSERT(!asked || (*asked >= Millis{0} && *asked <= std::chrono::days(365)));
  const Outcome outcome =
      judge_answer(response.status, response.non_retryable, response.retry_after.wish());
  HK_ASSERT(outcome.delivered == (response.status < 300));
  HK_ASSERT(outcome.delivered == outcome.error.empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) {
    return 0;
  }
  const unsigned flags = data[0];
  const std::string_view bytes = fuzz::as_text(data + 1, size - 1);
  const Seen whole = read(bytes, flags, size);
  if (whole.progress == Progress::done) {
    check(whole.response, flags);
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}, std::size_t{1} + flags / 8}) {
    const Seen pieces = read(bytes, flags, piece);
    if (pieces.progress == Progress::done) {
      check(pieces.response, flags);
    }
    if (size > limits.header_bytes_max) {
      continue;  // which limit is noticed first may differ
    }
    // An answer that is not whole may be found wrong now or later.
    HK_ASSERT((pieces.progress == Progress::done) == (whole.progress == Progress::done));
    HK_ASSERT(pieces.response.status == whole.response.status &&
              pieces.response.headers == whole.response.headers &&
              pieces.response.body == whole.response.body &&
              pieces.response.non_retryable == whole.response.non_retryable);
  }
  return 0;
}
