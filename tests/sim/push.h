/// Where queues push to. The model and the server are told of the same.
#pragma once

#include <string>

namespace hk::sim {

inline std::string push_url_of(const std::string& host) { return host + "/push"; }
/// REQUIRES: it is such a URL.
inline std::string push_host_of(const std::string& url) { return url.substr(0, url.rfind('/')); }

}  // namespace hk::sim
