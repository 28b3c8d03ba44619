/// Carries out the writes of the own API: submits the command of each and answers. One that has an
/// Idempotency-Key goes to the core as a Once, with the answer that the handler has, if it has one
/// already: so the key is looked at before the content of the request, whatever the handler has
/// found. Called by the Service, on I/O threads.
#pragma once

#include <cstddef>
#include <expected>
#include <optional>
#include <string>

#include "api/call.h"
#include "api/route.h"
#include "api/write.h"

namespace hk::api {

/// Of answers that are stored beside a key. What may be larger has a Planned::refer.
inline constexpr std::size_t kept_bytes_max = std::size_t{64} * 1024;

/// A key is for one request; also of those that handlers claim.
inline constexpr Problem key_reused{"idempotency_key_reused", "Idempotency key reused"};

/// A key as the client gave it, and what the request is known again by.
struct OnceKey {
  core::TenantId tenant{};
  std::string space{};
  std::string key{};
  std::string hash{};
  Millis kept_for{};
};

/// None: the request has no key. Before the handler takes the request apart. Where Svix is spoken
/// it counts for one path with its query and one token, the request is known
/// again by the bytes of its body, and only successes are kept: keys that clients make for their
/// own retries (`auto_…`) for an hour.
/// An error: the key is wrong, this call takes none, it must have one, or the body that the hash is
/// of is not the JSON that it says it is.
std::expected<std::optional<OnceKey>, Said> read_once_key(const Services& services,
                                                          const Route& route, Surface surface,
                                                          const Call& call);

/// Of method, path, query in any order, media type, and the body: as RFC 8785 writes it where it is
/// JSON. invalid_argument: it says so and is not.
Result<std::string> request_hash(const http::Request& request);

/// Answers, now or when it is durable.
void carry_out(const Services& services, const Route& route, Surface surface, Call& call,
               std::optional<OnceKey> key, Write write);

}  // namespace hk::api
