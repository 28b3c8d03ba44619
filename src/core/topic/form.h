/// Text that an adapter has made, with holes for what only the core knows when it accepts the
/// message. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/message.h"

namespace hk::core {

struct Form {
  enum class Hole : std::uint8_t { subscription, message_id, sequence_number };
  struct Place {
    std::size_t before = 0;  ///< which byte of the text
    Hole hole{};
  };
  std::string text{};
  std::vector<Place> places{};  ///< in order
};

struct FormHeader {
  std::string name{};
  Form value{};
};

/// `id`: of what was published; as a UUID, and as digits.
std::string filled(const Form& form, std::string_view subscription, MessageId id);

}  // namespace hk::core
