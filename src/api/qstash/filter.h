/// The filters that messages, dead letters and events share (§10.3 of the wire specification):
/// several values of one parameter are OR-ed, different parameters AND-ed, none means all. Pure,
/// any thread.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/parameters.h"
#include "base/error.h"
#include "base/time.h"
#include "core/message.h"

namespace hk::api::qstash {

/// The values of each are sorted, hosts in lower case: read_filter makes it so.
struct Filter {
  std::vector<std::string> urls{};
  std::vector<std::string> queues{};
  std::vector<std::string> topics{};
  std::vector<std::string> labels{};
  std::vector<std::string> flow_keys{};
  std::vector<std::string> caller_ips{};
  std::vector<std::string> hosts{};
  std::vector<std::string> paths{};
  std::vector<std::string> schedules{};
  Moment from{};
  Moment to{never};

  [[nodiscard]] bool matches(const core::Message& message) const;
};

/// invalid_argument: there are more values than one call may give.
Result<void> check_count(std::string_view parameter, std::size_t values);

/// invalid_argument: a date that is no number, too many values.
Result<Filter> read_filter(const Parameters& parameters);

/// For commands: a filter that is given without a value would select everything. invalid_argument
/// names it.
Result<void> check_filters_have_values(const Parameters& parameters,
                                       std::initializer_list<std::string_view> further = {});

struct Paging {
  std::size_t count = 0;
  bool latest_first = false;
  std::optional<std::string> cursor{};
  bool with_bodies = true;
};
/// A count above the maximum is the maximum: the cursor leads to the rest.
Result<Paging> read_paging(const Parameters& parameters, std::size_t count_default,
                           std::size_t count_max, bool latest_first_default);

}  // namespace hk::api::qstash
