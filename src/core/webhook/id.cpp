#include "core/webhook/id.h"

#include <algorithm>
#include <chrono>

#include "base/ascii.h"
#include "base/sortable_id.h"

namespace hk::core::webhook {

namespace {

// An attempt's id has no random bits: what it is made of cannot be guessed without its delivery's.
// Its time is only good to 1/256 of a second, so the milliseconds stand beside the attempt's
// number.
constexpr unsigned millisecond_bits = 10;
constexpr std::uint64_t milliseconds = (std::uint64_t{1} << millisecond_bits) - 1;

std::string made_id(std::string_view prefix, const Made& made, Number number) {
  return sortable_id(prefix, made.at, number, made.random);
}

}  // namespace

std::string id_of(const Application& application) {
  return made_id(application_prefix, application.made, application.number);
}
std::string id_of(const Endpoint& endpoint) {
  return made_id(endpoint_prefix, endpoint.made, endpoint.number);
}
std::string id_of(const Event& event) { return made_id(event_prefix, event.made, event.number); }
std::string id_of(const Integration& integration) {
  return made_id(integration_prefix, integration.made, integration.number);
}

std::optional<Number> number_in(std::string_view id, std::string_view prefix) {
  return number_in_id(id, prefix);
}

Number first_number_at(Moment at) {
  constexpr Number numbers_a_millisecond = 1'000'000;
  return static_cast<Number>(std::max<std::int64_t>(0, to_ms(at))) * numbers_a_millisecond;
}

std::string id_of(const AttemptPlace& place) {
  const auto ms = static_cast<std::uint64_t>(
      (place.ended_at - std::chrono::floor<std::chrono::seconds>(place.ended_at)).count());
  return sortable_id(attempt_prefix, place.ended_at, place.delivery.value(),
                     std::uint64_t{place.attempt} << millisecond_bits | ms);
}
std::string id_of(const AttemptRow& row) {
  return id_of(AttemptPlace{row.ended_at, row.delivery, row.attempt});
}

std::optional<AttemptPlace> parse_attempt_id(std::string_view id) {
  const auto parts = parse_sortable_id(id, attempt_prefix);
  if (!parts) {
    return std::nullopt;
  }
  return AttemptPlace{.ended_at = Moment{std::chrono::seconds{parts->second}} +
                                  Millis{static_cast<std::int64_t>(parts->random & milliseconds)},
                      .delivery = Seq{parts->number},
                      .attempt = static_cast<std::uint32_t>(parts->random >> millisecond_bits)};
}

bool may_be_uid(std::string_view text, std::string_view prefix) {
  constexpr std::size_t length_max = 256;
  return !text.empty() && text.size() <= length_max && !text.starts_with(prefix) &&
         std::ranges::all_of(text, [](char c) {
           return is_letter(c) || is_digit(c) || c == '-' || c == '_' || c == '.';
         });
}

}  // namespace hk::core::webhook
