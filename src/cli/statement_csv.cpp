#include "cli/statement_csv.h"

#include <algorithm>
#include <array>
#include <istream>

#include "base/ascii.h"

namespace hk::cli {

namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 6> line_members = {"external_id", "date",      "amount",
                                                          "currency",    "reference", "text"};
constexpr std::size_t members_needed = 4;  // the first ones
constexpr std::size_t row_bytes_max = std::size_t{1} << 20U;

std::string listed(const auto& list) {
  std::string all;
  for (const auto& one : list) {
    all += (all.empty() ? "" : ", ") + std::string(one);
  }
  return all;
}

std::unexpected<Error> bad_csv(std::string text) {
  return fail(ErrorKind::invalid_argument, std::move(text));
}

}  // namespace

Result<void> add_column(std::map<std::string, std::vector<std::string>>& columns,
                        std::string_view given) {
  const std::size_t sign = given.find('=');
  const std::string_view member = given.substr(0, sign);
  if (sign == std::string_view::npos || sign + 1 == given.size() ||
      std::ranges::find(line_members, member) == line_members.end()) {
    return bad_csv("\"" + std::string(given) +
                   "\" must be MEMBER=COLUMN, with one of these members: " + listed(line_members));
  }
  columns[std::string(member)].emplace_back(given.substr(sign + 1));
  return {};
}

Result<std::string> minor_units(std::string_view text, unsigned decimals, bool decimal_comma) {
  const auto no_amount = [text] { return bad_csv("\"" + std::string(text) + "\" is no amount"); };
  const char point = decimal_comma ? ',' : '.';
  std::string digits;
  bool negative = false;
  bool begun = false;
  std::optional<std::size_t> point_at;
  for (const char c : trim(text)) {
    if (is_digit(c)) {
      digits += c;
      begun = true;
    } else if ((c == '-' || c == '+') && !begun) {
      negative = c == '-';
      begun = true;
    } else if (c == point && !point_at) {
      point_at = digits.size();
    } else if ((c != (decimal_comma ? '.' : ',') && c != '\'' && c != ' ') || point_at) {
      return no_amount();  // nor is it a mark between groups of digits
    }
  }
  const std::size_t behind = point_at ? digits.size() - *point_at : 0;
  if (digits.empty()) {
    return no_amount();
  }
  if (behind > decimals) {
    return bad_csv("\"" + std::string(text) + "\" has more than " + std::to_string(decimals) +
                   " decimals");
  }
  digits.append(decimals - behind, '0');
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
  return (negative && digits != "0" ? "-" : "") + digits;
}

Result<std::string> day_text(std::string_view text, std::string_view form) {
  const std::string_view given = trim(text);
  const auto no_day = [&] {
    return bad_csv("\"" + std::string(text) + "\" is no day of the form " + std::string(form));
  };
  std::map<char, std::string> parts;
  std::size_t at = 0;
  for (std::size_t i = 0; i < form.size();) {
    const char letter = form[i];
    if (letter != 'Y' && letter != 'M' && letter != 'D') {
      if (at == given.size() || given[at] != letter) {
        return no_day();
      }
      ++at;
      ++i;
      continue;
    }
    const std::size_t letters = std::min(form.find_first_not_of(letter, i), form.size()) - i;
    // One letter stands for one digit or two; several for as many.
    const std::size_t most = letters == 1 ? 2 : letters;
    std::string& part = parts[letter];
    while (part.size() < most && at < given.size() && is_digit(given[at])) {
      part += given[at++];
    }
    if (part.empty() || (letters > 1 && part.size() != letters)) {
      return no_day();
    }
    i += letters;
  }
  if (at != given.size() || parts.size() != 3) {
    return no_day();
  }
  const auto two = [](const std::string& part) { return part.size() < 2 ? '0' + part : part; };
  const std::string& year = parts['Y'];
  return (year.size() == 2 ? "20" + year : year) + '-' + two(parts['M']) + '-' + two(parts['D']);
}

std::unexpected<Error> StatementCsv::wrong(std::string_view what) const {
  return bad_csv("line " + std::to_string(row_begin_) + ": " + std::string(what));
}

