#include "config/option_row.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/ascii.h"

namespace hk::config {
namespace {

constexpr std::string_view file_suffix = "_file";

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

std::string OptionTable::name_of(const OptionRow& row) const {
  std::string_view variable = row.variable;
  if (variable.starts_with(prefix)) {
    variable.remove_prefix(prefix.size());
  }
  return lower_case(variable);
}

std::string OptionTable::flag_of(const OptionRow& row) const {
  return row.kind == Kind::secret && !secret_flags ? std::string() : flag_for(name_of(row));
}

const OptionRow* OptionTable::find(std::string_view name) const {
  const auto row =
      std::ranges::find_if(rows, [&](const OptionRow& one) { return name_of(one) == name; });
  return row == rows.end() ? nullptr : &*row;
}

bool OptionTable::knows(std::string_view name) const {
  if (find(name) != nullptr) {
    return true;
  }
  if (!name.ends_with(file_suffix)) {
    return false;
  }
  const OptionRow* const held = find(name.substr(0, name.size() - file_suffix.size()));
  return held != nullptr && may_be_file(held->kind);
}

std::string OptionTable::nearest(std::string_view name) const {
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
  for (const OptionRow& row : rows) {
    consider(name_of(row));
    if (may_be_file(row.kind)) {
      consider(name_of(row).append(file_suffix));
    }
  }
  return best;
}

std::string flag_for(std::string_view name) {
  std::string flag = "--" + std::string(name);
  std::replace(flag.begin(), flag.end(), '_', '-');
  return flag;
}

std::string_view word_for(Kind kind) {
  switch (kind) {
    case Kind::flag: return "a boolean";
    case Kind::count: return "a whole number";
    case Kind::bytes: return "a size";
    case Kind::duration: return "a duration";
    case Kind::durations: return "a list of durations";
    case Kind::text: return "a text";
    case Kind::url: return "a URL";
    case Kind::path: return "a path";
    case Kind::choice: return "a choice";
    case Kind::address: return "an address";
    case Kind::secret: return "a secret";
    case Kind::id: return "an id";
    case Kind::database: return "the URL of a database";
  }
  return "";
}

std::string_view placeholder_for(Kind kind) {
  switch (kind) {
    case Kind::flag: return "";
    case Kind::count: return "N";
    case Kind::bytes: return "SIZE";
    case Kind::duration: return "DURATION";
    case Kind::durations: return "DURATION,...";
    case Kind::text: return "TEXT";
    case Kind::url:
    case Kind::database: return "URL";
    case Kind::path: return "PATH";
    case Kind::choice: return "CHOICE";
    case Kind::address: return "HOST:PORT";
    case Kind::secret: return "SECRET";
    case Kind::id: return "ID";
  }
  return "";
}

}  // namespace hk::config
