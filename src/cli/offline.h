/// The commands that work on a data directory.
#pragma once

#include <string>

namespace hk::cli {

int verify(const std::string& data, bool json);
/// Of a running server through its admin API, of a stopped one directly. `url`: how to reach the
/// server, if not by the address that it listens on (a certificate names a host); `ca_file`: as for
/// the commands of remote.h.
int backup(const std::string& data, const std::string& to, const std::string& url,
           const std::string& ca_file, bool json);
/// Into a directory that does not exist yet (or is empty); verified before it is called restored.
int restore(const std::string& from, const std::string& data, bool json);

}  // namespace hk::cli
