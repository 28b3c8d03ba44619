#include "outbox/relay_database.h"

#include <algorithm>
#include <utility>

#include "outbox/schema.h"

namespace hk::outbox {
namespace {

constexpr Millis connect_timeout{5'000};
constexpr Millis statement_timeout{15'000};
constexpr Millis pause_most{5'000};

DatabaseResult<Database> connect_one(const Settings& settings) {
  auto connected = Database::connect(settings.database, "hikyaku outbox", connect_timeout);
  if (connected) {
    connected->set_timeout(statement_timeout);
  }
  return connected;
}

}  // namespace

DatabaseResult<void> RelayDatabase::connect(std::string_view& doing) {
  doing = "connecting";
  auto first = connect_one(settings_);
  if (!first) {
    return std::unexpected(std::move(first).error());
  }
  auto second = connect_one(settings_);
  if (!second) {
    return std::unexpected(std::move(second).error());
  }
  doing = "looking at the tables";
  const auto shape = check_schema(*first, settings_.table);
  if (!shape) {
    return std::unexpected(shape.error());
  }
  parts_.emplace(std::move(*first), std::move(*second), settings_, *shape);
  return {};
}

void RelayDatabase::lose() {
  parts_.reset();
  next_try_ = Clock::now() + pause_;
  pause_ = std::min(pause_ * 2, pause_most);
}

}  // namespace hk::outbox
