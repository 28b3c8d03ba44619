// hikyaku keys rotate-master. What happens at a crash on each line of it:
//   the new key is durable in master.key.next     the old key is in force; the next start forgets
//   it one batch seals everything anew and is synced the new key is in force; the next start finds
//   that
//                                                 master.key does not fit and takes the other file
//   master.key.next is renamed to master.key      it is done
// A key that is a setting needs no file: the batch alone decides which one is in force.
#include <fmt/core.h>

#include <boost/json.hpp>
#include <memory>

#include "api/sns/signing_key.h"
#include "api/sources/directory.h"
#include "cli/exit_code.h"
#include "cli/master_key.h"
#include "cli/process.h"
#include "cli/sealed.h"
#include "config/file.h"
#include "core/ledger/sealing.h"
#include "core/webhook/id.h"
#include "engine/reseal.h"
#include "store/codec.h"
#include "store/crash_point.h"
#include "store/rocksdb/rocksdb_store.h"

namespace hk::cli {

namespace {

using security::MasterKey;
using store::crash_point;
using store::CrashPoint;

/// Nothing: nobody has named one.
Result<std::optional<MasterKey>> named_key(const std::string& file) {
  Secret text;
  if (!file.empty()) {
    auto secret = config::read_secret_file(file);
    if (!secret) {
      return fail(secret.error().kind, "--new-key-file: " + secret.error().message);
    }
    text = std::move(*secret);
  } else if (const auto given = environment("HIKYAKU_NEW_MASTER_KEY")) {
    text = Secret(*given);
  } else {
    return std::nullopt;
  }
  auto key = MasterKey::from_hex(text);
  if (!key) {
    return std::unexpected(key.error());
  }
  return std::move(*key);
}

/// Everything that is sealed, and the pepper. corruption: `from` does not open it.
Result<std::vector<store::Write>> resealed(const Sealed& sealed, const MasterKey& from,
                                           const MasterKey& to) {
  std::vector<store::Write> writes{store::put_pepper(to.sealed_pepper())};
  for (const core::Tenant& tenant : sealed.tenants) {
    auto done = engine::resealed(tenant, from, to);
    if (!done) {
      return fail(done.error().kind,
                  "the secrets of tenant " + tenant.name + " do not open: " + done.error().message);
    }
    store::encode(core::Put<core::Tenant>{std::move(*done)}, writes);
  }
  for (const core::Document& document : sealed.signing_keys) {
    auto done = api::sns::resealed(document, from.derived_for(api::sns::sealing_place),
                                   to.derived_for(api::sns::sealing_place));
    if (!done) {
      return std::unexpected(done.error());
    }
    store::encode(core::Put<core::Document>{std::move(*done)}, writes);
  }
  for (core::ledger::Book book : sealed.books) {
    const std::string place = core::ledger::sealing_place(book.tenant, book.id);
    auto key = from.open(book.sealed_key, place);
    if (!key) {
      return fail(key.error().kind,
                  "the key of ledger book " + book.id + " does not open: " + key.error().message);
    }
    book.sealed_key = to.seal(*key, place);
    store::encode(core::Put<core::ledger::Book>{std::move(book)}, writes);
  }
  for (const core::webhook::Endpoint& endpoint : sealed.endpoints) {
    auto done = engine::resealed(endpoint, name_of_tenant(sealed, endpoint.tenant), from, to);
    if (!done) {
      return fail(done.error().kind, "the secrets of the endpoint " +
                                         core::webhook::id_of(endpoint) +
                                         " do not open: " + done.error().message);
    }
    store::encode(core::Put<core::webhook::Endpoint>{std::move(*done)}, writes);
  }
  for (core::Source source : sealed.sources) {
    for (core::SourceSecret& one : source.secrets) {
      const std::string place = api::sources::secret_place(source.tenant, source.id, one.id);
      auto secret = from.open(one.sealed, place);
      if (!secret) {
        return fail(secret.error().kind, "a secret of source " + source.name +
                                             " does not open: " + secret.error().message);
      }
      one.sealed = to.seal(*secret, place);
    }
    store::encode(core::Put<core::Source>{std::move(source)}, writes);
  }
  return writes;
}

struct Rotated {
  std::size_t tenants = 0;
  bool before = false;  ///< the new key was in force already
};

/// See the top of the file.
Result<Rotated> rotate(const KeyPlace& place, store::DurableStore& store,
                       const std::optional<MasterKey>& named) {
  const bool by_setting = !place.setting.empty();
  const auto current = open_master_key(place, store, IfMissing::refuse);
  if (!current && by_setting && named) {
    // The end of an earlier try may not have been seen by who made it.
    const auto sealed = read_sealed(store, Endpoints::left_out);
    if (sealed && sealed->pepper && named->with_pepper(*sealed->pepper)) {
      return Rotated{.tenants = sealed->tenants.size(), .before = true};
    }
  }
  if (!current) {
    return std::unexpected(current.error());
  }
  const auto sealed = read_sealed(store, Endpoints::included);
  if (!sealed) {
    return std::unexpected(sealed.error());
  }
  const MasterKey next = (named ? *named : MasterKey::make()).taking_over_from(*current);
  if (next.same_as(*current)) {
    return fail(ErrorKind::invalid_argument, "the new master key is the current one");
  }
  const auto writes = resealed(*sealed, *current, next);
  if (!writes) {
    return std::unexpected(writes.error());
  }

  if (!by_setting) {
    if (auto written = next.write_file(place.next_file()); !written) {
      return std::unexpected(written.error());
    }
  }
  crash_point(CrashPoint::rotation_prepared);
  if (auto written = store.write(*writes); !written) {
    return std::unexpected(written.error());
  }
  if (auto synced = store.sync(); !synced) {
    return std::unexpected(synced.error());
  }
  crash_point(CrashPoint::rotation_resealed);
  if (!by_setting) {
    if (auto named_so = security::rename_key_file(place.next_file(), place.file()); !named_so) {
      return std::unexpected(named_so.error());
    }
  }
  crash_point(CrashPoint::rotation_named);
  return Rotated{.tenants = sealed->tenants.size()};
}

/// What the old key opens goes out of the files of the store, too.
Result<void> forget_old(store::DurableStore& store) {
  for (const store::Table table :
       {store::Table::tenant, store::Table::document, store::Table::source,
        store::Table::webhook_endpoint, store::Table::meta}) {
    if (auto done = store.rewrite(table); !done) {
      return done;
    }
  }
  return {};
}

}  // namespace

int rotate_master_key(const std::string& data, const std::string& new_key_file, bool as_json) {
  harden_process();
  if (const auto at = environment("HIKYAKU_CRASH_AT")) {
    if (auto armed = store::arm_crash(*at); !armed) {
      return report_disk_error(armed.error());
    }
  }
  const auto place = key_place(data);
  if (!place) {
    return report_disk_error(place.error());
  }
  const auto named = named_key(new_key_file);
  if (!named) {
    return report_disk_error(named.error());
  }
  if (!place->setting.empty() && !*named) {
    return report_disk_error(
        {ErrorKind::invalid_argument,
         "the master key comes from the environment, and the new one must, too: set "
         "HIKYAKU_NEW_MASTER_KEY, or name a file with --new-key-file (\"openssl rand -hex "
         "32\" makes a key)"});
  }
  store::RocksDbOptions options;
  options.path = data;
  options.create = false;
  auto store = store::open_rocksdb(options);
  if (!store) {
    return report_disk_error(store.error());
  }
  const auto rotated = rotate(*place, **store, *named);
  const auto forgotten = rotated ? forget_old(**store) : Result<void>{};
  if (auto closed = (*store)->close(); rotated && !closed) {
    return report_disk_error(closed.error());
  }
  if (!rotated) {
    return report_disk_error(rotated.error());
  }
  if (!forgotten) {
    tell(
        "hikyaku: the master key is rotated, but files of the store may still hold what the old "
        "one opens: " +
        forgotten.error().message + ". Run the command again.");
    return exit_failed;
  }
  if (as_json) {
    fmt::print("{}\n", boost::json::serialize(boost::json::object{{"rotated", !rotated->before},
                                                                  {"tenants", rotated->tenants}}));
    return exit_ok;
  }
  const std::string where = place->setting.empty()
                                ? place->file() + " holds the new one"
                                : "start the server with the new one as HIKYAKU_MASTER_KEY";
  fmt::print(
      "the master key {} rotated: {}\ntokens and all other keys stay as they are; a backup made "
      "before needs the old master key\n",
      rotated->before ? "was already" : "is", where);
  return exit_ok;
}

}  // namespace hk::cli
