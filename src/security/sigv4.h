/// The arithmetic of AWS Signature Version 4 that whoever verifies a request (api/aws) and whoever
/// signs one (outbox/send) have in common. Pure; any thread.
#pragma once

#include <string>
#include <string_view>

#include "base/secret.h"

namespace hk::security {

std::string hex_sha256(std::string_view bytes);

/// Percent-encodes everything but letters, digits, "-._~" and `kept` ('\0': nothing else).
void append_uri_encoded(std::string& out, std::string_view text, char kept = '\0');

/// Trimmed, with one blank for every run of them.
void append_canonical_value(std::string& out, std::string_view value);

/// `scope` is "<day>/<region>/<service>/<terminator>", `canonical` the whole canonical request.
std::string string_to_sign(std::string_view date_time, std::string_view scope,
                           std::string_view canonical);

/// Four HMACs: worth keeping for the day.
Secret derive_signing_key(const Secret& secret, std::string_view day, std::string_view region,
                          std::string_view service);

/// Hexadecimal.
std::string sign_text(const Secret& signing_key, std::string_view text);

}  // namespace hk::security
