#include "api/sqs/extra_settings.h"

#include <algorithm>

namespace hk::api::sqs {

std::string find_extra(const core::PullSettings& settings, std::string_view name) {
  const auto found = std::ranges::find(settings.extra, name, &core::Header::name);
  return found == settings.extra.end() ? std::string{} : found->value;
}

void set_extra(core::PullSettings& settings, std::string_view name, std::string_view value) {
  const auto known = std::ranges::find(settings.extra, name, &core::Header::name);
  if (known != settings.extra.end() && !value.empty()) {
    known->value = value;  // in its place: set to what it is, nothing changes
  } else if (known != settings.extra.end()) {
    settings.extra.erase(known);
  } else if (!value.empty()) {
    settings.extra.push_back({std::string(name), std::string(value)});
  }
}

bool has_extended_limits(const core::PullSettings& settings) {
  return find_extra(settings, "HikyakuExtendedLimits") == "true";
}

}  // namespace hk::api::sqs
