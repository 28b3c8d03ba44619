/// `admin.json` in the data directory of a running server: where it listens and the token of its
/// admin API, readable by its own user only. Made anew at each start, so that it never needs
/// rotating.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/secret.h"

namespace hk::cli {

struct AdminFile {
  std::string url{};
  Secret token{};
};

/// Replaces the one that a killed server left. REQUIRES: the caller holds the directory.
Result<void> write_admin_file(const std::string& data, const AdminFile& content);
std::optional<AdminFile> read_admin_file(const std::string& data);
/// REQUIRES: the caller holds the directory and has written the file.
void remove_admin_file(const std::string& data);

}  // namespace hk::cli
