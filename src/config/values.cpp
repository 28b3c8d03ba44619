#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "base/ascii.h"
#include "base/duration.h"

namespace hk::config {
namespace {

struct Unit {
  std::string_view name;
  std::uint64_t size;
};

constexpr std::array<Unit, 9> byte_units = {{
    {"b", 1},
    {"kb", 1'000},
    {"mb", 1'000'000},
    {"gb", 1'000'000'000},
    {"tb", 1'000'000'000'000},
    {"kib", 1ULL << 10U},
    {"mib", 1ULL << 20U},
    {"gib", 1ULL << 30U},
    {"tib", 1ULL << 40U},
}};

constexpr auto largest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());

std::string_view take_while(std::string_view& text, bool (*wanted)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), wanted);
  const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

bool is_letter(char c) { return to_lower(c) >= 'a' && to_lower(c) <= 'z'; }

/// nullopt: beyond what a signed 64-bit number holds.
std::optional<std::uint64_t> product(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > largest / b) {
    return std::nullopt;
  }
  return a * b;
}

/// Applies to both ends of "low..high"; an end that is not written is not checked.
template <class Value, class Parse>
bool within(Value value, std::string_view allowed, Parse parse) {
  const auto dots = allowed.find("..");
  if (dots == std::string_view::npos) {
    return true;
  }
  const auto low = parse(allowed.substr(0, dots));
  const auto high = parse(allowed.substr(dots + 2));
  return (!low || value >= *low) && (!high || value <= *high);
}

std::unexpected<Error> out_of_range(std::string_view allowed) {
  const auto dots = allowed.find("..");
  const std::string low(allowed.substr(0, dots));
  const std::string high(allowed.substr(dots + 2));
  return fail(ErrorKind::invalid_argument,
              high.empty() ? "must be at least " + low : "must be from " + low + " to " + high);
}

std::unexpected<Error> not_a(const OptionRow& row, std::string_view example) {
  return fail(ErrorKind::invalid_argument,
              "is not " + std::string(word_for(row.kind)) + ": write " + std::string(example));
}

template <class Value, class Parse>
Result<void> assign_number(Value& field, const OptionRow& row, std::string_view text, Parse parse,
                           std::string_view example) {
  const auto value = parse(text);
  if (!value) {
    return not_a(row, example);
  }
  if (!within(*value, row.allowed, parse)) {
    return out_of_range(row.allowed);
  }
  field = *value;
  return {};
}

std::string with_commas(std::string_view choices) {
  std::string out;
  for (const char c : choices) {
    out += c == '|' ? ", " : std::string(1, c);
  }
  return out;
}

/// A number without a unit is one of the row's unit, if that has one.
std::optional<Millis> parse_duration_of(const OptionRow& row, std::string_view text) {
  const bool bare = !text.empty() && is_digit(text.back()) && !row.unit.empty();
  return parse_duration(bare ? std::string(text).append(row.unit) : std::string(text));
}

std::unexpected<Error> not_a_duration(const OptionRow& row) {
  const std::string bare = row.unit == "s"    ? "a number of seconds, or "
                           : row.unit == "ms" ? "a number of milliseconds, or "
                                              : "";
  return not_a(row, bare + "for example 250ms, 10s or 1d10h30m");
}

bool host_character(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_';
}
bool ipv6_character(char c) { return is_hex_digit(c) || c == ':' || c == '.'; }

}  // namespace

std::optional<bool> parse_flag(std::string_view text) {
  const std::string word = lower_case(text);
  if (word == "true" || word == "yes" || word == "on" || word == "1") {
    return true;
  }
  if (word == "false" || word == "no" || word == "off" || word == "0") {
    return false;
  }
  return std::nullopt;
}

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, number);
  if (text.empty() || read.ec != std::errc{} || read.ptr != end || number > largest) {
    return std::nullopt;
  }
  return number;
}

std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  const auto number = parse_count(take_while(text, is_digit));
  if (!number) {
    return std::nullopt;
  }
  const std::string unit = text.empty() ? "b" : lower_case(text);
  for (const Unit& known : byte_units) {
    if (known.name == unit) {
      return product(*number, known.size);
    }
  }
  return std::nullopt;
}

std::optional<Millis> parse_duration(std::string_view text) {
  const Result<Millis> read = hk::parse_duration(text, BareNumber::refused);
  return read ? std::optional(*read) : std::nullopt;
}

