#include "api/svix/filter.h"

#include <algorithm>
#include <array>

#include "api/svix/rules.h"

namespace hk::api::svix {

namespace {

bool is_listed(const std::vector<std::string>& all, const std::string& one) {
  return std::ranges::find(all, one) != all.end();
}

}  // namespace

EventFilter EventFilter::read(Query& query) {
  EventFilter filter;
  filter.types = query.list("event_types");
  filter.channel = query.text("channel", check_filter_text);
  filter.tag = query.text("tag", check_filter_text);
  return filter;
}

bool EventFilter::takes(const webhook::Event& event) const {
  return (types.empty() || is_listed(types, event.event_type)) &&
         (!channel || is_listed(event.channels, *channel)) && (!tag || is_listed(event.tags, *tag));
}

webhook::Window read_window(Query& query, Page& page, Moment now) {
  constexpr std::chrono::days shown_for{90};
  webhook::Window window{.after = query.time("after"), .before = query.time("before")};
  if (window.after && !window.before && page.iterator.empty()) {
    page.back = !page.back;
  }
  if (!window.after && !window.before && page.iterator.empty()) {
    window.after = now - shown_for;
  }
  return window;
}

std::optional<std::uint32_t> read_status_class(Query& query) {
  constexpr std::array<std::string_view, 6> classes = {"0", "100", "200", "300", "400", "500"};
  const auto found = query.one_of("status_code_class", classes);
  return found ? std::optional(static_cast<std::uint32_t>(*found * 100)) : std::nullopt;
}

bool is_of_class(std::uint32_t status_code, std::uint32_t status_class) {
  return status_code / 100 == status_class / 100;
}

}  // namespace hk::api::svix
