/// Texts as OpenSSL takes them. For .cpp files of this module only.
#pragma once

#include <string>
#include <string_view>

namespace hk::security {

inline const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
inline unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

}  // namespace hk::security
