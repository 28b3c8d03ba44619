/// The commands that work on a data directory.
#pragma once

#include <string>

namespace hk::cli {

int verify(const std::string& data, bool json);
/// Of a running server through its admin API, of a stopped one directly.
int backup(const std::string& data, const std::string& to, bool json);
/// Into a directory that does not exist yet (or is empty); verified before it is called restored.
int restore(const std::string& from, const std::string& data, bool json);

}  // namespace hk::cli