/// RFC 4180: quotes around what has separators, quotes or line ends; quotes in it are doubled.
std::optional<Result<std::vector<std::string>>> StatementCsv::row() {
  std::string line;
  do {
    if (!std::getline(in_, line)) {
      return std::nullopt;
    }
    row_begin_ = ++line_;
  } while (trim(line, white_space).empty());
  std::vector<std::string> fields(1);
  bool quoted = false;
  std::size_t bytes = 0;
  for (std::size_t i = 0;; ++i) {
    if (++bytes > row_bytes_max) {
      return Result<std::vector<std::string>>(wrong("a row has more than 1 MiB"));
    }
    if (i >= line.size()) {
      if (!quoted) {
        break;
      }
      if (!std::getline(in_, line)) {
        return Result<std::vector<std::string>>(wrong("a quote is not closed"));
      }
      ++line_;
      fields.back() += '\n';
      i = static_cast<std::size_t>(-1);
      continue;
    }
    const char c = line[i];
    if (quoted) {
      if (c != '"') {
        fields.back() += c;
      } else if (i + 1 < line.size() && line[i + 1] == '"') {
        fields.back() += '"';
        ++i;
      } else {
        quoted = false;
      }
    } else if (c == form_.separator) {
      fields.emplace_back();
    } else if (c == '"' && fields.back().empty()) {
      quoted = true;
    } else if (c != '\r' || i + 1 != line.size()) {
      fields.back() += c;
    }
  }
  return Result<std::vector<std::string>>(std::move(fields));
}

Result<void> StatementCsv::open() {
  auto read = row();
  if (!read) {
    return bad_csv("the file is empty: it must begin with the names of the columns");
  }
  if (!*read) {
    return std::unexpected((*read).error());
  }
  std::vector<std::string>& header = **read;
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (header.front().starts_with(byte_order_mark)) {
    header.front().erase(0, byte_order_mark.size());
    std::string& first = header.front();  // the mark has hidden its quotes
    if (first.size() >= 2 && first.front() == '"' && first.back() == '"') {
      first = first.substr(1, first.size() - 2);
    }
  }
  for (std::string& name : header) {
    name = std::string(trim(name));
  }
  width_ = header.size();
  const auto place_of = [&](const std::string& name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(header, name);
    return found == header.end() ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - header.begin()));
  };
  for (std::size_t i = 0; i < line_members.size(); ++i) {
    const std::string member(line_members[i]);
    const auto named = form_.columns.find(member);
    const bool is_named = named != form_.columns.end();
    for (const std::string& name : is_named ? named->second : std::vector{member}) {
      if (const auto place = place_of(name)) {
        places_[member].push_back(*place);
      } else if (is_named) {
        return bad_csv("there is no column \"" + name + "\"; there are: " + listed(header));
      }
    }
    const bool needed = i < members_needed && !(member == "currency" && !form_.currency.empty());
    if (needed && !places_.contains(member)) {
      return bad_csv("which column is " + member + "? Say it with --column " + member +
                     "=NAME; there are: " + listed(header));
    }
  }
  return {};
}

Result<std::optional<json::object>> StatementCsv::next() {
  auto read = row();
  if (!read) {
    return std::nullopt;
  }
  if (!*read) {
    return std::unexpected((*read).error());
  }
  const std::vector<std::string>& fields = **read;
  if (fields.size() != width_) {
    return wrong("it has " + std::to_string(fields.size()) + " columns, and the first line has " +
                 std::to_string(width_));
  }
  json::object line;
  for (const auto& [member, places] : places_) {
    std::string text;
    for (const std::size_t place : places) {
      const std::string_view part = trim(fields[place]);
      text += text.empty() || part.empty() ? "" : " ";
      text += part;
    }
    Result<std::string> value = text;
    if (member == "amount" && form_.decimals) {
      value = minor_units(text, *form_.decimals, form_.decimal_comma);
    } else if (member == "date") {
      value = day_text(text, form_.date_form);
    }
    if (!value) {
      return wrong(member + ": " + value.error().message);
    }
    if (!value->empty() || member == "external_id") {
      line[member] = *value;
    }
  }
  if (!line.contains("currency")) {
    line["currency"] = form_.currency;
  }
  return line;
}

}  // namespace hk::cli
