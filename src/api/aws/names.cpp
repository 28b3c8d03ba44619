#include "api/aws/names.h"

#include <algorithm>
#include <array>

#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::aws {

namespace {

constexpr std::string_view fifo_suffix = ".fifo";

bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '-';
}

bool is_word(std::string_view text, std::size_t chars_max) {
  return !text.empty() && text.size() <= chars_max && std::ranges::all_of(text, is_name_char);
}

bool is_name(std::string_view name, std::size_t chars_max) {
  if (name.size() > chars_max) {
    return false;
  }
  if (is_fifo_name(name)) {
    name.remove_suffix(fifo_suffix.size());
  }
  return is_word(name, chars_max);
}

/// Without what a URL has before its path.
std::string_view path_of(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme == std::string_view::npos) {
    return url;
  }
  const std::size_t slash = url.find('/', scheme + 3);
  return slash == std::string_view::npos ? std::string_view() : url.substr(slash);
}

std::string_view first_of_list(std::string_view text) {
  return hk::trim(text.substr(0, text.find(',')));
}

}  // namespace

bool valid_queue_name(std::string_view name) { return is_name(name, 80); }
bool valid_topic_name(std::string_view name) { return is_name(name, 256); }
bool valid_batch_id(std::string_view id) { return is_word(id, 80); }

bool valid_group_id(std::string_view id) {
  return !id.empty() && id.size() <= 128 &&
         std::ranges::all_of(id, [](char c) { return c > 0x20 && c < 0x7f; });
}

std::string to_text(const Arn& arn) {
  return "arn:aws:" + arn.service + ":" + arn.region + ":" + arn.account + ":" + arn.resource;
}

std::optional<Arn> parse_arn(std::string_view text) {
  Arn arn;
  std::string word;
  std::string partition;
  for (std::string* const part : {&word, &partition, &arn.service, &arn.region, &arn.account}) {
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos || colon == 0) {
      return std::nullopt;
    }
    *part = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (word != "arn" || text.empty()) {
    return std::nullopt;
  }
  arn.resource = text;
  return arn;
}

std::optional<QueueRef> parse_queue_url(std::string_view url) {
  std::string_view path = path_of(url);
  path = path.substr(0, path.find_first_of("?#"));
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  const std::size_t last = path.rfind('/');
  if (last == std::string_view::npos) {
    return path.empty() ? std::nullopt : std::optional(QueueRef{"", std::string(path)});
  }
  const std::string_view name = path.substr(last + 1);
  const std::string_view before = path.substr(0, last);
  const std::string_view account = before.substr(before.rfind('/') + 1);
  if (name.empty() || account.empty()) {
    return std::nullopt;
  }
  return QueueRef{std::string(account), std::string(name)};
}

std::string base_url(const BaseUrl& setting, const http::Request& request, bool tls) {
  if (!setting.pinned.empty()) {
    std::string pinned = setting.pinned;
    while (pinned.ends_with('/')) {
      pinned.pop_back();
    }
    return pinned;
  }
  std::string_view scheme = tls ? "https" : "http";
  std::string_view host = request.header("Host").value_or("localhost");
  if (setting.trust_forwarded) {
    const auto proto = request.header("X-Forwarded-Proto");
    if (proto && first_of_list(*proto) == "https") {
      scheme = "https";
    } else if (proto && first_of_list(*proto) == "http") {
      scheme = "http";
    }
    if (const auto forwarded = request.header("X-Forwarded-Host");
        forwarded && !first_of_list(*forwarded).empty()) {
      host = first_of_list(*forwarded);
    }
  }
  return std::string(scheme) + "://" + std::string(host);
}

std::string queue_url(std::string_view base, std::string_view account, std::string_view name) {
  return std::string(base) + "/" + std::string(account) + "/" + std::string(name);
}

std::string make_uuid(Rng& rng) {
  constexpr std::string_view digits = "0123456789abcdef";
  const std::array<std::uint64_t, 2> words = {
      (rng.next() & ~std::uint64_t{0xf000}) | 0x4000U,                         // version 4
      (rng.next() & ~(std::uint64_t{3} << 62U)) | (std::uint64_t{2} << 62U)};  // RFC 9562's variant
  std::string text;
  text.reserve(36);
  for (const std::uint64_t word : words) {
    for (unsigned shift = 64; shift != 0; shift -= 4) {
      text += digits[(word >> (shift - 4)) & 15U];
      if (text.size() == 8 || text.size() == 13 || text.size() == 18 || text.size() == 23) {
        text += '-';
      }
    }
  }
  return text;
}

}  // namespace hk::api::aws
