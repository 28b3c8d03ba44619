#include "config/file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/ascii.h"

namespace hk::config {
namespace {

std::string_view take_line(std::string_view& text) {
  const auto end = std::min(text.find('\n'), text.size());
  const auto line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

}  // namespace

Result<std::map<std::string, FileEntry>> parse_file(const std::string& path,
                                                    std::string_view text) {
  std::map<std::string, FileEntry> entries;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = trim(take_line(text), white_space);
    if (line.empty() || line.starts_with('#')) {
      continue;
    }
    const std::string where = path + ", line " + std::to_string(number);
    const auto equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(ErrorKind::invalid_argument, where + ": there is no \"=\"; write name = value");
    }
    std::string name(trim(line.substr(0, equals), white_space));
    std::replace(name.begin(), name.end(), '-', '_');
    std::string_view value = trim(line.substr(equals + 1), white_space);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') {
      value = value.substr(1, value.size() - 2);
    }
    const auto [entry, added] = entries.try_emplace(name, FileEntry{std::string(value), number});
    if (!added) {
      return fail(ErrorKind::invalid_argument, where + ": " + name + " was already given in line " +
                                                   std::to_string(entry->second.line));
    }
  }
  return entries;
}

Result<std::string> read_file(const std::string& path) {
  constexpr std::size_t bytes_max = 1U << 20U;
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return fail(ErrorKind::invalid_argument, path + " is a directory, not a file");
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return fail(ErrorKind::invalid_argument, path + (std::filesystem::exists(path, failed)
                                                         ? " cannot be read: check its permissions"
                                                         : " does not exist"));
  }
  std::string text(bytes_max + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad()) {
    return fail(ErrorKind::invalid_argument, path + " cannot be read");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > bytes_max) {
    return fail(ErrorKind::invalid_argument, path + " has more than a megabyte");
  }
  return text;
}

Result<Secret> read_secret_file(const std::string& path) {
  auto text = read_file(path);
  if (!text) {
    return std::unexpected(text.error());
  }
  Secret whole(std::move(*text));  // wiped when it goes
  std::string_view secret = whole.reveal();
  secret = secret.substr(0, secret.find_last_not_of(white_space) + 1);
  if (secret.empty()) {
    return fail(ErrorKind::invalid_argument, path + " is empty");
  }
  return Secret(std::string(secret));
}

bool others_can_read(const std::string& path) {
  std::error_code failed;
  const auto permissions = std::filesystem::status(path, failed).permissions();
  constexpr auto others = std::filesystem::perms::group_read | std::filesystem::perms::others_read;
  return !failed && (permissions & others) != std::filesystem::perms::none;
}

}  // namespace hk::config
