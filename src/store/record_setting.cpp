/// Records that people change: queues, flow keys, tenants; and the partition's own meta record.
#include <charconv>
#include <limits>
#include <string>
#include <utility>

#include "store/codec.h"
#include "store/key.h"
#include "store/record_parts.h"

namespace hk::store {
namespace {

void set_pull(records::PullSettings& record, const core::PullSettings& pull) {
  const auto& [fifo, visibility, delay, wait, retention, bytes_max, content_dedup, dedup_by_group,
               dead_letters_to, receives_max, halt, push, extra, tags, purged_at, purges, version] =
      pull;
  record.set_fifo(fifo);
  record.set_visibility(visibility.count());
  record.set_delay(delay.count());
  record.set_wait(wait.count());
  record.set_retention(retention.count());
  record.set_bytes_max(bytes_max);
  record.set_content_dedup(content_dedup);
  record.set_dedup_by_group(dedup_by_group);
  record.set_dead_letters_to(dead_letters_to);
  record.set_receives_max(receives_max);
  record.set_halt(halt);
  record.set_push_url(push.url);
  record.set_push_parallelism(push.parallelism);
  set_headers(*record.mutable_extra(), extra);
  set_headers(*record.mutable_tags(), tags);
  record.set_purged_at(to_ms(purged_at));
  record.set_purges(purges);
  record.set_version(version);
}

void set_limit(records::CallLimit& record, const core::CallLimit& limit) {
  const auto& [rate, burst, in_flight] = limit;
  record.set_rate(rate);
  record.set_burst(burst);
  record.set_in_flight(in_flight);
}

core::CallLimit take_limit(const records::CallLimit& record) {
  return {.rate = record.rate(), .burst = record.burst(), .in_flight = record.in_flight()};
}

void set_limits(records::TenantLimits& record, const core::TenantLimits& limits) {
  const auto& [own_rate, all, weight, classes] = limits;
  record.set_own_rate(own_rate);
  set_limit(*record.mutable_all(), all);
  record.set_weight(weight);
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].any()) {
      records::ClassLimit& out = *record.add_classes();
      out.set_rate_class(static_cast<std::uint32_t>(i));
      set_limit(*out.mutable_limit(), classes[i]);
    }
  }
}

/// False: of a class that there is not.
bool take_limits(const records::TenantLimits& record, core::TenantLimits& limits) {
  limits.own_rate = record.own_rate();
  limits.all = take_limit(record.all());
  limits.weight = record.weight();
  for (const records::ClassLimit& one : record.classes()) {
    if (one.rate_class() >= limits.classes.size()) {
      return false;
    }
    limits.classes[one.rate_class()] = take_limit(one.limit());
  }
  return true;
}

/// Queues that were stored before pushes were the core's have them among what is the adapter's.
core::PushSettings take_push(records::PullSettings& record) {
  core::PushSettings push{.url = std::move(*record.mutable_push_url()),
                          .parallelism = record.push_parallelism()};
  auto& extra = *record.mutable_extra();
  for (auto one = extra.begin(); one != extra.end();) {
    if (one->name() == "HikyakuPushUrl") {
      push.url = std::move(*one->mutable_value());
    } else if (one->name() == "HikyakuPushParallelism") {
      const std::string& text = one->value();
      std::from_chars(text.data(), text.data() + text.size(), push.parallelism);
    } else {
      ++one;
      continue;
    }
    one = extra.erase(one);
  }
  return push;
}

core::PullSettings take_pull(records::PullSettings& record) {
  core::PushSettings push = take_push(record);  // before `extra` is read
  return {.fifo = record.fifo(),
          .visibility = Millis{record.visibility()},
          .delay = Millis{record.delay()},
          .wait = Millis{record.wait()},
          .retention = Millis{record.retention()},
          .bytes_max = record.bytes_max(),
          .content_dedup = record.content_dedup(),
          .dedup_by_group = record.dedup_by_group(),
          .dead_letters_to = std::move(*record.mutable_dead_letters_to()),
          .receives_max = record.receives_max(),
          .halt = record.halt(),
          .push = std::move(push),
          .extra = take_headers(*record.mutable_extra()),
          .tags = take_headers(*record.mutable_tags()),
          .purged_at = moment_from_ms(record.purged_at()),
          .purges = record.purges(),
          .version = record.version()};
}

}  // namespace

