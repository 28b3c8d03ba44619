#include "engine/zone/tzif.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace hk::engine {

namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

constexpr std::string_view magic = "TZif";
constexpr std::size_t header_bytes = 44;
constexpr std::size_t type_bytes = 6;  // offset of 4, is it summer time, which abbreviation

std::unexpected<Error> damaged(const std::string& what) {
  return fail(ErrorKind::corruption, "the time zone file is damaged: " + what);
}

/// Big-endian, two's complement.
std::int64_t to_signed(std::string_view bytes) {
  std::uint64_t value = (static_cast<unsigned char>(bytes.front()) & 0x80U) != 0 ? ~0ULL : 0ULL;
  for (const char byte : bytes) {
    value = value << 8U | static_cast<unsigned char>(byte);
  }
  return static_cast<std::int64_t>(value);
}

struct Header {
  char version = '\0';
  std::size_t is_utc_count = 0;
  std::size_t is_standard_count = 0;
  std::size_t leap_count = 0;
  std::size_t change_count = 0;
  std::size_t type_count = 0;
  std::size_t name_bytes = 0;

  /// Of the block that follows; times take four bytes in the first block, eight in the second.
  [[nodiscard]] std::size_t block_bytes(std::size_t time_bytes) const {
    return change_count * (time_bytes + 1) + type_count * type_bytes + name_bytes +
           leap_count * (time_bytes + 4) + is_standard_count + is_utc_count;
  }
};

/// Takes the header from the front of the bytes. Every count is at most 2³², so that sums of their
/// products stay far below 2⁶⁴.
std::optional<Header> take_header(std::string_view& bytes) {
  if (bytes.size() < header_bytes || !is_tzif(bytes)) {
    return std::nullopt;
  }
  const auto count = [bytes](std::size_t nth) {
    constexpr std::size_t first = 20;
    const auto value = to_signed(bytes.substr(first + nth * 4, 4));
    return static_cast<std::size_t>(static_cast<std::uint32_t>(value));
  };
  const Header header{.version = bytes[magic.size()],
                      .is_utc_count = count(0),
                      .is_standard_count = count(1),
                      .leap_count = count(2),
                      .change_count = count(3),
                      .type_count = count(4),
                      .name_bytes = count(5)};
  bytes.remove_prefix(header_bytes);
  return header;
}

struct Table {
  seconds initial{0};
  std::vector<core::ZoneChange> changes{};
};

/// REQUIRES: bytes of the whole second block.
Result<Table> read_table(const Header& header, std::string_view bytes) {
  constexpr std::size_t time_bytes = 8;
  const auto times = bytes.substr(0, header.change_count * time_bytes);
  const auto indexes = bytes.substr(times.size(), header.change_count);
  const auto types = bytes.substr(times.size() + indexes.size(), header.type_count * type_bytes);
  const auto offset_of = [types](std::size_t type) {
    return seconds{to_signed(types.substr(type * type_bytes, 4))};
  };

  // The first type is that of the time before the first change.
  Table table{.initial = offset_of(0)};
  table.changes.reserve(header.change_count);
  for (std::size_t i = 0; i < header.change_count; ++i) {
    const std::size_t type = static_cast<unsigned char>(indexes[i]);
    if (type >= header.type_count) {
      return damaged("change " + std::to_string(i + 1) + " has no type");
    }
    const sys_seconds at{seconds{to_signed(times.substr(i * time_bytes, time_bytes))}};
    table.changes.push_back({.at = at, .offset = offset_of(type)});
  }
  return table;
}

}  // namespace

bool is_tzif(std::string_view bytes) { return bytes.starts_with(magic); }

Result<core::Zone> parse_tzif(std::string_view bytes) {
  if (bytes.size() > tzif_bytes_max) {
    return damaged("it has more than " + std::to_string(tzif_bytes_max) + " bytes");
  }
  // The first block has 32-bit times and is there for old programs only.
  const auto old = take_header(bytes);
  if (!old) {
    return damaged("it does not begin with a header");
  }
  if (old->version < '2') {
    return damaged("it is of version 1, which ends in 2037; version 2 or later is needed");
  }
  if (old->block_bytes(4) > bytes.size()) {
    return damaged("its first block is cut off");
  }
  bytes.remove_prefix(old->block_bytes(4));

  const auto header = take_header(bytes);
  if (!header || header->block_bytes(8) > bytes.size()) {
    return damaged("its second block is cut off");
  }
  if (header->leap_count != 0) {
    return fail(ErrorKind::invalid_argument,
                "the time zone file counts leap seconds, which Unix time does not");
  }
  if (header->type_count == 0) {
    return damaged("it has no type of local time");
  }
  auto table = read_table(*header, bytes);
  if (!table) {
    return std::unexpected(table.error());
  }
  bytes.remove_prefix(header->block_bytes(8));

  // The rule for what comes after the table stands between two line ends; it may be empty.
  if (bytes.size() < 2 || !bytes.starts_with('\n') || bytes.find('\n', 1) != bytes.size() - 1) {
    return damaged("it does not end with a rule in a line of its own");
  }
  const std::string_view text = bytes.substr(1, bytes.size() - 2);
  std::optional<core::ZoneRule> rule;
  if (!text.empty()) {
    const auto parsed = core::parse_zone_rule(text);
    if (!parsed) {
      return damaged(parsed.error().message);
    }
    rule = *parsed;
  }
  auto zone = core::Zone::make(table->initial, std::move(table->changes), rule);
  if (!zone) {
    return damaged(zone.error().message);
  }
  return zone;
}

}  // namespace hk::engine
