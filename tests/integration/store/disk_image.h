/// A disk as a power cut may leave it: files with what was synced of them and what was not, names
/// that are durable and names that are not yet. Fed with the operations of a run one by one; at any
/// moment images of it can be written into a directory.
///
/// What a cut may do here: of the bytes that were appended to a file and not synced, any part may
/// be there (how_much); of the names that were made, changed or removed since their directory was
/// synced, the first few, in their order, as a journal keeps them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "integration/store/watched_fs.h"

namespace hk::store {

/// One operation with bytes of its own, and what the witness was before it.
struct RecordedOperation {
  FileOperation::Kind kind{};
  std::string path{};
  std::string to{};
  std::string bytes{};
  std::shared_ptr<const std::string> witness{};
  std::uint64_t acknowledged = 0;  ///< the last batch that somebody was told of before it
};

/// Which unsynced appends survive, and how many unsynced changes of names.
enum class Survival : std::uint8_t {
  nothing,
  everything,
  some_first,   ///< of each file the first few
  torn,         ///< … and half a sector's worth of the next
  one_missing,  ///< all but one: a hole
  any,          ///< each or not
};
/// Holes: a disk may write the sectors of a file in any order.
inline bool leaves_holes(Survival survival) {
  return survival == Survival::one_missing || survival == Survival::any;
}

class DiskModel {
 public:
  DiskModel() = default;
  /// Everything in that directory is durable.
  static DiskModel of_directory(const std::string& path);

  void apply(const RecordedOperation& operation);
  /// Unsynced appends of all files.
  [[nodiscard]] std::size_t pending() const;
  /// Into an empty directory, by the last part of each name.
  void write_image(const std::string& directory, Survival survival, Rng& rng) const;

 private:
  struct File {
    std::string synced{};
    std::vector<std::string> pending{};
  };
  using Names = std::map<std::string, std::shared_ptr<File>>;
  /// A change of names that is not durable: nullptr removes.
  struct NameChange {
    std::string name{};
    std::shared_ptr<File> file{};
  };

  [[nodiscard]] static std::string content(const File& file, Survival survival, Rng& rng,
                                           std::size_t missing);
  void rename_to(const std::string& name, std::shared_ptr<File> file);

  Names now_;
  Names durable_;
  std::vector<NameChange> changes_;
};

}  // namespace hk::store
