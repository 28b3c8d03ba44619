/// The config file: `name = value` lines, # comments, and files that hold one secret.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/secret.h"

namespace hk::config {

struct FileEntry {
  std::string value{};
  int line = 0;
};

/// By name as written, but with underscores for dashes. invalid_argument names the file and the
/// line.
Result<std::map<std::string, FileEntry>> parse_file(const std::string& path, std::string_view text);

/// invalid_argument: it cannot be read, is not a file, or has more than a megabyte.
Result<std::string> read_file(const std::string& path);

/// The content without the white space at its end. invalid_argument: also when it is empty.
Result<Secret> read_secret_file(const std::string& path);

/// True when users other than its owner may read it.
bool others_can_read(const std::string& path);

}  // namespace hk::config
