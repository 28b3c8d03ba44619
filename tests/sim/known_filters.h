/// Filters of subscriptions, each with what it means in plain words of C++: the model does not ask
/// the core's own reading of them.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "core/topic/record.h"

namespace hk::sim {

/// What filters look at: the body is {"n":N,…}, and there is one attribute at most.
struct FilteredText {
  std::uint64_t n = 0;
  std::string a{};  ///< "" = it has no attribute
};

struct KnownFilter {
  std::string_view text;
  core::FilterScope scope;
  bool (*wants)(const FilteredText& text);
};

inline constexpr std::array known_filters = {
    KnownFilter{"", core::FilterScope::message_attributes,
                [](const FilteredText&) { return true; }},
    KnownFilter{R"({"a":["x"]})", core::FilterScope::message_attributes,
                [](const FilteredText& text) { return text.a == "x"; }},
    KnownFilter{R"({"a":[{"anything-but":"x"}]})", core::FilterScope::message_attributes,
                [](const FilteredText& text) { return !text.a.empty() && text.a != "x"; }},
    KnownFilter{R"({"n":[{"numeric":[">=",2]}]})", core::FilterScope::message_body,
                [](const FilteredText& text) { return text.n >= 2; }},
    KnownFilter{R"({"n":[0,3]})", core::FilterScope::message_body,
                [](const FilteredText& text) { return text.n == 0 || text.n == 3; }},
};

}  // namespace hk::sim
