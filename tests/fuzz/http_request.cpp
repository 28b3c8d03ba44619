// The bytes of a connection as requests. How they are cut into pieces changes nothing; an accepted
// request cannot be taken for two; and written anew, with a length instead of chunks, it is read as
// the same.
#include "edge/http/request_reader.h"

#include <algorithm>
#include <string>
#include <vector>

#include "base/ascii.h"
#include "base/assert.h"
#include "fuzz/text.h"

using namespace hk;
using namespace hk::http;

namespace {

using Step = RequestReader::Step;

constexpr std::size_t body_bytes_max = 2048;

ServerLimits limits_of(std::size_t header_bytes_max) {
  ServerLimits limits;
  limits.header_bytes_max = header_bytes_max;
  limits.line_bytes_max = header_bytes_max / 4;
  limits.fields_max = 16;
  limits.body_bytes_max = body_bytes_max;
  return limits;
}

struct Seen {
  std::vector<Request> requests{};
  std::optional<Refusal> refused{};
};

bool same(const Request& a, const Request& b) {
  return a.method == b.method && a.target == b.target && a.body == b.body &&
         a.keep_alive == b.keep_alive &&
         std::ranges::equal(a.fields, b.fields, [](const net::Field& x, const net::Field& y) {
           return x.name == y.name && x.value == y.value;
         });
}

Seen read(std::string_view bytes, std::size_t piece, const ServerLimits& limits) {
  BodyBudget budget(std::size_t{1} << 20U);
  RequestReader reader(limits, budget);
  Seen seen;
  std::size_t begin = 0;
  std::size_t end = 0;
  while (true) {
    const auto [consumed, step] = reader.feed(bytes.substr(begin, end - begin));
    HK_ASSERT(consumed <= end - begin);
    begin += consumed;
    if (step == Step::refused) {
      seen.refused = reader.refusal();
      HK_ASSERT(seen.refused->status >= 400 && !seen.refused->reason.empty());
      return seen;
    }
    if (step == Step::complete) {
      seen.requests.push_back(reader.take());
      HK_ASSERT(reader.at_start());
      (void)reader.take_share();
    } else if (step == Step::need_more) {
      HK_ASSERT(piece == bytes.size() || end - begin <= reader.unconsumed_bytes_max());
      if (end == bytes.size()) {
        return seen;
      }
      end = std::min(bytes.size(), end + piece);
    }
  }
}

void check_request(const Request& request) {
  HK_ASSERT(is_token(request.method) && request.target.starts_with('/'));
  HK_ASSERT(std::ranges::all_of(request.target, is_target_char));
  HK_ASSERT(request.body.size() <= body_bytes_max);
  std::string written = request.method + " " + request.target + " HTTP/1.1\r\n";
  for (const auto& [name, value] : request.fields) {
    HK_ASSERT(is_token(name) && std::ranges::all_of(value, is_value_char));
    if (!equals_ignoring_case(name, "content-length") &&
        !equals_ignoring_case(name, "transfer-encoding")) {
      written.append(name).append(": ").append(value).append("\r\n");
    }
  }
  written += "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;

  ServerLimits wider = limits_of(std::size_t{64} << 10U);
  ++wider.fields_max;  // it may not have had a length
  const Seen again = read(written, written.size(), wider);
  HK_ASSERT(!again.refused && again.requests.size() == 1);
  const Request& copy = again.requests.front();
  HK_ASSERT(copy.method == request.method && copy.target == request.target &&
            copy.body == request.body);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ServerLimits limits = limits_of(1024);
  const std::string_view bytes = fuzz::as_text(data, size);
  const Seen whole = read(bytes, size, limits);
  for (const Request& request : whole.requests) {
    check_request(request);
  }
  for (const std::size_t piece : {std::size_t{1}, std::size_t{7}}) {
    const Seen pieces = read(bytes, piece, limits);
    HK_ASSERT(pieces.refused == whole.refused);
    HK_ASSERT(std::ranges::equal(pieces.requests, whole.requests, same));
  }
  return 0;
}
