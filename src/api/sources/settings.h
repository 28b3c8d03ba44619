/// What is set of a source, as the API shows it: read, checked, and written in full, so that what
/// is stored says everything by itself. Pure, any thread.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/sources/verify/scheme.h"
#include "base/exact_json.h"

namespace hk::api::sources {

/// Something wrong in a JSON body, and where.
struct WrongField {
  std::string pointer{};
  std::string detail{};
};
using WrongFields = std::vector<WrongField>;

/// Where events go. Exactly one of the three is set.
struct Target {
  std::string url{};
  std::vector<std::pair<std::string, std::string>> options{};  ///< of a URL: "retry-delay", "5s"
  std::string url_group{};
  std::string queue{};
};

struct Settings {
  static constexpr std::int64_t body_bytes_default = std::int64_t{1} << 20U;
  static constexpr std::int64_t window_default = 2'592'000;

  std::string name{};
  bool enabled = true;
  Scheme scheme{};
  std::int64_t dedup_window = window_default;  ///< seconds; -1: for ever
  Target target{};
  bool forward_all = true;
  std::vector<std::string> forwarded{};  ///< else these
  bool quarantine = true;
  std::size_t body_bytes_max = static_cast<std::size_t>(body_bytes_default);
  std::uint32_t per_second = 0;  ///< 0: no limit of its own
};

struct ReadSettings {
  Settings settings{};
  std::string document{};  ///< all of it, as JSON
};
/// All that is wrong, in the order of the fields. `secrets` is another's to read, and left out.
std::expected<ReadSettings, WrongFields> read_settings(const ExactJson& object);

/// RFC 7396.
void merge_patch(ExactJson& into, const ExactJson& patch);

/// The preset is known, or it is not one of `known_names`.
std::optional<Preset> preset_of(std::string_view name);

}  // namespace hk::api::sources
