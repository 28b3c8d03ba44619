#include "edge/http/safe_header.h"

#include <algorithm>

#include "base/ascii.h"

namespace hk::http {

bool safe_header(std::string_view name, std::string_view value) {
  return is_token(name) && std::all_of(value.begin(), value.end(), is_value_char) &&
         trim(value).size() == value.size();
}

bool safe_target(std::string_view target) {
  return !target.empty() && target.front() == '/' &&
         std::all_of(target.begin(), target.end(), is_target_char);
}

}  // namespace hk::http
