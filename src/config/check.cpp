#include "config/check.h"

#include <algorithm>
#include <string_view>

namespace hk::config {
namespace {

std::unexpected<Error> wrong(std::string message) {
  return fail(ErrorKind::invalid_argument, std::move(message));
}

/// 127.0.0.0/8, ::1 and the name for them; anything else may be reached from outside. All four
/// numbers are looked at, since 127.example.com is a name.
bool is_loopback(const std::string& host) {
  if (host == "localhost" || host == "::1") {
    return true;
  }
  return host.starts_with("127.") && std::count(host.begin(), host.end(), '.') == 3 &&
         host.find_first_not_of("0123456789.") == std::string::npos;
}

Result<void> check_access_key(const Options& options) {
  constexpr std::size_t id_min = 16;
  constexpr std::size_t secret_min = 32;
  constexpr std::size_t both_max = 128;
  const std::string& id = options.aws_access_key_id;
  const std::size_t secret = options.aws_secret_access_key.reveal().size();
  if (id.empty() && secret == 0) {
    return {};
  }
  if (id.empty() || secret == 0) {
    return wrong(std::string("aws_access_key_id and aws_secret_access_key belong together: ") +
                 (id.empty() ? "aws_access_key_id" : "aws_secret_access_key") + " is missing");
  }
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
  if (id.size() < id_min || id.size() > both_max ||
      id.find_first_not_of(allowed) != std::string::npos) {
    // Not shown: somebody may have mixed up the two.
    return wrong(
        "aws_access_key_id: the value is not the id of an access key; it must have 16 to 128 "
        "letters, digits and _");
  }
  if (secret < secret_min || secret > both_max) {
    return wrong("aws_secret_access_key: the value has " + std::to_string(secret) +
                 " characters; it must have 32 to 128. `openssl rand -hex 20` makes one");
  }
  return {};
}

/// A bucket that holds less than a second's worth would never let its rate through.
Result<void> check_rates(const Options& options) {
  struct Row {
    const char* name;
    std::uint64_t rate;
    std::uint64_t burst;
  };
  for (const Row& row : {Row{"rate_global", options.rate_global, options.rate_global_burst},
                         Row{"rate_tenant", options.rate_tenant, options.rate_tenant_burst}}) {
    const std::string name = row.name;
    if (row.burst != 0 && row.rate == 0) {
      return wrong(name + "_burst needs " + name + ": without a rate there is no burst");
    }
    if (row.burst != 0 && row.burst < row.rate) {
      return wrong(name + "_burst (" + std::to_string(row.burst) + ") must not be below " + name +
                   " (" + std::to_string(row.rate) + ")");
    }
  }
  return {};
}

/// One word of frame-ancestors. Nothing else is let in: the value becomes a part of a header.
bool is_frame_ancestor(std::string_view word) {
  if (word == "'self'" || word == "'none'") {
    return true;
  }
  for (const std::string_view scheme : {"https://", "http://"}) {
    if (word.starts_with(scheme)) {
      word.remove_prefix(scheme.size());
      return !word.empty() && word.find_first_not_of(
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrs"
                                  "tuvwxyz0123456789.-:*[]") == std::string_view::npos;
    }
  }
  return false;
}

Result<void> check_frame_ancestors(std::string_view value) {
  std::size_t words = 0;
  bool none = false;
  for (std::string_view left = value; !left.empty();) {
    const std::string_view word = left.substr(0, left.find(' '));
    left.remove_prefix(std::min(left.size(), word.size() + 1));
    if (word.empty()) {
      continue;
    }
    if (!is_frame_ancestor(word)) {
      return wrong("portal_frame_ancestors: \"" + std::string(word) +
                   "\" is not an origin; write 'self' or 'none' with their quotes, or origins such "
                   "as https://app.example.com, with spaces between them");
    }
    none = none || word == "'none'";
    ++words;
  }
  if (words == 0 || (none && words > 1)) {
    return wrong(
        "portal_frame_ancestors: write 'none' alone to forbid frames, or the origins that may show "
        "the portal");
  }
  return {};
}

/// Paths are appended to it.
Result<void> check_public_url(std::string_view url) {
  const bool is_web = url.starts_with("https://") || url.starts_with("http://");
  const std::string_view behind = url.substr(std::min(url.size(), url.find("://") + 3));
  if (!url.empty() && (!is_web || behind.empty() || behind.starts_with('/') ||
                       url.find_first_of(" \t\"<>?#@\\") != std::string_view::npos)) {
    return wrong(
        "public_url: write an http or https URL without user, query and fragment, such as "
        "https://hooks.example.com");
  }
  return {};
}

}  // namespace

Result<void> check_together(const Options& options) {
  if (auto fits = check_access_key(options); !fits) {
    return fits;
  }
  if (auto fits = check_rates(options); !fits) {
    return fits;
  }
  if (auto fits = check_public_url(options.public_url); !fits) {
    return fits;
  }
  if (auto fits = check_frame_ancestors(options.portal_frame_ancestors); !fits) {
    return fits;
  }
  if (options.tls_cert.empty() != options.tls_key.empty()) {
    return wrong(std::string("tls_cert and tls_key belong together: ") +
                 (options.tls_cert.empty() ? "tls_cert" : "tls_key") + " is missing");
  }
  if (options.hsts_subdomains && options.tls_cert.empty()) {
    return wrong(
        "hsts_subdomains needs tls_cert and tls_key: without TLS the header is not sent. A proxy "
        "that terminates TLS sends its own");
  }
  if (!is_loopback(options.listen.host) && options.tls_cert.empty() &&
      !options.allow_insecure_listen) {
    return wrong(
        "listen: " + options.listen.host +
        " can be reached from other machines, and tokens would cross the network unencrypted. "
        "Set tls_cert and tls_key, listen on 127.0.0.1, or set allow_insecure_listen if a "
        "proxy terminates TLS");
  }
  if (options.retries_default > options.retries_max) {
    return wrong("retries_default (" + std::to_string(options.retries_default) +
                 ") must not be above retries_max (" + std::to_string(options.retries_max) + ")");
  }
  if (options.timeout_default > options.timeout_max) {
    return wrong("timeout_default must not be above timeout_max");
  }
  // A start writes its log into table files before it drops it, and the log may be twice as long as
  // the buffer (store/rocksdb/settings.cpp).
  if (options.min_free_disk != 0 && options.min_free_disk / 2 < options.write_buffer_bytes) {
    return wrong("min_free_disk (" + std::to_string(options.min_free_disk) +
                 " bytes) must be at least twice write_buffer_bytes (" +
                 std::to_string(options.write_buffer_bytes) +
                 " bytes), the space that a start may need. Raise the first, lower the second, or "
                 "set min_free_disk to 0 to accept messages until the disk is full");
  }
  return {};
}

}  // namespace hk::config
