#include "cli/convert.h"

#include <fmt/core.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>

#include "cli/add_value.h"
#include "cli/bootstrap.h"
#include "cli/development.h"
#include "cli/exit_code.h"
#include "cli/master_key.h"
#include "cli/process.h"
#include "store/codec.h"
#include "store/crash_point.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

struct Made {
  Secret token{};
  Secret current_key{};
  Secret next_key{};
  std::size_t access_keys = 0;  ///< that the tenant had, and keeps
};

Result<void> commit(store::Store& store, const core::Tenant& tenant) {
  std::vector<store::Write> writes;
  store::encode(core::Put<core::Tenant>{tenant}, writes);
  if (auto written = store.write(writes); !written) {
    return std::unexpected(written.error());
  }
  if (auto synced = store.sync(); !synced) {
    return std::unexpected(synced.error());
  }
  return {};
}

Result<Made> convert_tenant(const config::Options& options, store::Store& store) {
  auto master_key = open_master_key({options.data, options.master_key}, store, IfMissing::refuse);
  if (!master_key) {
    return std::unexpected(master_key.error());
  }
  auto tenants = stored_tenants(store);
  if (!tenants) {
    return std::unexpected(tenants.error());
  }
  const auto found = std::find_if(tenants->begin(), tenants->end(), [](const core::Tenant& one) {
    return one.name == default_tenant;
  });
  if (found == tenants->end()) {
    return fail(ErrorKind::invalid_argument,
                options.data + " has no credentials yet: `hikyaku serve` makes them");
  }
  const auto development = of_development(*found, *master_key);
  if (!development) {
    return fail(development.error().kind,
                "the stored keys cannot be opened: this is not the master key that sealed them (" +
                    development.error().message + ")");
  }
  if (!*development) {
    return fail(ErrorKind::invalid_argument,
                options.data +
                    " was not made by serve --dev: it has credentials of its own, and they "
                    "stay. `hikyaku tenants rotate-token` and POST /v2/keys/rotate change them");
  }
  Made made{.token = security::make_token("live"),
            .current_key = security::make_signing_key(),
            .next_key = security::make_signing_key(),
            .access_keys = found->access_keys.size()};
  const engine::TenantDirectory directory(*master_key);
  core::Tenant tenant = directory.with_keys(*found, made.current_key, made.next_key);
  tenant.token_digests = {directory.token_digest(made.token.reveal())};
  tenant.development = false;
  if (auto done = commit(store, tenant); !done) {
    return std::unexpected(done.error());
  }
  return made;
}

void print(const config::Options& options, const Made& made, bool as_json) {
  if (as_json) {
    fmt::print("{}\n", json::serialize(json::object{
                           {"data", options.data},
                           {"token", std::string(made.token.reveal())},
                           {"current_signing_key", std::string(made.current_key.reveal())},
                           {"next_signing_key", std::string(made.next_key.reveal())},
                           {"access_keys_kept", made.access_keys}}));
    return;
  }
  fmt::print("{} has credentials of its own now:\n", options.data);
  fmt::print("  token                {}\n", made.token.reveal());
  fmt::print("  current signing key  {}\n", made.current_key.reveal());
  fmt::print("  next signing key     {}\n", made.next_key.reveal());
  if (made.access_keys > 0) {
    fmt::print("  access keys          the {} made by `hikyaku keys create` still work\n",
               made.access_keys);
  }
  fmt::print(
      "\nThe token is not shown again: keep it. The public credentials no longer work, unless you "
      "start with --dev.\n");
}

}  // namespace

int convert(const config::Options& options, bool as_json) {
  harden_process();
  const auto report = [](const Error& error) {
    tell("hikyaku: " + error.message);
    return exit_code_of_disk(error.kind);
  };
  if (!options.crash_at.empty()) {
    if (auto armed = store::arm_crash(options.crash_at); !armed) {
      return report(armed.error());
    }
  }
  store::RocksDbOptions rocks;
  rocks.path = options.data;
  rocks.create = false;
  auto store = store::open_rocksdb(rocks);
  if (!store) {
    return report(store.error());
  }
  const auto made = convert_tenant(options, **store);
  const auto closed = (*store)->close();
  if (!made) {
    return report(made.error());
  }
  print(options, *made, as_json);  // durable already, and not to be had again
  return closed ? static_cast<int>(exit_ok) : report(closed.error());
}

void add_convert(CLI::App& app, int& code) {
  struct Arguments {
    std::string data{};
    std::string config{};
    std::string master_key_file{};
    bool json = false;
  };
  const auto given = std::make_shared<Arguments>();  // until the parser has run
  CLI::App* command = app.add_subcommand(
      "convert", "Replace the public credentials in a data directory of serve --dev");
  add_value(*command, "--data", given->data, "PATH", "Data directory of a stopped server [./data]");
  add_value(*command, "--config", given->config, "PATH", "Config file of the server");
  add_value(*command, "--master-key-file", given->master_key_file, "PATH",
            "File with the master key, if it is not in the data directory");
  command->add_flag("--json", given->json, "Print JSON");
  command->callback([given, &code] {
    config::Flags flags;
    for (const auto& [name, text] :
         {std::pair{"data", given->data}, std::pair{"config", given->config},
          std::pair{"master_key_file", given->master_key_file}}) {
      if (!text.empty()) {
        flags[name] = text;
      }
    }
    const auto options = config::load(flags, environment);
    if (!options) {
      tell("hikyaku: " + options.error().message);
      code = exit_usage;
      return;
    }
    code = convert(*options, given->json);
  });
}

}  // namespace hk::cli
