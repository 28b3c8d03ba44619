// Signatures and canonical requests of arbitrary requests: whatever comes, a parsed signature is
// whole, and a key from the cache says the same as a derived one.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "api/aws/sigv4.h"
#include "base/assert.h"
#include "base/date.h"
#include "fuzz/request_text.h"

using namespace hk;
using namespace hk::api::aws;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Secret secret{"wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"};
  static SigningKeys warm(16);
  const http::Request request = fuzz::read_request({reinterpret_cast<const char*>(data), size});

  const Checked<Signature> signature = parse_signature(request);
  if (!signature) {
    HK_ASSERT(!signature.error().message.empty());
    return 0;
  }
  HK_ASSERT(!signature->scope.access_key.empty() && !signature->signed_headers.empty());
  HK_ASSERT(parse_basic_date(signature->date_time) == signature->signed_at);

  if (const auto canonical = canonical_request(request, *signature, "hash")) {
    HK_ASSERT(canonical->ends_with("\nhash"));
    HK_ASSERT(canonical->starts_with(request.method + "\n"));
  }
  for (const bool tls : {false, true}) {
    Circumstances circumstances;
    circumstances.now = signature->signed_at;
    circumstances.service = "sqs";
    circumstances.tls = tls;
    SigningKeys cold(1);
    const auto first = verify(request, *signature, &secret, cold, circumstances);
    HK_ASSERT(first == verify(request, *signature, &secret, cold, circumstances));
    HK_ASSERT(first == verify(request, *signature, &secret, warm, circumstances));
    HK_ASSERT(!verify(request, *signature, nullptr, warm, circumstances));
    HK_ASSERT(warm.size() <= 16 && cold.size() <= 1);
  }
  return 0;
}
