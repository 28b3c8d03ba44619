#include "base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace hk {

void assertion_failed(std::string_view condition, std::source_location where) {
  std::fprintf(stderr, "hikyaku: invariant broken, stopping: %.*s at %s:%u in %s\n",
               static_cast<int>(condition.size()), condition.data(), where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace hk