std::optional<HostPort> parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (colon == std::string_view::npos || colon == 0) {
    return std::nullopt;
  }
  std::string_view host = text.substr(0, colon);
  const auto port = parse_count(text.substr(colon + 1));
  const bool bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (bracketed) {
    host = host.substr(1, host.size() - 2);
  }
  const auto allowed = bracketed ? ipv6_character : host_character;
  if (!port || *port > 65535 || !std::all_of(host.begin(), host.end(), allowed) ||
      (bracketed && host.find(':') == std::string_view::npos)) {
    return std::nullopt;
  }
  return HostPort{std::string(host), static_cast<std::uint16_t>(*port)};
}

std::string own_host(std::string_view host) {
  if (host == "0.0.0.0") {
    return "127.0.0.1";
  }
  if (host.find(':') == std::string_view::npos) {
    return std::string(host);
  }
  const bool everywhere = host.find_first_not_of(":0") == std::string_view::npos;
  return everywhere ? "[::1]" : "[" + std::string(host) + "]";
}

Result<void> assign(bool& field, const OptionRow& row, std::string_view text) {
  return assign_number(field, row, text, parse_flag, "true or false");
}

Result<void> assign(std::uint64_t& field, const OptionRow& row, std::string_view text) {
  if (row.kind == Kind::bytes) {
    return assign_number(field, row, text, parse_bytes, "for example 1000, 512KiB or 64MiB");
  }
  return assign_number(field, row, text, parse_count, "it with digits only, for example 16");
}

Result<void> assign(Millis& field, const OptionRow& row, std::string_view text) {
  const auto value = parse_duration_of(row, text);
  if (!value) {
    return not_a_duration(row);
  }
  if (!within(*value, row.allowed, parse_duration)) {
    return out_of_range(row.allowed);
  }
  field = *value;
  return {};
}

Result<void> assign(std::vector<Millis>& field, const OptionRow& row, std::string_view text) {
  std::string_view rest = hk::trim(text, white_space);
  if (rest.starts_with('[') && rest.ends_with(']')) {
    rest = rest.substr(1, rest.size() - 2);
  }
  std::vector<Millis> all;
  for (bool more = true; more;) {
    const auto comma = std::min(rest.find(','), rest.size());
    const auto value = parse_duration_of(row, hk::trim(rest.substr(0, comma), white_space));
    if (!value) {
      return not_a(row, "for example " + std::string(row.default_text));
    }
    if (!within(*value, row.allowed, parse_duration)) {
      return fail(ErrorKind::invalid_argument, "each " + out_of_range(row.allowed).error().message);
    }
    all.push_back(*value);
    more = comma < rest.size();
    rest.remove_prefix(std::min(comma + 1, rest.size()));
  }
  field = std::move(all);
  return {};
}

Result<void> assign(HostPort& field, const OptionRow& row, std::string_view text) {
  const auto value = parse_address(text);
  if (!value) {
    return not_a(row, "for example 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080");
  }
  field = *value;
  return {};
}

Result<void> assign(std::optional<HostPort>& field, const OptionRow& row, std::string_view text) {
  field.reset();
  return text.empty() ? Result<void>{} : assign(field.emplace(), row, text);
}

Result<std::size_t> choice_of(const OptionRow& row, std::string_view text) {
  std::string_view rest = row.allowed;
  for (std::size_t index = 0; !rest.empty(); ++index) {
    const auto bar = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, bar) == text) {
      return index;
    }
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return fail(ErrorKind::invalid_argument, "must be one of " + with_commas(row.allowed));
}

Result<void> assign(std::string& field, const OptionRow& row, std::string_view text) {
  if (text.find('\0') != std::string_view::npos || text.find('\n') != std::string_view::npos) {
    return fail(ErrorKind::invalid_argument, "must be one line without null bytes");
  }
  if (text.empty() && !row.default_text.empty()) {
    return fail(ErrorKind::invalid_argument, "must not be empty");
  }
  if (row.kind == Kind::choice && text != row.default_text) {
    if (auto known = choice_of(row, text); !known) {
      return std::unexpected(known.error());
    }
  }
  field = text;
  return {};
}

Result<void> assign(Secret& field, const OptionRow& row, std::string_view text) {
  const char least = row.kind == Kind::database ? ' ' : '!';  // "host=a dbname=b" names one, too
  const bool plain = std::ranges::all_of(text, [least](char c) { return c >= least && c < 0x7f; });
  if (!plain) {
    return fail(ErrorKind::invalid_argument,
                "must be one word of printable characters (a line break or a blank was found)");
  }
  field = Secret(std::string(text));
  return {};
}

}  // namespace hk::config
