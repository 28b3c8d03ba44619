#include "api/svix/input.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "base/date.h"
#include "base/json_reader.h"

namespace hk::api::svix {

namespace {

using Kind = JsonReader::Kind;

/// REQUIRES: `value` is JSON; the object was read whole.
Kind kind_of(std::string_view value) { return JsonReader(value, Input::depth_max).kind(); }

std::string text_of(std::string_view value) {
  JsonReader json(value, Input::depth_max);
  return std::string(json.string());
}

std::optional<std::int64_t> integer_of(std::string_view value) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return std::nullopt;
  }
  return number;
}

std::optional<double> double_of(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc{} || end != value.data() + value.size()) {
    return std::nullopt;
  }
  return number;
}

/// As people write it.
std::string shown(double number) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, number);
  return error == std::errc{} ? std::string(text, end) : std::string("?");
}

}  // namespace

std::string item_step(std::size_t index) { return '[' + std::to_string(index) + ']'; }

Input::Input(std::string_view body, FieldErrors& errors, Empty empty)
    : loc_({"body"}), errors_(&errors) {
  if (empty == Empty::wrong || !trim(body, white_space).empty()) {
    read(body);
  }
}

Input::Input(std::string_view text, std::vector<std::string> loc, FieldErrors& errors)
    : loc_(std::move(loc)), errors_(&errors) {
  read(text);
}

void Input::read(std::string_view text) {
  JsonReader json(text, depth_max);
  if (json.kind() != Kind::object) {
    refuse_whole(json.failed() ? "is not valid JSON: " + json.error() : "must be an object",
                 decode_error);
    broken_ = true;
    return;
  }
  json.begin_object();
  std::string_view name;
  while (json.next_member(name)) {
    Member& member = members_.emplace_back();
    member.name = name;
    json.kind();  // behind the white space
    const std::size_t begin = json.at();
    json.skip();
    member.value = json.failed() ? std::string_view{} : text.substr(begin, json.at() - begin);
  }
  if (!json.failed()) {
    json.end();
  }
  if (json.failed()) {
    members_.clear();
    refuse_whole("is not valid JSON: " + json.error(), decode_error);
    broken_ = true;
  }
}

const Input::Member* Input::find(std::string_view name) const {
  const auto found = std::find_if(members_.rbegin(), members_.rend(),
                                  [name](const Member& one) { return one.name == name; });
  return found == members_.rend() ? nullptr : &*found;
}

bool Input::is_null(std::string_view name) const {
  const Member* const found = find(name);
  return found != nullptr && found->value == "null";
}

std::optional<std::string_view> Input::raw(std::string_view name) const {
  const Member* const found = find(name);
  return found == nullptr || found->value == "null" ? std::nullopt : std::optional(found->value);
}

void Input::refuse_whole(std::string msg, std::string_view type) {
  errors_->add({loc_, std::move(msg), std::string(type)});
}

void Input::refuse(std::string_view name, std::string msg, std::string_view type) {
  if (broken_) {
    return;
  }
  FieldError error{loc_, std::move(msg), std::string(type)};
  error.loc.emplace_back(name);
  errors_->add(std::move(error));
}

void Input::refuse_item(std::string_view name, std::string_view item, std::string msg,
                        std::string_view type) {
  FieldError error{loc_, std::move(msg), std::string(type)};
  error.loc.emplace_back(name);
  error.loc.emplace_back(item);
  errors_->add(std::move(error));
}

void Input::not_null(std::string_view name) {
  if (is_null(name)) {
    refuse(name, "must not be null: leave it out to keep it as it is", decode_error);
  }
}

std::optional<std::string> Input::text(std::string_view name, Rule rule) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  if (kind_of(*value) != Kind::string) {
    refuse(name, "must be a string", decode_error);
    return std::nullopt;
  }
  std::string text = text_of(*value);
  if (std::string wrong = rule == nullptr ? std::string() : rule(text); !wrong.empty()) {
    refuse(name, std::move(wrong));
    return std::nullopt;
  }
  return text;
}

std::string Input::required_text(std::string_view name, Rule rule) {
  if (!raw(name)) {
    refuse(name, "must be given", decode_error);
    return {};
  }
  return text(name, rule).value_or("");
}

std::optional<bool> Input::boolean(std::string_view name) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  if (kind_of(*value) != Kind::boolean) {
    refuse(name, "must be true or false", decode_error);
    return std::nullopt;
  }
  return *value == "true";
}

