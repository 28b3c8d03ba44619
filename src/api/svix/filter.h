/// Which events and attempts a list shows. Any thread.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/svix/page.h"
#include "api/svix/query.h"
#include "core/webhook/read.h"

namespace hk::api::svix {

namespace webhook = core::webhook;

/// `event_types`, `channel` and `tag`.
struct EventFilter {
  std::vector<std::string> types{};
  std::optional<std::string> channel{};
  std::optional<std::string> tag{};

  static EventFilter read(Query& query);
  [[nodiscard]] bool any() const { return !types.empty() || channel || tag; }
  [[nodiscard]] bool takes(const webhook::Event& event) const;
};

/// `before` and `after`. Alone, `after` turns the page around: it begins with the oldest.
webhook::Window read_window(Query& query, Page& page, Moment now);

/// `status_code_class`: 0, 100, … 500; of an answer's status: is it of that class?
std::optional<std::uint32_t> read_status_class(Query& query);
bool is_of_class(std::uint32_t status_code, std::uint32_t status_class);

}  // namespace hk::api::svix