template <>
std::string Codec<core::Queue>::encode(const core::Queue& queue) {
  const auto& [tenant, name, parallelism, paused, created_at, updated_at, lag, sweep_up_to, doomed,
               deleted, retime_up_to, pull] = queue;
  records::Queue record;
  record.set_parallelism(parallelism);
  record.set_paused(paused);
  record.set_created_at(to_ms(created_at));
  record.set_updated_at(to_ms(updated_at));
  record.set_lag(lag);
  record.set_sweep_up_to(sweep_up_to.value());
  record.set_doomed(doomed);
  record.set_deleted(deleted);
  record.set_retime_up_to(retime_up_to.value());
  if (pull) {
    set_pull(*record.mutable_pull(), *pull);
  }
  return serialize(record);
}

template <>
Result<core::Queue> Codec<core::Queue>::decode(core::KeyOf<core::Queue> key,
                                               std::string_view value) {
  records::Queue record;
  if (!parse(record, value)) {
    return broken_record("queue");
  }
  auto& [tenant, name] = key;
  core::Queue queue{.tenant = tenant,
                    .name = std::move(name),
                    .parallelism = record.parallelism(),
                    .paused = record.paused(),
                    .created_at = moment_from_ms(record.created_at()),
                    .updated_at = moment_from_ms(record.updated_at()),
                    .lag = record.lag(),
                    .sweep_up_to = core::Seq{record.sweep_up_to()},
                    .doomed = record.doomed(),
                    .deleted = record.deleted(),
                    .retime_up_to = core::Seq{record.retime_up_to()}};
  if (record.has_pull()) {
    queue.pull = take_pull(*record.mutable_pull());
  }
  return queue;
}

template <>
std::string Codec<core::FlowKey>::encode(const core::FlowKey& flow_key) {
  const auto& [tenant, key, parallelism, rate, period, paused, pinned_parallelism, pinned_rate,
               window_start, window_count] = flow_key;
  records::FlowKey record;
  record.set_parallelism(parallelism);
  record.set_rate(rate);
  record.set_period(period.count());
  record.set_paused(paused);
  record.set_pinned_parallelism(pinned_parallelism);
  record.set_pinned_rate(pinned_rate);
  record.set_window_start(to_ms(window_start));
  record.set_window_count(window_count);
  return serialize(record);
}

template <>
Result<core::FlowKey> Codec<core::FlowKey>::decode(core::KeyOf<core::FlowKey> key,
                                                   std::string_view value) {
  records::FlowKey record;
  if (!parse(record, value)) {
    return broken_record("flow key");
  }
  auto& [tenant, name] = key;
  return core::FlowKey{.tenant = tenant,
                       .key = std::move(name),
                       .parallelism = record.parallelism(),
                       .rate = record.rate(),
                       .period = Millis{record.period()},
                       .paused = record.paused(),
                       .pinned_parallelism = record.pinned_parallelism(),
                       .pinned_rate = record.pinned_rate(),
                       .window_start = moment_from_ms(record.window_start()),
                       .window_count = record.window_count()};
}

template <>
std::string Codec<core::Tenant>::encode(const core::Tenant& tenant) {
  const auto& [id, name, token_digests, sealed_current_key, sealed_next_key, created_at,
               access_keys, development, limits] = tenant;
  static_cast<void>(id);  // the key says it
  records::Tenant record;
  record.set_name(name);
  for (const std::string& digest : token_digests) {
    record.add_token_digests(digest);
  }
  record.set_sealed_current_key(sealed_current_key);
  record.set_sealed_next_key(sealed_next_key);
  record.set_created_at(to_ms(created_at));
  for (const auto& [key_id, sealed_secret, made_at] : access_keys) {
    records::AccessKey& out = *record.add_access_keys();
    out.set_id(key_id);
    out.set_sealed_secret(sealed_secret);
    out.set_created_at(to_ms(made_at));
  }
  record.set_development(development);
  if (limits != core::TenantLimits{}) {
    set_limits(*record.mutable_limits(), limits);
  }
  return serialize(record);
}

