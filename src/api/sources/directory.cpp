#include "api/sources/directory.h"

#include <algorithm>
#include <utility>

#include "api/options.h"
#include "api/qstash/publish_options.h"
#include "base/json_input.h"
#include "core/reader.h"
#include "engine/submitter.h"

namespace hk::api::sources {

bool Throttle::take(std::chrono::nanoseconds now) {
  if (rate_ == 0) {
    return true;
  }
  constexpr std::int64_t second = 1'000'000'000;
  constexpr int tries_max = 64;
  std::int64_t full_at = full_at_.load(std::memory_order_relaxed);
  for (int i = 0; i < tries_max; ++i) {
    const std::int64_t next = std::max<std::int64_t>(full_at, now.count()) + second / rate_;
    if (next - now.count() > second) {
      return false;
    }
    if (full_at_.compare_exchange_weak(full_at, next, std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

std::string secret_place(core::TenantId tenant, std::string_view source, std::string_view secret) {
  return "source/" + std::to_string(tenant.value()) + '/' + std::string(source) + '/' +
         std::string(secret);
}

Result<Secret> open_secret(const Options& options, const core::Source& source,
                           const core::SourceSecret& secret) {
  if (!options.sealing.open) {
    return Secret(secret.sealed);
  }
  auto opened =
      options.sealing.open(secret.sealed, secret_place(source.tenant, source.id, secret.id));
  if (!opened) {
    return fail(ErrorKind::corruption,
                "a secret of source " + source.name + " does not open with this master key");
  }
  return std::move(*opened);
}

Result<core::Publish> publish_to(const Options& options, Moment now, core::TenantId tenant,
                                 const Target& target) {
  core::Publish publish{.message = std::make_unique<core::Message>()};
  core::Message& message = *publish.message;
  message.tenant = tenant;
  if (!target.queue.empty()) {
    message.queue = target.queue;
    message.method.clear();
    message.pull.emplace().system.push_back({"SenderId", "source"});
    return publish;
  }
  if (target.url.empty()) {
    message.topic = target.url_group;
  } else {
    auto host = options.check_destination(target.url);
    if (!host) {
      return std::unexpected(std::move(host.error()));
    }
    message.url = target.url;
    message.host = std::move(*host);
  }
  std::vector<net::Field> no_fields;
  if (auto read =
          qstash::read_publish_options(options, now, no_fields, auto(target.options), publish);
      !read) {
    return std::unexpected(std::move(read.error()));
  }
  return publish;
}

Result<OpenSourcePtr> open_source(const Options& options, Moment now, const core::Source& source) {
  const auto document = ExactJson::parse(source.settings, json_depth_max);
  if (!document) {
    return fail(ErrorKind::corruption, "the settings of source " + source.name + " are not JSON");
  }
  auto read = read_settings(*document);
  if (!read) {
    return fail(ErrorKind::corruption, "the settings of source " + source.name +
                                           " cannot be read: " + read.error().front().pointer +
                                           ' ' + read.error().front().detail);
  }
  auto publish = publish_to(options, now, source.tenant, read->settings.target);
  if (!publish) {
    return std::unexpected(std::move(publish.error()));
  }
  auto open = std::make_shared<OpenSource>(read->settings.per_second);
  open->tenant = source.tenant;
  open->id = source.id;
  open->version = source.version;
  open->settings = std::move(read->settings);
  open->to_send = std::move(publish->message);
  open->flow = std::move(publish->flow);
  open->delay = publish->delay;
  for (const core::SourceSecret& one : source.secrets) {
    auto text = open_secret(options, source, one);
    if (!text) {
      return std::unexpected(std::move(text.error()));
    }
    auto key = make_key(open->settings.scheme, one.id, *text, one.expires_at);
    if (!key) {
      return std::unexpected(std::move(key.error()));
    }
    open->keys.push_back(std::move(*key));
  }
  return open;
}

Result<OpenSourcePtr> Directory::find(engine::Submitter& submitter, const Options& options,
                                      Moment now, const std::string& name) {
  for (const auto& view : submitter.durable_views()) {
    const auto named = view->get<core::SourceName>(name);
    if (!named) {
      continue;
    }
    const auto table = std::atomic_load(&table_);
    if (const auto known = table->find(named->id);
        known != table->end() && known->second->version == named->version) {
      return known->second;
    }
    const auto source = view->get<core::Source>({named->tenant, named->id});
    if (!source) {
      continue;
    }
    auto opened = open_source(options, now, *source);
    if (!opened) {
      return opened;
    }
    const std::lock_guard lock(writing_);
    auto changed = std::make_shared<Table>(*std::atomic_load(&table_));
    if (changed->size() >= kept_max) {
      changed->clear();  // each is read again when it is needed
    }
    OpenSourcePtr& place = (*changed)[named->id];
    if (!place || place->version < (*opened)->version) {
      place = *opened;
    }
    std::atomic_store(&table_, std::shared_ptr<const Table>(std::move(changed)));
    return opened;
  }
  return OpenSourcePtr{};
}

}  // namespace hk::api::sources
