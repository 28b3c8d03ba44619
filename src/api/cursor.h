/// Where a listing goes on. A cursor is checked when it comes back: it must be one that we gave
/// out, for this listing, tenant and order. It grants nothing: a listing never leaves its tenant.
/// Pure.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/message.h"

namespace hk::api {

enum class Listing : std::uint8_t {
  dead_letters = 'd',
  event_log = 'e',
  message_events = 'm',
  ledger_books = 'b',
  ledger_accounts = 'a',
  ledger_entries = 'n',
  ledger_transactions = 't',
  ledger_checkpoints = 'c',
};

struct CursorScope {
  Listing listing{};
  core::TenantId tenant{};
  bool latest_first = false;
};

/// The first number is a time in milliseconds, the others order what shares it.
using CursorPlace = std::array<std::uint64_t, 3>;

std::string encode_cursor(const CursorScope& scope, const CursorPlace& place);
/// nullopt: not one of ours for this scope.
std::optional<CursorPlace> decode_cursor(const CursorScope& scope, std::string_view text);

}  // namespace hk::api
