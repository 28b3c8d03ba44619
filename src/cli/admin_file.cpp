#include "cli/admin_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace hk::cli {

namespace json = boost::json;

namespace {
std::string path_in(const std::string& data) { return data + "/admin.json"; }
}  // namespace

Result<void> write_admin_file(const std::string& data, const AdminFile& content) {
  const std::string path = path_in(data);
  ::unlink(path.c_str());
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) {
    const bool forbidden = errno == EACCES || errno == EPERM || errno == EROFS;
    return fail(forbidden ? ErrorKind::permission_denied : ErrorKind::unavailable,
                "cannot create " + path + ": " + std::strerror(errno));
  }
  const std::string text = json::serialize(
      json::object{{"url", content.url}, {"token", std::string(content.token.reveal())}});
  const ssize_t written = ::write(fd, text.data(), text.size());
  const int why =
      written < 0 ? errno : ENOSPC;  // what is written in part has met the end of the disk
  ::close(fd);
  if (written != static_cast<ssize_t>(text.size())) {
    return fail(ErrorKind::unavailable, "cannot write " + path + ": " + std::strerror(why));
  }
  return {};
}

std::optional<AdminFile> read_admin_file(const std::string& data) {
  std::ifstream file(path_in(data));
  std::ostringstream text;
  text << file.rdbuf();
  boost::system::error_code error;
  const json::value value = json::parse(text.str(), error);
  if (error || !value.is_object()) {
    return std::nullopt;
  }
  const auto* url = value.get_object().if_contains("url");
  const auto* token = value.get_object().if_contains("token");
  if (url == nullptr || token == nullptr || !url->is_string() || !token->is_string()) {
    return std::nullopt;
  }
  return AdminFile{std::string(url->get_string()), Secret{std::string(token->get_string())}};
}

void remove_admin_file(const std::string& data) { ::unlink(path_in(data).c_str()); }

}  // namespace hk::cli
