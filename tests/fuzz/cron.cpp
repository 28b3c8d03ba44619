// Cron texts, and in the second line the rule of a time zone: what is shown of a schedule means the
// same again, and its next run is later, on a minute that matches, and the first one there is.
#include "core/schedule/cron.h"

#include "base/assert.h"
#include "fuzz/text.h"

using namespace hk;
using namespace hk::core;

namespace {

bool has(std::uint64_t bits, unsigned n) { return (bits >> n & 1U) != 0; }

bool matches(const Cron& cron, std::chrono::local_seconds local) {
  const auto day = std::chrono::floor<std::chrono::days>(local);
  const std::chrono::year_month_day date{day};
  const std::chrono::hh_mm_ss time{local - day};
  const bool by_day = has(cron.days, static_cast<unsigned>(date.day()));
  const bool by_weekday = has(cron.weekdays, std::chrono::weekday{day}.c_encoding());
  return time.seconds().count() == 0 &&
         has(cron.minutes, static_cast<unsigned>(time.minutes().count())) &&
         has(cron.hours, static_cast<unsigned>(time.hours().count())) &&
         has(cron.months, static_cast<unsigned>(date.month())) &&
         (cron.either_day_field ? by_day || by_weekday : by_day && by_weekday);
}

void check_runs(const Cron& cron, const Zone& zone) {
  for (const std::int64_t start : {-1LL, 1'709'164'800'000LL, 1'729'990'799'999LL}) {
    Moment at = moment_from_ms(start);
    for (int runs = 0; runs < 3; ++runs) {
      const auto next = next_after(cron, at, zone);
      if (!next) {
        break;
      }
      HK_ASSERT(*next > at);
      HK_ASSERT(matches(cron, zone.to_local(std::chrono::floor<std::chrono::seconds>(*next))));
      HK_ASSERT(next_after(cron, *next - Millis{1}, zone) == next);
      at = *next;
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::as_text(data, size);
  const auto parsed = parse_cron(fuzz::take_line(text));
  const auto rule = parse_zone_rule(text);
  if (!parsed) {
    HK_ASSERT(parsed.error().kind == ErrorKind::invalid_argument);
    return 0;
  }
  HK_ASSERT(parse_cron(parsed->text) == parsed);
  HK_ASSERT(is_zone_name(parsed->zone));
  check_runs(parsed->cron, Zone{});
  if (rule) {
    if (const auto zone = Zone::make(rule->standard, {}, *rule)) {
      check_runs(parsed->cron, *zone);
    }
  }
  return 0;
}
