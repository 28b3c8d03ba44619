#include "api/webhooks/delivery_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "api/svix/rules.h"
#include "base/ascii.h"

namespace hk::api::webhooks {

namespace {

using svix::Input;
using webhook::Delivery;
using webhook::DeliveryPart;

constexpr std::array<std::string_view, 3> header_set_names = {"both", "svix", "webhook"};
constexpr std::array<std::string_view, 4> order_names = {"none", "endpoint", "channel", "tag"};
constexpr std::array<std::string_view, 2> exhausted_names = {"skip", "halt"};

constexpr std::size_t delays_max = 50;
constexpr double delay_seconds_max = 604'800;
constexpr std::int64_t day_seconds = 86'400;
constexpr std::int64_t count_max = 1'000'000;
constexpr std::int64_t hold_bytes_max = std::int64_t{1} << 40;

/// Seconds as they are written: whole, or with what is needed behind the point.
void write_seconds(JsonWriter& json, Millis span) {
  constexpr std::int64_t second = 1000;
  if (span.count() % second == 0) {
    json.number(span.count() / second);
    return;
  }
  char text[32];
  const double seconds = static_cast<double>(span.count()) / second;
  const auto [end, error] = std::to_chars(text, text + sizeof text, seconds);
  json.whole(error == std::errc{} ? std::string_view(text, end) : "0");
}

void write_fraction(JsonWriter& json, double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  json.whole(error == std::errc{} ? std::string_view(text, end) : "0");
}

void write_numbers(JsonWriter& json, const std::vector<std::uint32_t>& all) {
  json.begin_array();
  for (const std::uint32_t one : all) {
    json.number(one);
  }
  json.end_array();
}

/// Reads options one after the other, into what they are now.
class Merge {
 public:
  explicit Merge(const Delivery& now) { change_.set.values = now; }

  Delivery& values() { return change_.set.values; }
  void set(DeliveryPart part) { change_.set.set |= webhook::bit_of(part); }
  void inherit(DeliveryPart part) { change_.inherit |= webhook::bit_of(part); }
  /// Whether the member is to be read: it is there, and is not null.
  bool wants(const Input& in, std::string_view name, DeliveryPart part) {
    if (in.is_null(name)) {
      inherit(part);
    }
    return in.raw(name).has_value();
  }

  void span(Input& in, std::string_view name, DeliveryPart part, Millis& out, double least,
            double most) {
    if (!wants(in, name, part)) {
      return;
    }
    if (const auto seconds = in.number(name, least, most)) {
      out = Millis{std::llround(*seconds * 1000)};
      set(part);
    }
  }
  void count(Input& in, std::string_view name, DeliveryPart part, std::uint32_t& out,
             std::int64_t least, std::int64_t most) {
    if (!wants(in, name, part)) {
      return;
    }
    if (const auto number = in.integer(name, least, most)) {
      out = static_cast<std::uint32_t>(*number);
      set(part);
    }
  }
  /// The place of the text among the names.
  std::optional<std::size_t> one_of(Input& in, std::string_view name, DeliveryPart part,
                                    std::span<const std::string_view> names) {
    if (!wants(in, name, part)) {
      return std::nullopt;
    }
    const auto text = in.text(name);
    if (!text) {
      return std::nullopt;
    }
    const auto found = std::ranges::find(names, std::string_view(*text));
    if (found == names.end()) {
      std::string known;
      for (const std::string_view one : names) {
        known += known.empty() ? "" : ", ";
        known += one;
      }
      in.refuse(name, "must be one of " + known);
      return std::nullopt;
    }
    set(part);
    return static_cast<std::size_t>(found - names.begin());
  }

  DeliveryChange result() && { return std::move(change_); }

