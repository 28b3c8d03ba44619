/// Records of topics.
#include "store/codec.h"
#include "store/record_parts.h"

namespace hk::store {

namespace {

void set_subscription(records::UrlGroup::Endpoint& out, const core::Subscription& subscription) {
  const auto& [id, url, host, queue, protocol, raw, confirmed, filter, filter_scope,
               dead_letters_to, retries, token, token_made, confirmed_by_owner, owner_ends_it,
               extra] = subscription;
  out.set_name(id);
  out.set_url(url);
  out.set_host(host);
  out.set_queue(queue);
  out.set_protocol(protocol);
  out.set_enveloped(!raw);
  out.set_unconfirmed(!confirmed);
  out.set_filter(filter);
  out.set_filter_scope(static_cast<std::uint32_t>(filter_scope));
  out.set_dead_letters_to(dead_letters_to);
  if (retries) {
    set_retries(*out.mutable_retries(), *retries);
  }
  out.set_token(token);
  out.set_token_made(to_ms(token_made));
  out.set_confirmed_by_owner(confirmed_by_owner);
  out.set_owner_ends_it(owner_ends_it);
  set_headers(*out.mutable_extra(), extra);
}

/// Absent: nothing. False: it cannot be read.
bool take_retries_of(auto& record, std::optional<core::RetryPolicy>& out) {
  return !record.has_retries() || take_retries(out.emplace(), *record.mutable_retries());
}

bool take_subscription(records::UrlGroup::Endpoint& record, core::Subscription& out) {
  if (record.filter_scope() > static_cast<std::uint32_t>(core::FilterScope::message_body)) {
    return false;
  }
  out = {.id = std::move(*record.mutable_name()),
         .url = std::move(*record.mutable_url()),
         .host = std::move(*record.mutable_host()),
         .queue = std::move(*record.mutable_queue()),
         .protocol = std::move(*record.mutable_protocol()),
         .raw = !record.enveloped(),
         .confirmed = !record.unconfirmed(),
         .filter = std::move(*record.mutable_filter()),
         .filter_scope = static_cast<core::FilterScope>(record.filter_scope()),
         .dead_letters_to = std::move(*record.mutable_dead_letters_to()),
         .token = std::move(*record.mutable_token()),
         .token_made = moment_from_ms(record.token_made()),
         .confirmed_by_owner = record.confirmed_by_owner(),
         .owner_ends_it = record.owner_ends_it(),
         .extra = take_headers(*record.mutable_extra())};
  // The first directories of format 3 have these two among what is the adapter's.
  std::erase_if(out.extra, [&out](const core::Header& one) {
    const bool by_owner = one.name == "Authenticated";
    const bool owner_only = one.name == "AuthenticateOnUnsubscribe";
    out.confirmed_by_owner = out.confirmed_by_owner || by_owner;
    out.owner_ends_it = out.owner_ends_it || owner_only;
    return by_owner || owner_only;
  });
  return take_retries_of(record, out.retries);
}

}  // namespace

template <>
std::string Codec<core::Topic>::encode(const core::Topic& topic) {
  const auto& [tenant, kind, name, subscriptions, options, tags, created_at, updated_at,
               incarnation, version, fifo, dedup_by_group, retries] = topic;
  records::UrlGroup record;
  for (const core::Subscription& one : subscriptions) {
    set_subscription(*record.add_endpoints(), one);
  }
  set_headers(*record.mutable_options(), options);
  set_headers(*record.mutable_tags(), tags);
  record.set_created_at(to_ms(created_at));
  record.set_updated_at(to_ms(updated_at));
  record.set_incarnation(incarnation);
  record.set_version(version);
  record.set_fifo(fifo);
  record.set_dedup_by_group(dedup_by_group);
  if (retries) {
    set_retries(*record.mutable_retries(), *retries);
  }
  return serialize(record);
}

template <>
Result<core::Topic> Codec<core::Topic>::decode(core::KeyOf<core::Topic> key,
                                               std::string_view value) {
  records::UrlGroup record;
  if (!parse(record, value)) {
    return broken_record("topic");
  }
  auto& [tenant, name] = key;
  const bool is_sns = name.starts_with(core::sns_mark);
  core::Topic topic{.tenant = tenant,
                    .kind = is_sns ? core::TopicKind::sns : core::TopicKind::url_group,
                    .name = is_sns ? name.substr(1) : std::move(name),
                    .options = take_headers(*record.mutable_options()),
                    .tags = take_headers(*record.mutable_tags()),
                    .created_at = moment_from_ms(record.created_at()),
                    .updated_at = moment_from_ms(record.updated_at()),
                    .incarnation = std::move(*record.mutable_incarnation()),
                    .version = record.version(),
                    .fifo = record.fifo(),
                    .dedup_by_group = record.dedup_by_group()};
  for (records::UrlGroup::Endpoint& one : *record.mutable_endpoints()) {
    if (!take_subscription(one, topic.subscriptions.emplace_back())) {
      return broken_record("topic with a subscription that is none");
    }
  }
  if (!take_retries_of(record, topic.retries)) {
    return broken_record("topic without a retry delay");
  }
  return topic;
}

}  // namespace hk::store
