#include "api/aws/input.h"

#include <utility>

#include "api/aws/input_source.h"

namespace hk::api::aws {

struct Input::Findings {
  std::optional<Refusal> malformed{};
};

Input::Input(std::shared_ptr<const InputSource> source, std::shared_ptr<Findings> whole)
    : source_(std::move(source)), whole_(std::move(whole)) {}

Checked<Input> Input::from_json(std::string_view body) {
  auto source = make_json_source(body);
  if (!source) {
    return std::unexpected(std::move(source.error()));
  }
  return Input(std::move(*source), std::make_shared<Findings>());
}

Input Input::from_form(QueryForm form, Dialect dialect, std::string_view action) {
  return {make_form_source(std::move(form), dialect, action), std::make_shared<Findings>()};
}

void Input::note(Refusal refusal) {
  std::optional<Refusal>& place =
      refusal.code == ErrorCode::serialization ? whole_->malformed : invalid_;
  if (!place) {
    place = std::move(refusal);
  }
}

template <class T>
T Input::take(Checked<T> read) {
  if (!read) {
    note(std::move(read.error()));
    return T{};
  }
  return std::move(*read);
}

std::optional<std::string_view> Input::text(std::string_view name) {
  return take(source_->text(name));
}

std::string_view Input::required_text(std::string_view name) {
  const std::string_view value = text(name).value_or("");
  if (value.empty()) {
    note(missing_parameter(name));
  }
  return value;
}

std::optional<std::int64_t> Input::integer(std::string_view name, std::int64_t min,
                                           std::int64_t max) {
  const std::optional<std::int64_t> value = take(source_->integer(name));
  if (value && (*value < min || *value > max)) {
    note(invalid_value(
        name, std::to_string(*value),
        "Must be between " + std::to_string(min) + " and " + std::to_string(max) + "."));
    return std::nullopt;
  }
  return value;
}

std::optional<bool> Input::boolean(std::string_view name) { return take(source_->boolean(name)); }

std::vector<std::string> Input::texts(std::string_view name) { return take(source_->texts(name)); }

TextMap Input::map(std::string_view name) { return take(source_->map(name)); }

MessageAttributes Input::attributes(std::string_view name) {
  return take(source_->attributes(name));
}

std::vector<Input> Input::entries(std::string_view name) {
  std::vector<Input> inputs;
  for (auto& source : take(source_->entries(name))) {
    inputs.push_back(Input(std::move(source), whole_));
  }
  return inputs;
}

bool Input::given(std::string_view name) const { return source_->given(name); }

const Refusal* Input::malformed() const {
  return whole_->malformed ? &*whole_->malformed : nullptr;
}

const Refusal* Input::invalid() const { return invalid_ ? &*invalid_ : nullptr; }

}  // namespace hk::api::aws
