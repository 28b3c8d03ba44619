#include "core/schedule/cron.h"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/ascii.h"

namespace hk::core {

namespace {

constexpr std::array<std::string_view, 12> month_names{"JAN", "FEB", "MAR", "APR", "MAY", "JUN",
                                                       "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"};
constexpr std::array<std::string_view, 7> weekday_names{"SUN", "MON", "TUE", "WED",
                                                        "THU", "FRI", "SAT"};

struct Field {
  std::string_view name;
  unsigned low;
  unsigned high;  ///< the largest value that may be written
  unsigned last;  ///< where * and a/n end: 6 for weekdays, where 7 is 0 again
  std::span<const std::string_view> names;  ///< of low, low + 1, …
};
constexpr std::array fields{
    Field{"minute", 0, 59, 59, {}},
    Field{"hour", 0, 23, 23, {}},
    Field{"day of month", 1, 31, 31, {}},
    Field{"month", 1, 12, 12, month_names},
    Field{"day of week", 0, 7, 6, weekday_names},
};

struct Descriptor {
  std::string_view name;
  std::string_view text;
};
constexpr std::array descriptors{
    Descriptor{"@hourly", "0 * * * *"},   Descriptor{"@daily", "0 0 * * *"},
    Descriptor{"@midnight", "0 0 * * *"}, Descriptor{"@weekly", "0 0 * * 0"},
    Descriptor{"@monthly", "0 0 1 * *"},  Descriptor{"@yearly", "0 0 1 1 *"},
    Descriptor{"@annually", "0 0 1 1 *"},
};

/// For messages: short, and nothing in it that a terminal or JSON would stumble over.
std::string quoted(std::string_view text) {
  constexpr std::size_t shown_max = 40;
  std::string shown = "\"";
  for (const char c : text.substr(0, shown_max)) {
    shown += c >= ' ' && c <= '~' && c != '"' && c != '\\' ? c : '?';
  }
  return shown + (text.size() > shown_max ? "…\"" : "\"");
}

std::unexpected<Error> refuse(const std::string& what) {
  return fail(ErrorKind::invalid_argument, "cron: " + what);
}

std::string allowed(const Field& field) {
  std::string text = std::to_string(field.low) + " to " + std::to_string(field.high);
  if (!field.names.empty()) {
    text += " or " + std::string(field.names.front()) + " to " + std::string(field.names.back());
  }
  return text;
}

/// Digits only; what is too long for any field is too large for it.
std::optional<unsigned> to_number(std::string_view text) {
  if (text.empty() || !std::all_of(text.begin(), text.end(), is_digit)) {
    return std::nullopt;
  }
  constexpr unsigned number_max = 9999;
  unsigned number = 0;
  for (const char digit : text) {
    number = std::min(number * 10 + static_cast<unsigned>(digit - '0'), number_max);
  }
  return number;
}

Result<unsigned> parse_value(const Field& field, std::string_view text) {
  for (std::size_t i = 0; i < field.names.size(); ++i) {
    if (equals_ignoring_case(field.names[i], text)) {
      return field.low + static_cast<unsigned>(i);
    }
  }
  const auto number = to_number(text);
  if (!number) {
    return refuse("the " + std::string(field.name) + " " + quoted(text) +
                  " is not understood; write " + allowed(field) +
                  ", a range a-b, * for all, a step like */5, or a list by commas");
  }
  if (*number < field.low || *number > field.high) {
    return refuse("the " + std::string(field.name) + " " + quoted(text) +
                  " is out of range; allowed is " + allowed(field));
  }
  return *number;
}

struct FieldBits {
  std::uint64_t bits = 0;
  bool restricted = true;
};

Result<unsigned> parse_step(const Field& field, std::string_view text) {
  const auto step = to_number(text);
  if (!step || *step == 0) {
    return refuse("the step " + quoted(text) + " of the " + std::string(field.name) +
                  " is not allowed; write a number of 1 or more after the /");
  }
  return *step;
}

/// One item of a list: ("*" | "?" | value ["-" value]) ["/" step]
Result<FieldBits> parse_item(const Field& field, std::string_view item) {
  const auto slash = item.find('/');
  const bool stepped = slash != std::string_view::npos;
  const std::string_view range = item.substr(0, slash);
  unsigned step = 1;
  if (stepped) {
    const auto parsed = parse_step(field, item.substr(slash + 1));
    if (!parsed) {
      return std::unexpected(parsed.error());
    }
    step = *parsed;
  }

  FieldBits result;
  unsigned low = field.low;
  unsigned high = field.last;
  if (range == "*" || range == "?") {
    result.restricted = step > 1;
  } else {
    const auto dash = range.find('-');
    const auto first = parse_value(field, range.substr(0, dash));
    if (!first) {
      return std::unexpected(first.error());
    }
    low = *first;
    if (dash != std::string_view::npos) {
      const auto last = parse_value(field, range.substr(dash + 1));
      if (!last) {
        return std::unexpected(last.error());
      }
      high = *last;
      if (low > high) {
        return refuse("the range " + quoted(range) + " of the " + std::string(field.name) +
                      " ends before it begins; write the smaller value first, or two ranges with "
                      "a comma between");
      }
    } else {
      high = stepped ? std::max(low, field.last) : low;
    }
  }
  for (unsigned value = low; value <= high; value += step) {
    result.bits |= std::uint64_t{1} << value;
  }
  return result;
}

Result<FieldBits> parse_field(const Field& field, std::string_view text) {
  FieldBits result;
  while (true) {
    const auto comma = text.find(',');
    const auto item = parse_item(field, text.substr(0, comma));
    if (!item) {
      return item;
    }
    result.bits |= item->bits;
    result.restricted = result.restricted && item->restricted;
    if (comma == std::string_view::npos) {
      return result;
    }
    text.remove_prefix(comma + 1);
  }
}

/// Leaves the field that is too many in the list, so that it can be told.
std::vector<std::string_view> split_fields(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(blanks), text.size());
    parts.push_back(text.substr(0, end));
    text = trim(text.substr(end));
  }
  return parts;
}

