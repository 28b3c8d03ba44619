/// Texts of settings as values, strictly: nullopt for anything but the documented form.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/options.h"

namespace hk::config {

std::optional<bool> parse_flag(std::string_view text);            ///< true false yes no on off 1 0
std::optional<std::uint64_t> parse_count(std::string_view text);  ///< decimal digits
std::optional<std::uint64_t> parse_bytes(std::string_view text);  ///< 1000, 64KiB, 10MB
std::optional<Millis> parse_duration(std::string_view text);      ///< 250ms, 10s, 1d10h30m, 0
std::optional<HostPort> parse_address(std::string_view text);     ///< 127.0.0.1:8080, [::1]:8080

/// Where whoever listens on `host` is reached from this machine, as it stands in a URL: "every
/// address" is none that can be connected to.
std::string own_host(std::string_view host);

/// Assigns `text` to the field of an option of this kind; the error says what would be right and
/// does not repeat the value.
Result<void> assign(bool& field, const OptionRow& row, std::string_view text);
Result<void> assign(std::uint64_t& field, const OptionRow& row, std::string_view text);
Result<void> assign(Millis& field, const OptionRow& row, std::string_view text);
Result<void> assign(std::vector<Millis>& field, const OptionRow& row, std::string_view text);
Result<void> assign(HostPort& field, const OptionRow& row, std::string_view text);
/// "": none.
Result<void> assign(std::optional<HostPort>& field, const OptionRow& row, std::string_view text);
Result<void> assign(std::string& field, const OptionRow& row, std::string_view text);
Result<void> assign(Secret& field, const OptionRow& row, std::string_view text);

/// Which of the row's choices it is, from 0.
Result<std::size_t> choice_of(const OptionRow& row, std::string_view text);

/// REQUIRES: the enumerators are the row's choices, in their order.
template <class Choice>
  requires std::is_enum_v<Choice>
Result<void> assign(Choice& field, const OptionRow& row, std::string_view text) {
  const auto index = choice_of(row, text);
  if (!index) {
    return std::unexpected(index.error());
  }
  field = static_cast<Choice>(*index);
  return {};
}

/// A count in a narrower field.
template <std::integral Number>
  requires(!std::same_as<Number, bool> && !std::same_as<Number, std::uint64_t>)
Result<void> assign(Number& field, const OptionRow& row, std::string_view text) {
  std::uint64_t wide = 0;
  if (auto done = assign(wide, row, text); !done) {
    return done;
  }
  if (!std::in_range<Number>(wide)) {
    return fail(ErrorKind::invalid_argument, "is too large");
  }
  field = static_cast<Number>(wide);
  return {};
}

/// The value's text into the field of a row: `#define HK_OPTION HK_OPTION_ASSIGN` gives a table
/// of Assign<Settings>, one function a row.
template <class Settings>
using Assign = Result<void> (*)(Settings&, const OptionRow&, std::string_view);
#define HK_OPTION_ASSIGN(field, ...)                                              \
  [](auto& settings, const ::hk::config::OptionRow& row, std::string_view text) { \
    return assign(settings.field, row, text);                                     \
  },

}  // namespace hk::config
