/// What the core itself keeps as documents, read back at start-up.
#pragma once

#include <string>

#include "core/reader.h"

namespace hk::core {

/// `each(document)` for all of that kind, in the order of their names.
template <class Each>
void for_each_document(Reader& reader, TenantId tenant, const char* kind, Each&& each) {
  constexpr std::size_t per_read = 512;
  std::string after;
  for (;;) {
    const auto documents =
        reader.scan(Range<Document>::of(tenant, kind).after(tenant, kind, after), per_read);
    for (const Document& document : documents) {
      each(document);
    }
    if (documents.size() < per_read) {
      return;
    }
    after = documents.back().name;
  }
}

}  // namespace hk::core
