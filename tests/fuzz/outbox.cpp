// A row of an outbox (destination, headers, content in the lines) and a receiver's answer: any
// bytes become texts that PostgreSQL takes, and a row becomes a request that is safe to send or
// ends with a reason.
#include <boost/json.hpp>

#include "base/ascii.h"
#include "base/assert.h"
#include "base/json_string.h"
#include "delivery/destination.h"
#include "delivery/headers.h"
#include "fuzz/text.h"
#include "outbox/is_json.h"
#include "outbox/send/check_row.h"
#include "outbox/send/hikyaku_builder.h"
#include "outbox/send/http_builder.h"
#include "outbox/send/sqs_builder.h"
#include "outbox/texts.h"

using namespace hk;
using namespace hk::outbox;

namespace {

void check_texts(std::string_view bytes) {
  const std::string clean = clean_text(bytes);
  HK_ASSERT(valid_utf8(clean) && clean.find('\0') == std::string::npos);
  HK_ASSERT(clean_text(clean) == clean);
  const std::string plain = plain_text(bytes);
  HK_ASSERT(plain.size() == bytes.size() && plain_text(plain) == plain);
  const std::string response = response_json(bytes);
  HK_ASSERT(response.empty() == bytes.empty());
  HK_ASSERT(response.empty() || outbox::is_json(response, 64));
  HK_ASSERT(response.find('\0') == std::string::npos);
  const std::string id = fifo_id(bytes);
  HK_ASSERT(!id.empty() && id.size() <= 128 && fifo_id(id) == id);
}

/// REQUIRES: the builder's own headers are safe by themselves.
void check_built(RequestBuilder& builder, const Row& row) {
  const Built built = builder.build(row, moment_from_ms(1'700'000'000'000));
  if (!built) {
    HK_ASSERT(built.error().ending == Ending::aborted && !built.error().reason_code.empty());
    HK_ASSERT(!built.error().message.empty());
    return;
  }
  HK_ASSERT(delivery::safe_method(built->method).has_value());
  HK_ASSERT(delivery::parse_destination(built->url).has_value());
  for (const auto& [name, value] : built->headers) {
    HK_ASSERT(is_token(name) && delivery::safe_value(value));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static HttpBuilder http{"", "Idempotency-Key"};
  static HikyakuBuilder hikyaku{{.broker_url = "http://127.0.0.1:8080",
                                 .token = Secret("token"),
                                 .idempotency_header = "Idempotency-Key"}};
  static const auto sqs = SqsBuilder::make("http://127.0.0.1:8080/000000000001/orders.fifo",
                                           {.access_key_id = "id",
                                            .secret_access_key = Secret("secret"),
                                            .region = "us-east-1",
                                            .service = "sqs"});
  HK_ASSERT(sqs.has_value());

  std::string_view text = fuzz::as_text(data, size);
  check_texts(text);
  Row row;
  row.destination = fuzz::take_line(text);
  const auto headers = parse_headers(fuzz::take_line(text));
  HK_ASSERT(headers || headers.error().kind == ErrorKind::invalid_argument);
  if (headers) {
    row.headers = *headers;
    row.is_json = says_json(row.headers).value_or(false);
  }
  row.idempotency_key = fuzz::take_line(text);
  row.order_key = row.idempotency_key;
  row.traceparent = row.idempotency_key;
  row.payload = std::string(text);
  check_texts(text);
  const std::optional<Outcome> refused = check_payload(row);
  HK_ASSERT(!refused || refused->ending == Ending::aborted);
  check_built(http, row);
  check_built(hikyaku, row);
  check_built(**sqs, row);
  return 0;
}
