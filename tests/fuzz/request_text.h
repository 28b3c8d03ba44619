/// A request written as text, the form of the corpus: "METHOD target", lines of "Name: value", an
/// empty line, the body. Anything is some request: what is missing is empty.
#pragma once

#include <string_view>

#include "base/ascii.h"
#include "edge/http/message.h"
#include "fuzz/text.h"

namespace hk::fuzz {

inline http::Request read_request(std::string_view text) {
  http::Request request;
  const std::string_view first = take_line(text);
  const std::size_t blank = first.find(' ');
  request.method = first.substr(0, blank);
  if (blank != std::string_view::npos) {
    request.target = first.substr(blank + 1);
  }
  while (!text.empty()) {
    const std::string_view line = take_line(text);
    if (line.empty()) {
      break;
    }
    const std::size_t colon = line.find(':');
    const std::string_view value =
        colon == std::string_view::npos ? std::string_view() : line.substr(colon + 1);
    request.fields.push_back({std::string(line.substr(0, colon)), std::string(trim(value))});
  }
  request.body = text;
  return request;
}

}  // namespace hk::fuzz
