/// What the .cpp files of the ledger share and nobody else needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/ledger/commands.h"
#include "core/ledger/sealing.h"
#include "core/ledger/wire.h"

namespace hk::core::ledger {

inline constexpr std::string_view checkpoint_kind = "checkpoint";
inline constexpr std::string_view transaction_prefix = "ltx_";
inline constexpr std::string_view account_prefix = "lac_";

[[nodiscard]] inline std::unexpected<std::shared_ptr<const Refusal>> refuse(Refusal refusal) {
  return std::unexpected(std::make_shared<const Refusal>(std::move(refusal)));
}
[[nodiscard]] inline std::unexpected<std::shared_ptr<const Refusal>> refuse_member(
    std::string member, std::string detail) {
  return refuse({.code = Code::invalid, .member = std::move(member), .detail = std::move(detail)});
}

inline constexpr std::size_t entries_min = 2;
inline constexpr std::size_t entries_max = 1000;
inline constexpr std::size_t key_bytes_max = 255;
inline constexpr std::size_t text_bytes_max = 2000;
inline constexpr std::size_t reference_bytes_max = 255;
inline constexpr std::size_t book_indexed_max = 50;
inline constexpr std::size_t book_name_max = 256;

/// Not there, or short enough and without a zero byte, which ends texts in keys.
inline bool text_fits(const std::optional<std::string>& text, std::size_t max) {
  return !text || (text->size() <= max && text->find('\0') == std::string::npos);
}
/// 2 to 16 of [A-Z0-9_].
bool is_currency_code(std::string_view code);
inline constexpr std::uint32_t currency_exponent_max = 38;
/// 1 to `max` of [A-Za-z0-9._~:@-].
bool is_ledger_id(std::string_view id, std::size_t max = 128);
/// Segments of [A-Za-z0-9._~@-]+ joined by ":", at most 256 characters.
bool is_ledger_path(std::string_view path);

}  // namespace hk::core::ledger
