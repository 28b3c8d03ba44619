#include "api/sources/verify/template.h"

#include <iterator>
#include <utility>

namespace hk::api::sources {

Result<SignedText> SignedText::parse(std::string_view text) {
  if (text.empty() || text.size() > text_bytes_max) {
    return fail(ErrorKind::invalid_argument, "must have 1 to 512 bytes");
  }
  SignedText parsed;
  std::string literal;
  const auto flush = [&] {
    if (!literal.empty()) {
      parsed.parts_.push_back({Kind::literal, std::exchange(literal, {})});
    }
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '{') {
      literal.push_back(text[i]);
      continue;
    }
    if (text.substr(i).starts_with("{{")) {
      literal.push_back('{');
      ++i;
      continue;
    }
    const std::size_t end = text.find('}', i);
    if (end == std::string_view::npos) {
      return fail(ErrorKind::invalid_argument, "a \"{\" has no \"}\"; write {{ for a brace");
    }
    const std::string_view name = text.substr(i + 1, end - i - 1);
    const auto* const known = std::ranges::find(names, name);
    flush();
    if (name.starts_with("header:") && name.size() > 7) {
      parsed.parts_.push_back({Kind::header, std::string(name.substr(7))});
    } else if (known != std::end(names)) {
      parsed.parts_.push_back({static_cast<Kind>(1 + (known - std::begin(names))), {}});
    } else {
      return fail(ErrorKind::invalid_argument,
                  "{" + std::string(name) +
                      "} is not known; there are {body}, {timestamp}, {id}, {method}, {path}, "
                      "{url} and {header:Name}");
    }
    i = end;
  }
  flush();
  return parsed;
}

bool SignedText::has(std::string_view placeholder) const {
  return std::ranges::any_of(parts_, [&](const Part& part) {
    const auto index = static_cast<std::size_t>(part.kind);
    return part.kind != Kind::literal && part.kind != Kind::header &&
           names[index - 1] == placeholder;
  });
}

std::vector<std::string_view> SignedText::fill(const Received& request,
                                               const Values& values) const {
  std::vector<std::string_view> filled;
  filled.reserve(parts_.size());
  for (const Part& part : parts_) {
    switch (part.kind) {
      case Kind::literal: filled.emplace_back(part.text); break;
      case Kind::body: filled.push_back(request.body); break;
      case Kind::timestamp: filled.push_back(values.timestamp); break;
      case Kind::id: filled.push_back(values.id); break;
      case Kind::method: filled.push_back(request.method); break;
      case Kind::path: filled.push_back(request.path()); break;
      case Kind::url: filled.push_back(values.url); break;
      case Kind::header: filled.push_back(request.header(part.text).value_or("")); break;
    }
  }
  return filled;
}

}  // namespace hk::api::sources
