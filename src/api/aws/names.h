/// The names of things on the AWS surfaces: queues, topics, their URLs and ARNs, ids. Pure, any
/// thread.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/random.h"
#include "edge/http/message.h"

namespace hk::api::aws {

/// [A-Za-z0-9_-]{1,80}, or the same with ".fifo" at the end, which counts.
bool valid_queue_name(std::string_view name);
/// The same up to 256 characters.
bool valid_topic_name(std::string_view name);
/// [A-Za-z0-9_-]{1,80}: ids of batch entries, labels of permissions.
bool valid_batch_id(std::string_view id);
/// 1 to 128 printable characters of ASCII without the blank: message groups, deduplication ids,
/// receive attempts.
bool valid_group_id(std::string_view id);
constexpr bool is_fifo_name(std::string_view name) { return name.ends_with(".fifo"); }

/// "arn:aws:<service>:<region>:<account>:<resource>"
struct Arn {
  std::string service{};
  std::string region{};
  std::string account{};
  std::string resource{};  ///< a queue's or topic's name; a subscription's is "<topic>:<uuid>"

  friend bool operator==(const Arn&, const Arn&) = default;
};
std::string to_text(const Arn& arn);
/// Of any partition; nullopt when a part is missing or empty.
std::optional<Arn> parse_arn(std::string_view text);

struct QueueRef {
  std::string account{};  ///< "": a bare name was given
  std::string name{};

  friend bool operator==(const QueueRef&, const QueueRef&) = default;
};
/// The last two segments of a URL or path, or a bare name; scheme and host do not matter. nullopt:
/// nothing that could name a queue.
std::optional<QueueRef> parse_queue_url(std::string_view url);

struct BaseUrl {
  std::string pinned{};          ///< "https://queues.example.com"; "": what the client called
  bool trust_forwarded = false;  ///< believe X-Forwarded-Host and X-Forwarded-Proto
};
/// "scheme://host[:port]" under which the client that sent this reaches us.
std::string base_url(const BaseUrl& setting, const http::Request& request, bool tls);
std::string queue_url(std::string_view base, std::string_view account, std::string_view name);

/// A random UUID (version 4): request ids, message ids.
std::string make_uuid(Rng& rng);

}  // namespace hk::api::aws
