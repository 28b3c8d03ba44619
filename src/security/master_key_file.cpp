#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <filesystem>

#include "base/encoding.h"
#include "security/credentials.h"

namespace hk::security {
namespace {

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) {
      ::close(descriptor_);
    }
  }
  [[nodiscard]] int get() const { return descriptor_; }
  [[nodiscard]] bool is_open() const { return descriptor_ >= 0; }

 private:
  int descriptor_;
};

std::unexpected<Error> cannot(const std::string& what, const std::string& path, int code) {
  return fail(
      code == EACCES || code == EPERM ? ErrorKind::permission_denied : ErrorKind::unavailable,
      "cannot " + what + " the master key file " + path + ": " +
          std::generic_category().message(code));
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::write(descriptor, bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) {
      continue;
    }
    if (done <= 0) {
      return false;
    }
    bytes.remove_prefix(static_cast<std::size_t>(done));
  }
  return true;
}

bool sync_directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const File file(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return file.is_open() && ::fsync(file.get()) == 0;
}

Result<void> write_key(int descriptor, const Secret& key, const std::string& path) {
  std::string text = hex(key.reveal()) + "\n";
  const bool written = write_all(descriptor, text) && ::fsync(descriptor) == 0;
  const int code = errno;
  OPENSSL_cleanse(text.data(), text.size());
  if (!written) {
    return cannot("write", path, code);
  }
  return {};
}

/// link() refuses to replace a key that another process has just made, rename() replaces it.
enum class Existing : std::uint8_t { keep, replace };

/// The key is complete and on disk under another name before it gets its own: a crash leaves either
/// no key file or a whole one, never a half one that data was already sealed with.
Result<void> create_key_file(const std::string& path, const Secret& key, Existing existing) {
  std::uint64_t number = 0;
  fill_random(&number, sizeof number);
  const std::string draft = path + ".new-" + std::to_string(number);
  const File file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file.is_open()) {
    return cannot("create", path, errno);
  }
  auto written = write_key(file.get(), key, path);
  if (written && existing == Existing::keep && ::link(draft.c_str(), path.c_str()) != 0 &&
      errno != EEXIST) {
    written = cannot("create", path, errno);
  }
  if (written && existing == Existing::replace && ::rename(draft.c_str(), path.c_str()) != 0) {
    written = cannot("create", path, errno);
  }
  ::unlink(draft.c_str());  // a rename has left nothing there
  if (!written) {
    return written;
  }
  if (!sync_directory_of(path)) {
    return cannot("sync the directory of", path, errno);
  }
  return {};
}

Result<Secret> read_key_file(const std::string& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    if (errno == ENOENT) {
      return fail(ErrorKind::not_found, "there is no master key file " + path);
    }
    return cannot("open", path, errno);
  }
  struct stat status {};
  if (::fstat(file.get(), &status) != 0) {
    return cannot("inspect", path, errno);
  }
  if (!S_ISREG(status.st_mode)) {
    return fail(ErrorKind::invalid_argument,
                "the master key file " + path + " is not a regular file");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return fail(ErrorKind::permission_denied,
                "the master key file " + path +
                    " can be reached by others: take their permissions away (chmod 600 " + path +
                    ")");
  }

  std::array<char, 256> buffer{};  // a key is 64 characters and a newline; more is not a key
  std::size_t held = 0;
  while (held < buffer.size()) {
    const ssize_t got = ::read(file.get(), buffer.data() + held, buffer.size() - held);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got < 0) {
      const int code = errno;
      OPENSSL_cleanse(buffer.data(), buffer.size());
      return cannot("read", path, code);
    }
    if (got == 0) {
      break;
    }
    held += static_cast<std::size_t>(got);
  }
  while (held > 0 && std::string_view(" \t\r\n").contains(buffer[held - 1])) {
    --held;
  }
  Secret text(std::string(buffer.data(), held));
  OPENSSL_cleanse(buffer.data(), buffer.size());
  return text;
}

}  // namespace

Result<MasterKey> MasterKey::from_file(const std::string& path, bool create) {
  auto text = read_key_file(path);
  if (!text && text.error().kind == ErrorKind::not_found && create) {
    if (auto created = create_key_file(path, make().key_, Existing::keep); !created) {
      return std::unexpected(created.error());
    }
    text = read_key_file(path);
  }
  if (!text) {
    return std::unexpected(text.error());
  }
  auto key = from_hex(*text);
  if (!key) {
    return fail(key.error().kind,
                "the file " + path + " does not hold a master key: " + key.error().message);
  }
  return key;
}

Result<void> MasterKey::write_file(const std::string& path) const {
  return create_key_file(path, key_, Existing::replace);
}

Result<void> rename_key_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) != 0) {
    return cannot("rename", from, errno);
  }
  if (!sync_directory_of(to)) {
    return cannot("sync the directory of", to, errno);
  }
  return {};
}

}  // namespace hk::security
