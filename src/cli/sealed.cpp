#include "cli/sealed.h"

#include <algorithm>

#include "api/sns/signing_key.h"
#include "cli/read_stored.h"
#include "store/codec.h"
#include "store/key.h"

namespace hk::cli {

std::string_view name_of_tenant(const Sealed& sealed, core::TenantId id) {
  const auto found = std::ranges::find(sealed.tenants, id, &core::Tenant::id);
  return found == sealed.tenants.end() ? std::string_view() : std::string_view(found->name);
}

Result<Sealed> read_sealed(store::Store& store, Endpoints endpoints) {
  Sealed sealed;
  const auto stored = store.snapshot()->get(store::Table::meta, store::pepper_key);
  if (!stored) {
    return std::unexpected(stored.error());
  }
  if (*stored) {
    auto pepper = store::decode_pepper(**stored);
    if (!pepper) {
      return std::unexpected(pepper.error());
    }
    sealed.pepper = std::move(*pepper);
  }
  return read_stored(store, [&sealed, endpoints](store::TypedReader& reader) {
    sealed.tenants = reader.scan<core::Tenant>();
    for (const core::Tenant& tenant : sealed.tenants) {
      for (core::Document& one :
           reader.scan(core::Range<core::Document>::of(tenant.id, api::sns::signing_key_kind))) {
        sealed.signing_keys.push_back(std::move(one));
      }
    }
    sealed.books = reader.scan<core::ledger::Book>();
    if (endpoints == Endpoints::included) {
      sealed.endpoints = reader.scan<core::webhook::Endpoint>();
    }
    sealed.sources = reader.scan<core::Source>();
    return std::move(sealed);
  });
}

}  // namespace hk::cli
