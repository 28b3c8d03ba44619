#include "api/qstash/dedup.h"

#include <algorithm>
#include <vector>

#include "api/text.h"
#include "base/ascii.h"
#include "base/bytes.h"
#include "base/encoding.h"
#include "security/digest.h"

namespace hk::api::qstash {

namespace {

/// Each part with its length before it: no two lists of parts have the same bytes.
void add(security::Sha256& hash, std::string_view part) {
  std::string length;
  append_be(length, static_cast<std::uint64_t>(part.size()));
  hash.update(length);
  hash.update(part);
}

std::string text_of(std::string_view kind, security::Sha256& hash) {
  const security::Digest256 digest = hash.finish();
  const std::string bytes(digest.begin(), digest.end());
  return std::string(kind) + base64url(bytes);
}

}  // namespace

std::string dedup_by_id(std::string_view id) {
  security::Sha256 hash;
  add(hash, id);
  return text_of("i:", hash);
}

std::string dedup_by_content(const core::Message& message) {
  std::vector<std::pair<std::string, std::string_view>> headers;
  headers.reserve(message.headers.size());
  for (const core::Header& header : message.headers) {
    headers.emplace_back(lower_case(header.name), header.value);
  }
  std::ranges::sort(headers);

  security::Sha256 hash;
  add(hash, message.body);
  for (const auto& [name, value] : headers) {
    add(hash, name);
    add(hash, value);
  }
  return text_of("c:", hash);
}

}  // namespace hk::api::qstash
