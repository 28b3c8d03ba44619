#include "cli/sealed.h"

#include "api/sns/signing_key.h"
#include "cli/read_stored.h"
#include "store/codec.h"
#include "store/key.h"

namespace hk::cli {

Result<Sealed> read_sealed(store::Store& store) {
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
  return read_stored(store, [&sealed](store::TypedReader& reader) {
    sealed.tenants = reader.scan<core::Tenant>();
    for (const core::Tenant& tenant : sealed.tenants) {
      for (core::Document& one :
           reader.scan(core::Range<core::Document>::of(tenant.id, api::sns::signing_key_kind))) {
        sealed.signing_keys.push_back(std::move(one));
      }
    }
    sealed.books = reader.scan<core::ledger::Book>();
    return std::move(sealed);
  });
}

}  // namespace hk::cli