/// Whether some month has a day that matches; a leap year counts.
bool comes_ever(const Cron& cron) {
  constexpr std::array<unsigned, 13> days_max{0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (cron.either_day_field) {
    return true;
  }
  const auto first_day = static_cast<unsigned>(std::countr_zero(cron.days));
  for (unsigned month = 1; month <= 12; ++month) {
    if ((cron.months >> month & 1U) != 0 && first_day <= days_max[month]) {
      return true;
    }
  }
  return false;
}

Result<Cron> parse_fields(std::string_view text) {
  const auto parts = split_fields(text);
  if (parts.size() != fields.size()) {
    return refuse(quoted(text) + " has " + std::to_string(parts.size()) +
                  " fields and needs 5: minute, hour, day of month, month, day of week" +
                  (parts.size() == 6 ? "; seconds are not supported" : ""));
  }
  std::array<FieldBits, fields.size()> parsed;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto field = parse_field(fields[i], parts[i]);
    if (!field) {
      return std::unexpected(field.error());
    }
    parsed[i] = *field;
  }

  const std::uint64_t weekdays = parsed[4].bits | parsed[4].bits >> 7U;  // 7 is Sunday too
  const Cron cron{.minutes = parsed[0].bits,
                  .hours = static_cast<std::uint32_t>(parsed[1].bits),
                  .days = static_cast<std::uint32_t>(parsed[2].bits),
                  .months = static_cast<std::uint16_t>(parsed[3].bits),
                  .weekdays = static_cast<std::uint8_t>(weekdays & 0x7FU),
                  .either_day_field = parsed[2].restricted && parsed[4].restricted};
  if (!comes_ever(cron)) {
    return refuse("the day of month " + quoted(parts[2]) + " never comes in the month " +
                  quoted(parts[3]) +
                  "; February has 28 or 29 days, and April, June, September "
                  "and November have 30");
  }
  return cron;
}

Result<Cron> parse_descriptor(std::string_view text) {
  std::string known;
  for (const Descriptor& descriptor : descriptors) {
    if (equals_ignoring_case(descriptor.name, text)) {
      return parse_fields(descriptor.text);
    }
    known += " " + std::string(descriptor.name);
  }
  return refuse(quoted(text) + " is not known; there are" + known + " and five fields");
}

}  // namespace

Result<ParsedCron> parse_cron(std::string_view text) {
  text = trim(text);
  if (text.size() > cron_bytes_max) {
    return refuse("the text is longer than " + std::to_string(cron_bytes_max) + " bytes");
  }
  ParsedCron result{.text = std::string(text), .zone = "UTC"};
  for (const std::string_view prefix : {"CRON_TZ=", "TZ="}) {
    if (!text.starts_with(prefix)) {
      continue;
    }
    const auto end = std::min(text.find_first_of(blanks), text.size());
    const std::string_view zone = text.substr(prefix.size(), end - prefix.size());
    if (!is_zone_name(zone)) {
      return refuse("the time zone " + quoted(zone) + " is not understood; write " +
                    std::string(prefix) +
                    " and an IANA name like Europe/Berlin, a space, and "
                    "then the five fields");
    }
    result.zone = std::string(zone);
    text = trim(text.substr(end));
    break;
  }
  const auto cron = text.starts_with('@') ? parse_descriptor(text) : parse_fields(text);
  if (!cron) {
    return std::unexpected(cron.error());
  }
  result.cron = *cron;
  return result;
}

}  // namespace hk::core
