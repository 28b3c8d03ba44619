#include "core/topic/delivery_policy.h"

#include <cmath>

#include "base/json_input.h"

namespace hk::core {

namespace {

namespace json = boost::json;

constexpr std::int64_t retries_max = 100;
constexpr std::int64_t seconds_max = 3'600;

/// The numbers of a policy, with what they are when they are not given.
struct Numbers {
  std::int64_t min_delay = 20;
  std::int64_t max_delay = 20;
  std::int64_t retries = 3;
  std::int64_t without_delay = 0;
  std::int64_t with_min_delay = 0;
  std::int64_t with_max_delay = 0;
  std::string backoff{"linear"};
};

Result<void> read(const json::object& policy, std::string_view name, std::int64_t max,
                  std::int64_t& number) {
  const json::value* const given = member(policy, name);
  if (given == nullptr) {
    return {};
  }
  if (!given->is_int64() || given->get_int64() < 0 || given->get_int64() > max) {
    return fail(ErrorKind::invalid_argument, "DeliveryPolicy: " + std::string(name) +
                                                 " must be an integer from 0 to " +
                                                 std::to_string(max));
  }
  number = given->get_int64();
  return {};
}

Result<Numbers> read_numbers(const json::object& policy) {
  Numbers numbers;
  struct Number {
    std::string_view name;
    std::int64_t max;
    std::int64_t& number;
  };
  for (const Number& row : {Number{"minDelayTarget", seconds_max, numbers.min_delay},
                            Number{"maxDelayTarget", seconds_max, numbers.max_delay},
                            Number{"numRetries", retries_max, numbers.retries},
                            Number{"numNoDelayRetries", retries_max, numbers.without_delay},
                            Number{"numMinDelayRetries", retries_max, numbers.with_min_delay},
                            Number{"numMaxDelayRetries", retries_max, numbers.with_max_delay}}) {
    if (auto done = read(policy, row.name, row.max, row.number); !done) {
      return std::unexpected(done.error());
    }
  }
  if (numbers.min_delay > numbers.max_delay) {
    return fail(ErrorKind::invalid_argument,
                "DeliveryPolicy: minDelayTarget must not be more than maxDelayTarget");
  }
  if (numbers.without_delay + numbers.with_min_delay + numbers.with_max_delay > numbers.retries) {
    return fail(ErrorKind::invalid_argument,
                "DeliveryPolicy: numRetries must cover the retries without delay, with the "
                "minimum and with the maximum");
  }
  auto backoff = text_member(policy, "backoffFunction", "DeliveryPolicy: ");
  if (!backoff) {
    return std::unexpected(backoff.error());
  }
  if (!backoff->empty()) {
    numbers.backoff = std::move(*backoff);
  }
  if (numbers.backoff != "linear" && numbers.backoff != "arithmetic" &&
      numbers.backoff != "geometric" && numbers.backoff != "exponential") {
    return fail(ErrorKind::invalid_argument,
                "DeliveryPolicy: backoffFunction must be linear, arithmetic, geometric or "
                "exponential");
  }
  return numbers;
}

/// From the minimum to the maximum in `steps` steps, which is the i-th?
double seconds_between(const Numbers& numbers, std::int64_t i, std::int64_t steps) {
  const auto low = static_cast<double>(numbers.min_delay);
  const auto high = static_cast<double>(numbers.max_delay);
  const double part = steps <= 1 ? 1.0 : static_cast<double>(i) / static_cast<double>(steps - 1);
  if (numbers.backoff == "linear") {
    return low + (high - low) * part;
  }
  if (numbers.backoff == "arithmetic") {
    return low + (high - low) * part * (1.0 + part) / 2.0;
  }
  return low > 0 ? low * std::pow(high / low, part) : high * part * part;
}

RetryPolicy to_retries(const Numbers& numbers) {
  TableDelay table;
  const auto add = [&](std::int64_t count, std::int64_t wait) {
    table.delays.insert(table.delays.end(), static_cast<std::size_t>(count),
                        std::chrono::seconds{wait});
  };
  add(numbers.without_delay, 0);
  add(numbers.with_min_delay, numbers.min_delay);
  const std::int64_t steps =
      numbers.retries - numbers.without_delay - numbers.with_min_delay - numbers.with_max_delay;
  for (std::int64_t i = 0; i < steps; ++i) {
    table.delays.emplace_back(std::llround(seconds_between(numbers, i, steps) * 1000.0));
  }
  add(numbers.with_max_delay, numbers.max_delay);
  return {static_cast<std::uint32_t>(numbers.retries), std::move(table)};
}

/// null: there is none.
Result<const json::object*> object_member(const json::object& in, std::string_view name) {
  const json::value* const found = member(in, name);
  if (found == nullptr) {
    return nullptr;
  }
  if (!found->is_object()) {
    return fail(ErrorKind::invalid_argument,
                "DeliveryPolicy: " + std::string(name) + " must be an object");
  }
  return &found->get_object();
}

}  // namespace

RetryPolicy default_retries() { return to_retries({}); }

Result<std::optional<RetryPolicy>> read_delivery_policy(std::string_view text, bool of_topic) {
  const auto whole = parse_json_object(text);
  if (!whole) {
    return std::unexpected(whole.error());
  }
  const json::object* within = &*whole;
  if (of_topic) {
    const auto http = object_member(*whole, "http");
    if (!http) {
      return std::unexpected(http.error());
    }
    if (*http == nullptr) {
      return std::nullopt;
    }
    within = *http;
  }
  const auto policy =
      object_member(*within, of_topic ? "defaultHealthyRetryPolicy" : "healthyRetryPolicy");
  if (!policy) {
    return std::unexpected(policy.error());
  }
  if (*policy == nullptr) {
    return std::nullopt;
  }
  const Result<Numbers> numbers = read_numbers(**policy);
  if (!numbers) {
    return std::unexpected(numbers.error());
  }
  return to_retries(*numbers);
}

}  // namespace hk::core