template <>
Result<core::Tenant> Codec<core::Tenant>::decode(core::KeyOf<core::Tenant> id,
                                                 std::string_view value) {
  records::Tenant record;
  if (!parse(record, value)) {
    return broken_record("tenant");
  }
  core::Tenant tenant{.id = id,
                      .name = std::move(*record.mutable_name()),
                      .token_digests = take_texts(*record.mutable_token_digests()),
                      .sealed_current_key = std::move(*record.mutable_sealed_current_key()),
                      .sealed_next_key = std::move(*record.mutable_sealed_next_key()),
                      .created_at = moment_from_ms(record.created_at()),
                      .development = record.development()};
  for (records::AccessKey& one : *record.mutable_access_keys()) {
    tenant.access_keys.push_back({std::move(*one.mutable_id()),
                                  std::move(*one.mutable_sealed_secret()),
                                  moment_from_ms(one.created_at())});
  }
  if (record.has_limits() && !take_limits(record.limits(), tenant.limits)) {
    return broken_record("tenant");
  }
  return tenant;
}

template <>
std::string Codec<core::Document>::encode(const core::Document& document) {
  const auto& [tenant, kind, name, fields, version, created_at] = document;
  records::Document record;
  set_headers(*record.mutable_fields(), fields);
  record.set_version(version);
  record.set_created_at(to_ms(created_at));
  return serialize(record);
}

template <>
Result<core::Document> Codec<core::Document>::decode(core::KeyOf<core::Document> key,
                                                     std::string_view value) {
  records::Document record;
  if (!parse(record, value)) {
    return broken_record("document");
  }
  auto& [tenant, kind, name] = key;
  return core::Document{.tenant = tenant,
                        .kind = std::move(kind.name),
                        .name = std::move(name),
                        .fields = take_headers(*record.mutable_fields()),
                        .version = record.version(),
                        .created_at = moment_from_ms(record.created_at())};
}

template <>
std::string Codec<core::Meta>::encode(const core::Meta& meta) {
  const auto& [format, epoch, indexed_up_to, time, origin, last_number, last_token] = meta;
  records::Meta record;
  record.set_format(format);
  record.set_epoch(epoch);
  record.set_indexed_up_to(indexed_up_to.value());
  record.set_time(to_ms(time));
  record.set_origin(origin.value());
  record.set_last_number(last_number);
  record.set_last_token(last_token);
  return serialize(record);
}

template <>
Result<core::Meta> Codec<core::Meta>::decode(core::KeyOf<core::Meta> /*key*/,
                                             std::string_view value) {
  records::Meta record;
  constexpr std::uint32_t origin_max = std::numeric_limits<std::uint16_t>::max();
  if (!parse(record, value) || record.origin() > origin_max) {
    return broken_record("meta");
  }
  return core::Meta{.format = record.format(),
                    .epoch = record.epoch(),
                    .indexed_up_to = core::Seq{record.indexed_up_to()},
                    .time = moment_from_ms(record.time()),
                    .origin = core::Origin{static_cast<std::uint16_t>(record.origin())},
                    .last_number = record.last_number(),
                    .last_token = record.last_token()};
}

Write put_pepper(std::string_view sealed) {
  records::Pepper record;
  record.set_sealed(std::string(sealed));
  return {Write::Kind::put, Table::meta, std::string(pepper_key), serialize(record)};
}

Result<std::string> decode_pepper(std::string_view value) {
  records::Pepper record;
  if (!parse(record, value)) {
    return broken_record("pepper");
  }
  return std::move(*record.mutable_sealed());
}

}  // namespace hk::store
