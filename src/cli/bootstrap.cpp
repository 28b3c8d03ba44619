#include "cli/bootstrap.h"

#include <algorithm>
#include <future>

namespace hk::cli {

Secret dev_token() {
  return Secret{"eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0="};
}
Secret dev_current_key() { return Secret{"sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r"}; }
Secret dev_next_key() { return Secret{"sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs"}; }

namespace {

class WaitingMailbox final : public engine::Mailbox {
 public:
  void deliver(std::vector<engine::Finished> finished) override {
    for (engine::Finished& one : finished) {
      one.done(std::move(one.reply));
    }
  }
};

/// The setting if given, else the development constant, else nothing.
std::optional<Secret> wanted(const Secret& setting, bool dev, Secret (*constant)()) {
  if (!setting.empty()) {
    return setting;
  }
  return dev ? std::optional(constant()) : std::nullopt;
}

}  // namespace

core::Reply submit_and_wait(engine::Submitter& submitter, core::Command command) {
  std::promise<core::Reply> promise;
  auto reply = promise.get_future();
  WaitingMailbox mailbox;
  std::vector<engine::Submission> batch;
  batch.push_back({std::move(command),
                   [&promise](core::Reply answer) { promise.set_value(std::move(answer)); },
                   &mailbox});
  submitter.submit(batch);
  if (!batch.empty()) {
    return fail(ErrorKind::unavailable, "the engine takes no commands");
  }
  return reply.get();
}

Result<Welcome> load_tenants(const config::Options& options, const security::MasterKey& master_key,
                             engine::Submitter& submitter, engine::TenantDirectory& directory) {
  const auto view = submitter.durable_view();
  std::optional<core::Tenant> known;
  for (const core::Tenant& tenant : view->tenants()) {
    if (auto stored = directory.put(tenant); !stored) {
      return fail(
          stored.error().kind,
          "the stored keys of tenant " + tenant.name +
              " cannot be opened: this is not the master key that sealed them. Start with the "
              "master.key file or HIKYAKU_MASTER_KEY that this data directory was created with (" +
              stored.error().message + ")");
    }
    if (tenant.name == default_tenant) {
      known = tenant;
    }
  }

  Welcome welcome;
  welcome.token = wanted(options.token, options.dev, dev_token);
  const auto current = wanted(options.current_signing_key, options.dev, dev_current_key);
  const auto next = wanted(options.next_signing_key, options.dev, dev_next_key);
  if (known) {
    const auto entry = directory.find(known->id);
    welcome.current_key = current.value_or(entry->current_key);
    welcome.next_key = next.value_or(entry->next_key);
  } else {
    welcome.first_start = true;
    welcome.token = welcome.token ? welcome.token : security::make_token("live");
    welcome.current_key = current ? *current : security::make_signing_key();
    welcome.next_key = next ? *next : security::make_signing_key();
  }

  core::Tenant tenant = known.value_or(core::Tenant{.name = default_tenant});
  bool changed = !known;
  if (welcome.token) {
    const std::string digest = master_key.token_digest(welcome.token->reveal());
    if (std::find(tenant.token_digests.begin(), tenant.token_digests.end(), digest) ==
        tenant.token_digests.end()) {
      tenant.token_digests = {digest};
      changed = true;
    }
  }
  const auto entry = known ? directory.find(known->id) : nullptr;
  if (entry == nullptr || entry->current_key.reveal() != welcome.current_key.reveal() ||
      entry->next_key.reveal() != welcome.next_key.reveal()) {
    tenant = directory.with_keys(std::move(tenant), welcome.current_key, welcome.next_key);
    changed = true;
  }
  if (options.dev && known) {
    directory.let_test_sign_for(known->id);
  }
  if (!changed) {
    return welcome;
  }
  const core::Reply reply = submit_and_wait(submitter, core::UpsertTenant{tenant});
  if (!reply) {
    return std::unexpected(reply.error());
  }
  tenant.id = std::get<core::TenantStored>(*reply).id;
  if (auto stored = directory.put(tenant); !stored) {
    return std::unexpected(stored.error());
  }
  if (options.dev) {
    directory.let_test_sign_for(tenant.id);
  }
  return welcome;
}

}  // namespace hk::cli
