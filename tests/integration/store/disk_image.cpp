#include "integration/store/disk_image.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include "store/rocksdb/file_io.h"

namespace hk::store {

namespace {

constexpr std::size_t sector = 512;
constexpr auto nobody = static_cast<std::size_t>(-1);

std::string base_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

DiskModel DiskModel::of_directory(const std::string& path) {
  DiskModel disk;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (!entry.is_regular_file()) {
      continue;
    }
    auto file = std::make_shared<File>();
    file->synced = read_whole_file(entry.path().string(), entry.file_size()).value_or("");
    disk.now_[entry.path().filename().string()] = file;
    disk.durable_[entry.path().filename().string()] = file;
  }
  return disk;
}

void DiskModel::rename_to(const std::string& name, std::shared_ptr<File> file) {
  if (file) {
    now_[name] = file;
  } else {
    now_.erase(name);
  }
  changes_.push_back({name, std::move(file)});
}

void DiskModel::apply(const RecordedOperation& operation) {
  using Kind = FileOperation::Kind;
  const std::string name = base_of(operation.path);
  const auto found = now_.find(name);
  const std::shared_ptr<File> file = found == now_.end() ? nullptr : found->second;
  switch (operation.kind) {
    case Kind::create: rename_to(name, std::make_shared<File>()); break;
    case Kind::append:
      if (file) {
        file->pending.push_back(operation.bytes);
      }
      break;
    case Kind::sync:
      if (file) {
        for (const std::string& bytes : file->pending) {
          file->synced += bytes;
        }
        file->pending.clear();
      }
      break;
    case Kind::rename:
      if (file) {  // not RocksDB's own log, which nobody needs
        rename_to(base_of(operation.to), file);
        rename_to(name, nullptr);
      }
      break;
    case Kind::link:
      if (file) {
        rename_to(base_of(operation.to), file);
      }
      break;
    case Kind::remove: rename_to(name, nullptr); break;
    case Kind::sync_directory:
      durable_ = now_;
      changes_.clear();
      break;
  }
}

std::size_t DiskModel::pending() const {
  std::size_t count = 0;
  for (const auto& [name, file] : now_) {
    count += file->pending.size();
  }
  return count;
}

std::string DiskModel::content(const File& file, Survival survival, Rng& rng, std::size_t missing) {
  std::string out = file.synced;
  const std::size_t count = file.pending.size();
  std::size_t first = count;
  if (survival == Survival::nothing) {
    first = 0;
  } else if (survival == Survival::some_first || survival == Survival::torn) {
    first = rng.below(count + 1);
  }
  std::string hole;  // becomes zeros when something follows it
  for (std::size_t i = 0; i < first; ++i) {
    const std::string& bytes = file.pending[i];
    const bool there = survival == Survival::one_missing
                           ? i != missing
                           : survival != Survival::any || rng.below(2) == 0;
    if (there) {
      out += std::exchange(hole, {}) + bytes;
    } else {
      hole.append(bytes.size(), '\0');
    }
  }
  if (survival == Survival::torn && first < count) {
    // To a border of a sector, or to where it ends.
    const std::size_t to = (out.size() / sector + 1 + rng.below(3)) * sector;
    out += file.pending[first].substr(0, to - out.size());
  }
  return out;
}

void DiskModel::write_image(const std::string& directory, Survival survival, Rng& rng) const {
  Names names = durable_;
  std::size_t changes = changes_.size();
  if (survival == Survival::nothing) {
    changes = 0;
  } else if (survival != Survival::everything) {
    changes = rng.below(changes + 1);
  }
  for (std::size_t i = 0; i < changes; ++i) {
    if (changes_[i].file) {
      names[changes_[i].name] = changes_[i].file;
    } else {
      names.erase(changes_[i].name);
    }
  }
  std::size_t missing = pending() == 0 ? nobody : rng.below(pending());
  for (const auto& [name, file] : names) {
    std::ofstream out(directory + "/" + name, std::ios::binary);
    out << content(*file, survival, rng, missing);
    // Counted over all files: it is missing in one of them.
    missing = missing >= file->pending.size() && missing != nobody ? missing - file->pending.size()
                                                                   : nobody;
  }
}

}  // namespace hk::store