 private:
  DeliveryChange change_{};
};

void read_schedule(Merge& merge, Input& in) {
  const bool preset = in.raw("preset").has_value();
  const bool delays = in.raw("delays").has_value();
  if (preset && delays) {
    in.refuse("delays", "must not be given beside preset");
    return;
  }
  if (preset) {
    const auto name = in.text("preset");
    if (name && webhook::preset_delays(*name) == nullptr) {
      std::string known;
      for (const std::string_view one : webhook::preset_names()) {
        known += known.empty() ? "" : ", ";
        known += one;
      }
      in.refuse("preset", "must be one of " + known);
    } else if (name) {
      merge.values().preset = *name;
      merge.values().delays.clear();
      merge.set(DeliveryPart::schedule);
    }
  } else if (delays) {
    const auto seconds = in.numbers("delays", delays_max);
    if (!seconds) {
      return;
    }
    if (seconds->empty()) {
      in.refuse("delays", "must have 1 to 50 numbers of seconds");
      return;
    }
    merge.values().preset.clear();
    merge.values().delays.clear();
    for (std::size_t i = 0; i < seconds->size(); ++i) {
      const double one = (*seconds)[i];
      if (one < 0 || one > delay_seconds_max) {
        in.refuse_item("delays", svix::item_step(i),
                       "must be a number of seconds from 0 to 604800");
      }
      merge.values().delays.emplace_back(
          std::llround(std::clamp(one, 0.0, delay_seconds_max) * 1000));
    }
    merge.set(DeliveryPart::schedule);
  } else if (in.is_null("preset") || in.is_null("delays")) {
    merge.inherit(DeliveryPart::schedule);
  }
}

void read_statuses(Merge& merge, Input& in) {
  constexpr std::string_view name = "giveUpStatuses";
  constexpr std::size_t statuses_max = 100;
  if (!merge.wants(in, name, DeliveryPart::give_up_statuses)) {
    return;
  }
  const auto statuses = in.numbers(name, statuses_max);
  if (!statuses) {
    return;
  }
  std::vector<std::uint32_t> all;
  for (std::size_t i = 0; i < statuses->size(); ++i) {
    const double one = (*statuses)[i];
    if (one < 300 || one > 599 || std::floor(one) != one) {
      in.refuse_item(name, svix::item_step(i), "must be a status from 300 to 599");
      continue;
    }
    all.push_back(static_cast<std::uint32_t>(one));
  }
  merge.values().give_up_statuses = std::move(all);
  merge.set(DeliveryPart::give_up_statuses);
}

void read_retry(Merge& merge, Input& in) {
  if (in.is_null("retry")) {
    merge.inherit(DeliveryPart::schedule);
    merge.inherit(DeliveryPart::jitter);
    merge.inherit(DeliveryPart::retry_after_max);
    merge.inherit(DeliveryPart::give_up_statuses);
  }
  auto retry = in.object("retry");
  if (!retry) {
    return;
  }
  read_schedule(merge, *retry);
  if (merge.wants(*retry, "jitter", DeliveryPart::jitter)) {
    if (const auto jitter = retry->number("jitter", 0, 0.5)) {
      merge.values().jitter = *jitter;
      merge.set(DeliveryPart::jitter);
    }
  }
  merge.span(*retry, "retryAfterMaxSeconds", DeliveryPart::retry_after_max,
             merge.values().retry_after_max, 0, delay_seconds_max);
  read_statuses(merge, *retry);
}

void read_signing(Merge& merge, Input& in) {
  if (!merge.wants(in, "signing", DeliveryPart::signing)) {
    return;
  }
  auto signing = in.object("signing");
  if (!signing) {
    return;
  }
  Delivery& to = merge.values();
  to.sign_standard = signing->boolean("standard").value_or(to.sign_standard);
  to.sign_stripe = signing->boolean("stripe").value_or(to.sign_stripe);
  if (auto header = signing->text("stripeHeader")) {
    std::string wrong = is_token(*header) ? svix::check_header_name(*header, false)
                                          : "is no legal name of a header";
    if (!wrong.empty()) {
      signing->refuse("stripeHeader", std::move(wrong));
    }
    to.stripe_header = std::move(*header);
  }
  if (!to.sign_standard && !to.sign_stripe) {
    in.refuse("signing", "standard or stripe must be true: nothing goes out without a signature");
  }
  merge.set(DeliveryPart::signing);
}

void read_circuit(Merge& merge, Input& in) {
  Delivery& to = merge.values();
  if (in.is_null("circuit")) {
    to.circuit.reset();
    merge.set(DeliveryPart::circuit);
    return;
  }
  auto circuit = in.object("circuit");
  if (!circuit) {
    return;
  }
  Delivery::Circuit read = to.circuit.value_or(Delivery::Circuit{});
  if (const auto failures = circuit->integer("failures", 1, count_max)) {
    read.failures = static_cast<std::uint32_t>(*failures);
  }
  if (const auto seconds = circuit->integer("openSeconds", 1, 3600)) {
    read.open = std::chrono::seconds{*seconds};
  }
  if (const auto seconds = circuit->integer("maxOpenSeconds", 1, day_seconds)) {
    read.open_max = std::chrono::seconds{*seconds};
  }
  if (read.open_max < read.open) {
    circuit->refuse("maxOpenSeconds", "must not be less than openSeconds");
  }
  to.circuit = read;
  merge.set(DeliveryPart::circuit);
}

void read_warnings(Input& in, Delivery::Disable& to) {
  constexpr std::size_t warnings_max = 10;
  if (in.is_null("warnAt")) {
    to.warn_at.clear();
  }
  const auto percents = in.numbers("warnAt", warnings_max);
  if (!percents) {
    return;
  }
  to.warn_at.clear();
  for (std::size_t i = 0; i < percents->size(); ++i) {
    const double one = (*percents)[i];
    if (one < 1 || one > 99 || std::floor(one) != one) {
      in.refuse_item("warnAt", svix::item_step(i), "must be a percentage from 1 to 99");
      continue;
    }
    to.warn_at.push_back(static_cast<std::uint32_t>(one));
  }
  std::ranges::sort(to.warn_at);
}

void read_disable(Merge& merge, Input& in) {
  Delivery& to = merge.values();
  if (in.is_null("disable")) {
    to.disable.reset();
    merge.set(DeliveryPart::disable);
    return;
  }
  auto disable = in.object("disable");
  if (!disable) {
    return;
  }
  constexpr std::int64_t after_max = std::int64_t{90} * day_seconds;
  Delivery::Disable read = to.disable.value_or(Delivery::Disable{});
  if (const auto seconds = disable->integer("afterSeconds", 1, after_max)) {
    read.after = std::chrono::seconds{*seconds};
  }
  if (const auto attempts = disable->integer("minAttempts", 1, count_max)) {
    read.attempts_min = static_cast<std::uint32_t>(*attempts);
  }
  if (disable->is_null("failures")) {
    read.failures = 0;
  } else if (const auto failures = disable->integer("failures", 1, count_max)) {
    read.failures = static_cast<std::uint32_t>(*failures);
  }
  read_warnings(*disable, read);
  to.disable = std::move(read);
  merge.set(DeliveryPart::disable);
}

void read_hold(Merge& merge, Input& in) {
  if (!merge.wants(in, "hold", DeliveryPart::hold)) {
    return;
  }
  auto hold = in.object("hold");
  if (!hold) {
    return;
  }
  Delivery::Hold& to = merge.values().hold;
  to.enabled = hold->boolean("enabled").value_or(to.enabled);
  if (const auto seconds = hold->integer("ttlSeconds", 60, 7'776'000)) {
    to.ttl = std::chrono::seconds{*seconds};
  }
  if (const auto messages = hold->integer("maxMessages", 1, std::int64_t{100} * count_max)) {
    to.messages_max = static_cast<std::uint64_t>(*messages);
  }
  if (const auto bytes = hold->integer("maxBytes", 1, hold_bytes_max)) {
    to.bytes_max = static_cast<std::uint64_t>(*bytes);
  }
  merge.set(DeliveryPart::hold);
}

}  // namespace

DeliveryChange read_delivery_change(Input& in, const Delivery& now) {
  Merge merge(now);
  read_retry(merge, in);
  merge.span(in, "timeout", DeliveryPart::timeout, merge.values().timeout, 1, 120);
  if (const auto at = merge.one_of(in, "headerSet", DeliveryPart::header_set, header_set_names)) {
    merge.values().header_set = static_cast<webhook::HeaderSet>(*at);
  }
  read_signing(merge, in);
  if (const auto at = merge.one_of(in, "order", DeliveryPart::order, order_names)) {
    merge.values().order = static_cast<webhook::Order>(*at);
  }
  if (const auto at = merge.one_of(in, "onExhausted", DeliveryPart::halt, exhausted_names)) {
    merge.values().halt = *at == 1;
  }
  merge.count(in, "parallelism", DeliveryPart::parallelism, merge.values().parallelism, 1, 1000);
  read_circuit(merge, in);
  read_disable(merge, in);
  read_hold(merge, in);
  merge.count(in, "resumeRate", DeliveryPart::resume_rate, merge.values().resume_rate, 1,
              svix::rate_max);
  return std::move(merge).result();
}

void write_delivery(JsonWriter& json, const Delivery& delivery) {
  json.begin_object();
  json.key("retry");
  json.begin_object();
  json.key("preset");
  if (delivery.preset.empty()) {
    json.null();
    json.key("delays");
    json.begin_array();
    for (const Millis one : delivery.delays) {
      write_seconds(json, one);
    }
    json.end_array();
  } else {
    json.string(delivery.preset);
    json.key("delays");
    json.null();
  }
  json.key("jitter");
  write_fraction(json, delivery.jitter);
  json.key("retryAfterMaxSeconds");
  write_seconds(json, delivery.retry_after_max);
  json.key("giveUpStatuses");
  write_numbers(json, delivery.give_up_statuses);
  json.end_object();
  json.key("timeout");
  write_seconds(json, delivery.timeout);
  json.field("headerSet", header_set_names[static_cast<std::size_t>(delivery.header_set)]);
  json.key("signing");
  json.begin_object();
  json.field("standard", delivery.sign_standard);
  json.field("stripe", delivery.sign_stripe);
  json.field("stripeHeader", delivery.stripe_header);
  json.end_object();
  json.field("order", order_names[static_cast<std::size_t>(delivery.order)]);
  json.field("onExhausted", exhausted_names[delivery.halt ? 1 : 0]);
  json.field("parallelism", delivery.parallelism);
  json.key("circuit");
  if (delivery.circuit) {
    json.begin_object();
    json.field("failures", delivery.circuit->failures);
    json.key("openSeconds");
    write_seconds(json, delivery.circuit->open);
    json.key("maxOpenSeconds");
    write_seconds(json, delivery.circuit->open_max);
    json.end_object();
  } else {
    json.null();
  }
  json.key("disable");
  if (delivery.disable) {
    json.begin_object();
    json.key("afterSeconds");
    write_seconds(json, delivery.disable->after);
    json.field("minAttempts", delivery.disable->attempts_min);
    json.key("failures");
    if (delivery.disable->failures == 0) {
      json.null();
    } else {
      json.number(delivery.disable->failures);
    }
    json.key("warnAt");
    write_numbers(json, delivery.disable->warn_at);
    json.end_object();
  } else {
    json.null();
  }
  json.key("hold");
  json.begin_object();
  json.field("enabled", delivery.hold.enabled);
  json.key("ttlSeconds");
  write_seconds(json, delivery.hold.ttl);
  json.field("maxMessages", delivery.hold.messages_max);
  json.field("maxBytes", delivery.hold.bytes_max);
  json.end_object();
  json.key("resumeRate");
  if (delivery.resume_rate == 0) {
    json.null();
  } else {
    json.number(delivery.resume_rate);
  }
  json.end_object();
}

}  // namespace hk::api::webhooks
