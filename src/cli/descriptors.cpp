#include "cli/descriptors.h"

#include <fmt/core.h>

#include <algorithm>

namespace hk::cli {
namespace {

/// Files of the store (RocksDbOptions::open_files_max), its log and directories, pipes, name
/// servers, and the relay's connections.
constexpr std::uint64_t not_shared = 512 + 128;

}  // namespace

Result<std::optional<std::string>> share_descriptors(std::uint64_t limit,
                                                     config::Options& options) {
  if (limit < descriptors_min) {
    return fail(ErrorKind::invalid_argument,
                fmt::format("the limit of open files is {}, and the server needs at least {}. "
                            "Raise the limit of open files (LimitNOFILE of the unit, ulimit -n).",
                            limit, descriptors_min));
  }
  const std::uint64_t shared = limit - not_shared;
  const std::uint64_t attempts = std::min<std::uint64_t>(options.global_parallelism, shared / 4);
  const std::uint64_t connections =
      std::min<std::uint64_t>(options.connections_max, shared - attempts);
  if (connections == options.connections_max && attempts == options.global_parallelism) {
    return std::nullopt;
  }
  // A little less is nothing that a person has to hear of at every start.
  const bool worth_a_word =
      attempts < options.global_parallelism || connections < options.connections_max / 2;
  options.connections_max = connections;
  options.global_parallelism = attempts;
  if (!worth_a_word) {
    return std::nullopt;
  }
  return fmt::format(
      "the limit of open files ({}) allows {} connections and {} attempts at once, which is less "
      "than the settings say; raise it (LimitNOFILE of the unit, ulimit -n)",
      limit, connections, attempts);
}

}  // namespace hk::cli
