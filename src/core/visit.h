/// Looks at whatever a command is. It compiles the visitor for all of them: who asks for a few
/// kinds uses OneOf::get_if().
#pragma once

#include <variant>

#include "core/one_of.h"

namespace hk::core {

template <class Visitor, class Of>
decltype(auto) visit(Visitor visitor, const OneOf<Of>& value) {
  return std::visit([&visitor](const auto& part) { return std::visit(visitor, part); },
                    value.parts());
}

}  // namespace hk::core
