#include <string>
#include <vector>

#include "outbox/database.h"

namespace hk::outbox {

std::string text_array(const std::vector<std::string>& values) {
  std::string out = "{";
  for (const std::string& value : values) {
    out += out.size() == 1 ? "\"" : ",\"";
    for (const char c : value) {
      if (c == '\0') {
        out += "\xef\xbf\xbd";
        continue;
      }
      if (c == '"' || c == '\\') {
        out.push_back('\\');
      }
      out.push_back(c);
    }
    out.push_back('"');
  }
  return out + "}";
}

std::string number_array(const std::vector<std::int64_t>& values) {
  std::string out = "{";
  for (const std::int64_t value : values) {
    if (out.size() > 1) {
      out.push_back(',');
    }
    out += std::to_string(value);
  }
  return out + "}";
}

}  // namespace hk::outbox
