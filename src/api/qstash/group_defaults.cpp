#include "api/qstash/group_defaults.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "api/qstash/given_options.h"
#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

bool in_query(const QueryOptions& query, std::string_view name) {
  return starts_with_ignoring_case(name, option_prefix) &&
         std::ranges::any_of(query, [&](const auto& one) {
           return equals_ignoring_case(one.first, name.substr(option_prefix.size()));
         });
}

}  // namespace

void GroupDefaults::add_to(std::vector<net::Field>& fields, const QueryOptions& query,
                           const std::string& group) {
  auto known = known_.find(group);
  if (known == known_.end()) {
    if (!view_) {
      view_ = submitter_.durable_view(tenant_);
    }
    std::optional<core::Topic> stored = view_->get<core::Topic>({tenant_, group});
    known = known_.emplace(group, stored ? std::move(stored->options) : std::vector<core::Header>{})
                .first;
  }
  const std::size_t own = fields.size();
  for (const core::Header& option : known->second) {
    const bool given = std::any_of(
        fields.begin(), fields.begin() + static_cast<std::ptrdiff_t>(own),
        [&](const net::Field& one) { return equals_ignoring_case(one.name, option.name); });
    if (!given && !in_query(query, option.name)) {
      fields.push_back({option.name, option.value});
    }
  }
}

}  // namespace hk::api::qstash
