/// The bytes of one delivery request. We write them ourselves, after checking every part that came
/// from outside, so that what is on the wire is what was accepted: one request, framed by
/// Content-Length.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"
#include "core/effect.h"
#include "delivery/signer.h"
#include "net/url.h"

namespace hk::delivery {

struct RequestOptions {
  std::string user_agent{"Upstash-QStash"};
  /// false: the message's own fields only, without ours that say which message this is, and
  /// unsigned.
  bool identity = true;
};

/// Appends the head, up to and including the empty line; the body follows as stored. On an error
/// `out` is as it was. invalid_argument: the stored method, target or a forwarded header is not one
/// that may be sent. REQUIRES: the key is not empty,
/// unless the request is without identity.
Result<void> append_request_head(std::string& out, const core::StartAttempt& start,
                                 const net::Url& url, const Secret& key, std::int64_t issued_at,
                                 Signer& signer, const RequestOptions& options);

}  // namespace hk::delivery
