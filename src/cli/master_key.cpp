#include "cli/master_key.h"

#include <unistd.h>

#include <optional>
#include <utility>

#include "api/sns/signing_key.h"
#include "api/sources/directory.h"
#include "cli/process.h"
#include "cli/sealed.h"
#include "config/file.h"
#include "core/ledger/sealing.h"
#include "core/webhook/id.h"
#include "engine/reseal.h"

namespace hk::cli {

namespace {

using security::MasterKey;

/// The key with its pepper. corruption: it opens nothing of this.
Result<MasterKey> fit(const MasterKey& key, const Sealed& sealed) {
  if (sealed.pepper) {
    return key.with_pepper(*sealed.pepper);
  }
  if (!sealed.tenants.empty()) {
    if (auto opened = engine::resealed(sealed.tenants.front(), key, key); !opened) {
      return std::unexpected(opened.error());
    }
  }
  return key;
}

std::unexpected<Error> missing_key(const KeyPlace& place) {
  return fail(ErrorKind::not_found,
              "the master key of " + place.data + " is missing: there is no file " + place.file() +
                  ", and HIKYAKU_MASTER_KEY is not set. The directory holds secrets that only this "
                  "key opens, so no new one is made. Put the file back (`hikyaku backup` copies it "
                  "into each backup as master.key), or set HIKYAKU_MASTER_KEY to the key.");
}

std::unexpected<Error> other_key(const std::string& where, const KeyPlace& place,
                                 const Error& why) {
  return fail(why.kind, where + " is not the master key that sealed the secrets in " + place.data +
                            ". Start with the master.key file or HIKYAKU_MASTER_KEY that this data "
                            "directory was used with; after `hikyaku keys rotate-master` that is "
                            "the new key (" +
                            why.message + ")");
}

}  // namespace

Result<KeyPlace> key_place(const std::string& data) {
  KeyPlace place{.data = data};
  if (const auto given = environment("HIKYAKU_MASTER_KEY")) {
    place.setting = Secret(*given);
  } else if (const auto file = environment("HIKYAKU_MASTER_KEY_FILE")) {
    auto secret = config::read_secret_file(*file);
    if (!secret) {
      return fail(secret.error().kind, "HIKYAKU_MASTER_KEY_FILE: " + secret.error().message);
    }
    place.setting = std::move(*secret);
  }
  return place;
}

Result<MasterKey> open_master_key(const KeyPlace& place, store::Store& store, IfMissing missing) {
  const auto sealed = read_sealed(store, Endpoints::left_out);
  if (!sealed) {
    return std::unexpected(sealed.error());
  }
  if (!place.setting.empty()) {
    const auto given = MasterKey::from_hex(place.setting);
    if (!given) {
      return given;
    }
    auto key = fit(*given, *sealed);
    return key ? key : other_key("the setting master_key (HIKYAKU_MASTER_KEY)", place, key.error());
  }

  const auto stored = MasterKey::from_file(place.file(), false);
  if (!stored && stored.error().kind != ErrorKind::not_found) {
    return stored;
  }
  auto key = stored ? fit(*stored, *sealed) : stored;
  if (key) {
    ::unlink(place.next_file().c_str());  // of a rotation that ended before it sealed anything
    return key;
  }
  if (const auto next = MasterKey::from_file(place.next_file(), false)) {
    if (auto rotated = fit(*next, *sealed); rotated && !sealed->empty()) {
      if (auto named = security::rename_key_file(place.next_file(), place.file()); !named) {
        return std::unexpected(named.error());
      }
      return rotated;
    }
  }
  if (stored) {
    return other_key(place.file(), place, key.error());
  }
  if (!sealed->empty()) {
    return missing_key(place);
  }
  if (missing == IfMissing::refuse) {
    return fail(ErrorKind::not_found, place.data +
                                          " holds neither a master key nor anything that one has "
                                          "sealed: no server was ever ready on it");
  }
  return MasterKey::from_file(place.file(), true);
}

std::vector<std::string> check_master_key(const KeyPlace& place, store::Store& store) {
  const auto sealed = read_sealed(store, Endpoints::included);
  if (!sealed || sealed->empty()) {
    return {};  // what cannot be read is a problem of the store
  }
  const auto key = open_master_key(place, store, IfMissing::refuse);
  if (!key) {
    return {key.error().message};
  }
  std::vector<std::string> problems;
  for (const core::Tenant& tenant : sealed->tenants) {
    if (auto opened = engine::resealed(tenant, *key, *key); !opened) {
      problems.push_back("The secrets of tenant " + tenant.name +
                         " do not open: " + opened.error().message);
    }
  }
  const Secret sns_key = key->derived_for(api::sns::sealing_place);
  for (const core::Document& document : sealed->signing_keys) {
    if (auto opened = api::sns::resealed(document, sns_key, sns_key); !opened) {
      problems.push_back("The signing key of SNS does not open: " + opened.error().message);
    }
  }
  for (const core::ledger::Book& book : sealed->books) {
    const auto opened =
        key->open(book.sealed_key, core::ledger::sealing_place(book.tenant, book.id));
    if (!opened) {
      problems.push_back("The key of the ledger book " + book.id +
                         " does not open: " + opened.error().message);
    }
  }
  for (const core::webhook::Endpoint& endpoint : sealed->endpoints) {
    const std::string_view name = name_of_tenant(*sealed, endpoint.tenant);
    if (auto opened = engine::resealed(endpoint, name, *key, *key); !opened) {
      problems.push_back("The secrets of the endpoint " + core::webhook::id_of(endpoint) +
                         " do not open: " + opened.error().message);
    }
  }
  for (const core::Source& source : sealed->sources) {
    for (const core::SourceSecret& one : source.secrets) {
      const auto opened =
          key->open(one.sealed, api::sources::secret_place(source.tenant, source.id, one.id));
      if (!opened) {
        problems.push_back("The secret " + one.id + " of source " + source.name +
                           " does not open: " + opened.error().message);
      }
    }
  }
  return problems;
}

}  // namespace hk::cli
