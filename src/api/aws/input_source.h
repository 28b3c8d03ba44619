/// Where an Input reads from: one implementation for each protocol (input_json.cpp,
/// input_form.cpp). Names are those of the JSON protocol. Every reading says serialization for what
/// has a wrong type, invalid_parameter_value for what the Query protocol can only tell by its text.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/aws/input.h"

namespace hk::api::aws {

class InputSource {
 public:
  InputSource() = default;
  InputSource(const InputSource&) = delete;
  InputSource& operator=(const InputSource&) = delete;
  virtual ~InputSource() = default;

  [[nodiscard]] virtual bool given(std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<std::optional<std::string_view>> text(
      std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<std::optional<std::int64_t>> integer(
      std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<std::optional<bool>> boolean(std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<std::vector<std::string>> texts(std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<TextMap> map(std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<MessageAttributes> attributes(std::string_view name) const = 0;
  [[nodiscard]] virtual Checked<std::vector<std::shared_ptr<const InputSource>>> entries(
      std::string_view name) const = 0;
};

Checked<std::shared_ptr<const InputSource>> make_json_source(std::string_view body);
std::shared_ptr<const InputSource> make_form_source(QueryForm form, Dialect dialect,
                                                    std::string_view action);

}  // namespace hk::api::aws
