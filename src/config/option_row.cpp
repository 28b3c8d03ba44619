#include "config/option_row.h"

#include <algorithm>
#include <numeric>

namespace hk::config {
namespace {

/// Letters to add, drop or change (Levenshtein).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({changed, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

const std::vector<OptionRow>& option_rows() {
  static const std::vector<OptionRow> rows = {
#define HK_OPTION(name, kind, default_text, unit, allowed, since, help) \
  {#name, Kind::kind, default_text, unit, allowed, since, help},
#include "config/options.def"
#undef HK_OPTION
  };
  return rows;
}

const OptionRow* find_option(std::string_view name) {
  for (const OptionRow& row : option_rows()) {
    if (row.name == name) {
      return &row;
    }
  }
  return nullptr;
}

std::string flag_of(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string environment_of(std::string_view name) {
  std::string variable = "HIKYAKU_";
  for (const char c : name) {
    variable.push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c);
  }
  return variable;
}

std::string_view word_for(Kind kind) {
  switch (kind) {
    case Kind::flag: return "a boolean";
    case Kind::count: return "a whole number";
    case Kind::bytes: return "a size";
    case Kind::duration: return "a duration";
    case Kind::text: return "a text";
    case Kind::path: return "a path";
    case Kind::choice: return "a choice";
    case Kind::address: return "an address";
    case Kind::secret: return "a secret";
    case Kind::id: return "an id";
  }
  return "";
}

std::string nearest_option(std::string_view name) {
  constexpr std::size_t long_names = 64;  // nothing near is longer, and the work is bounded
  if (name.empty() || name.size() > long_names) {
    return {};
  }
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  const auto consider = [&](const std::string& known) {
    // A name that was cut short is nearer than its distance says.
    const bool begins = name.size() >= 3 && known.starts_with(name);
    const std::size_t far = begins ? 1 : distance(name, known);
    if (far < best_distance) {
      best_distance = far;
      best = known;
    }
  };
  for (const OptionRow& row : option_rows()) {
    consider(std::string(row.name));
    if (may_be_file(row.kind)) {
      consider(std::string(row.name) + "_file");
    }
  }
  return best;
}

}  // namespace hk::config
