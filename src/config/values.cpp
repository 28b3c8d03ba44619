#include "config/values.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

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

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) { return lower(c); });
  return out;
}

std::string_view take_while(std::string_view& text, bool (*wanted)(char)) {
  const auto end = std::find_if_not(text.begin(), text.end(), wanted);
  const auto taken = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  text.remove_prefix(taken.size());
  return taken;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }

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
  return fail(ErrorKind::invalid_argument, "must be from " + std::string(allowed.substr(0, dots)) +
                                               " to " + std::string(allowed.substr(dots + 2)));
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

bool host_character(char c) {
  return is_digit(c) || is_letter(c) || c == '.' || c == '-' || c == '_';
}
bool ipv6_character(char c) {
  return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'f') || c == ':' || c == '.';
}

}  // namespace

std::optional<bool> parse_flag(std::string_view text) {
  const std::string word = lower(text);
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
  const std::string unit = text.empty() ? "b" : lower(text);
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
  return assign_number(field, row, text, parse_duration, "for example 250ms, 10s or 1d10h30m");
}

Result<void> assign(HostPort& field, const OptionRow& row, std::string_view text) {
  const auto value = parse_address(text);
  if (!value) {
    return not_a(row, "for example 127.0.0.1:8080, 0.0.0.0:8080 or [::1]:8080");
  }
  field = *value;
  return {};
}

Result<void> assign(std::string& field, const OptionRow& row, std::string_view text) {
  if (text.find('\0') != std::string_view::npos || text.find('\n') != std::string_view::npos) {
    return fail(ErrorKind::invalid_argument, "must be one line without null bytes");
  }
  if (text.empty() && !row.default_text.empty()) {
    return fail(ErrorKind::invalid_argument, "must not be empty");
  }
  if (row.kind == Kind::choice && text != row.default_text) {
    std::string_view rest = row.allowed;
    bool known = false;
    while (!known && !rest.empty()) {
      const auto bar = std::min(rest.find('|'), rest.size());
      known = rest.substr(0, bar) == text;
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
    if (!known) {
      return fail(ErrorKind::invalid_argument,
                  "is not known: it must be one of " + with_commas(row.allowed));
    }
  }
  field = text;
  return {};
}

Result<void> assign(Secret& field, const OptionRow&, std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < 0x7f; });
  if (!plain) {
    return fail(ErrorKind::invalid_argument,
                "must be one word of printable characters (a line break or a blank was found)");
  }
  field = Secret(std::string(text));
  return {};
}

}  // namespace hk::config
