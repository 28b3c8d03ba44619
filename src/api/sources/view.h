/// Sources as the API shows them, and what its calls have in common. I/O threads.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/call.h"
#include "api/sources/settings.h"
#include "api/write.h"
#include "core/record.h"

namespace hk {
class JsonWriter;
}

namespace hk::api::sources {

/// 422, with all that is wrong and where.
http::Response refuse_fields(const WrongFields& wrong, std::string_view request_id);

/// Under which the caller reaches this server: "https://hooks.example".
std::string public_base(const http::Request& request);

void write_source(JsonWriter& json, const core::Source& source, std::string_view base);
void write_secret(JsonWriter& json, const core::SourceSecret& secret);

/// By name or id, if it is this tenant's.
std::optional<core::Source> find_source(const Services& services, core::TenantId tenant,
                                        const std::string& name);
Error no_such_source(std::string_view name);

/// qrn_…
std::string quarantine_id(const core::Quarantined& request);

/// `limit` and `cursor`, and nothing else.
struct PageQuery {
  static constexpr std::size_t limit_max = 250;
  std::size_t limit = 50;
  std::string cursor{};  ///< "": from the beginning
};
std::expected<PageQuery, WrongFields> read_page(const http::Request& request);
WrongFields wrong_cursor();

}  // namespace hk::api::sources
