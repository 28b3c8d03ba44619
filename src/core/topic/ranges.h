/// Which rows are topics of which kind. Pure.
#pragma once

#include <string>

#include "core/table.h"

namespace hk::core {

inline const std::string behind_sns_topics(1, sns_mark + 1);

/// In the order of their names.
inline Range<Topic> sns_topics_of(TenantId tenant) {
  return Range<Topic>::of(tenant)
      .from(tenant, std::string(1, sns_mark))
      .before(tenant, behind_sns_topics);
}
inline Range<Topic> url_groups_of(TenantId tenant) {
  return Range<Topic>::of(tenant).from(tenant, behind_sns_topics);
}

}  // namespace hk::core