std::optional<std::int64_t> Input::integer(std::string_view name, std::int64_t least,
                                           std::int64_t most) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  if (kind_of(*value) != Kind::number) {
    refuse(name, "must be an integer", decode_error);
    return std::nullopt;
  }
  const auto number = integer_of(*value);
  if (!number || *number < least || *number > most) {
    refuse(name,
           "must be an integer from " + std::to_string(least) + " to " + std::to_string(most));
    return std::nullopt;
  }
  return number;
}

std::optional<double> Input::number(std::string_view name, double least, double most) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  if (kind_of(*value) != Kind::number) {
    refuse(name, "must be a number", decode_error);
    return std::nullopt;
  }
  const auto number = double_of(*value);
  if (!number || *number < least || *number > most) {
    refuse(name, "must be a number from " + shown(least) + " to " + shown(most));
    return std::nullopt;
  }
  return number;
}

std::optional<std::vector<std::string>> Input::texts(std::string_view name, ListRule rule) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  if (kind_of(*value) != Kind::array) {
    refuse(name, "must be an array of strings", decode_error);
    return std::nullopt;
  }
  std::vector<std::string> all;
  bool good = true;
  JsonReader json(*value, depth_max);
  json.begin_array();
  for (std::size_t i = 0; json.next_item(); ++i) {
    if (i >= rule.most) {
      refuse(name, "must have at most " + std::to_string(rule.most) + " items");
      return std::nullopt;
    }
    if (json.kind() != Kind::string) {
      json.skip();
      refuse_item(name, item_step(i), "must be a string", decode_error);
      good = false;
      continue;
    }
    std::string text(json.string());
    std::string wrong = rule.item == nullptr ? std::string() : rule.item(text);
    if (wrong.empty() && rule.unique && std::ranges::find(all, text) != all.end()) {
      wrong = "must be unique";
    }
    if (!wrong.empty()) {
      refuse_item(name, item_step(i), std::move(wrong));
      good = false;
    }
    all.push_back(std::move(text));
  }
  if (all.size() < rule.least) {
    refuse(name, "must have at least " + std::to_string(rule.least) +
                     (rule.least == 1 ? " item" : " items"));
    return std::nullopt;
  }
  return good ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<std::vector<double>> Input::numbers(std::string_view name, std::size_t most) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  std::vector<double> all;
  bool good = kind_of(*value) == Kind::array;
  if (good) {
    JsonReader json(*value, depth_max);
    json.begin_array();
    while (good && json.next_item()) {
      good = json.kind() == Kind::number && all.size() < most;
      if (good) {
        all.push_back(double_of(json.number()).value_or(0));
      }
    }
  }
  if (!good) {
    refuse(name, "must be an array of at most " + std::to_string(most) + " numbers", decode_error);
    return std::nullopt;
  }
  return all;
}

std::optional<Moment> Input::time(std::string_view name) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  const auto parsed = kind_of(*value) == Kind::string ? parse_rfc3339(text_of(*value))
                                                      : std::optional<NanoMoment>{};
  if (!parsed) {
    refuse(name, "must be an RFC 3339 time, such as \"2026-01-02T03:04:05.678Z\"", decode_error);
    return std::nullopt;
  }
  return std::chrono::floor<Millis>(*parsed);
}

std::optional<Input::Pairs> Input::pairs(std::string_view name, bool nulls, std::size_t most) {
  auto inner = object(name);
  if (!inner) {
    return std::nullopt;
  }
  Pairs all;
  bool good = true;
  for (const Member& one : inner->members_) {
    const Kind kind = kind_of(one.value);
    if (kind != Kind::string && !(nulls && kind == Kind::null)) {
      inner->refuse(one.name, nulls ? "must be a string, or null" : "must be a string",
                    decode_error);
      good = false;
      continue;
    }
    auto text = kind == Kind::null ? std::nullopt : std::optional(text_of(one.value));
    const auto known =
        all.size() > most ? all.end() : std::ranges::find_if(all, [&one](const auto& pair) {
          return pair.first == one.name;
        });
    if (known != all.end()) {
      known->second = std::move(text);  // the last counts
      continue;
    }
    all.emplace_back(one.name, std::move(text));
    if (all.size() > most) {
      refuse(name, "must have at most " + std::to_string(most) + " members");
      return std::nullopt;
    }
  }
  return good ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<Input> Input::object(std::string_view name) {
  const auto value = raw(name);
  if (!value) {
    return std::nullopt;
  }
  if (kind_of(*value) != Kind::object) {
    refuse(name, "must be an object", decode_error);
    return std::nullopt;
  }
  std::vector<std::string> loc = loc_;
  loc.emplace_back(name);
  return Input(*value, std::move(loc), *errors_);
}

}  // namespace hk::api::svix
