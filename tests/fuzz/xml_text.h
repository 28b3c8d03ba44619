/// Whether a text is a well-formed XML document of the kind that answers are: elements, texts, the
/// five entities and character references; attributes in double quotes.
#pragma once

#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "base/json_string.h"

namespace hk::fuzz {

class XmlText {
 public:
  static bool is_well_formed(std::string_view text) {
    if (!valid_utf8(text)) {
      return false;
    }
    XmlText reader{text};
    if (text.starts_with("<?xml ")) {
      const std::size_t end = text.find("?>");
      if (end == std::string_view::npos) {
        return false;
      }
      reader.rest_.remove_prefix(end + 2);
    }
    return reader.element() && reader.rest_.empty();
  }

 private:
  explicit XmlText(std::string_view text) : rest_(text) {}

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

  bool take(std::string_view expected) {
    if (!rest_.starts_with(expected)) {
      return false;
    }
    rest_.remove_prefix(expected.size());
    return true;
  }

  std::string_view name() {
    std::size_t end = 0;
    while (end < rest_.size() && (is_letter(rest_[end]) || (end > 0 && is_digit(rest_[end])))) {
      ++end;
    }
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end);
    return found;
  }

  /// One element with all that is in it. Open ones are kept in a list: the depth is the answer's.
  bool element() {
    std::vector<std::string_view> open;
    do {
      if (take("</")) {
        if (open.empty() || name() != open.back() || !take(">")) {
          return false;
        }
        open.pop_back();
      } else if (take("<")) {
        const std::string_view began = name();
        if (began.empty() || !attributes()) {
          return false;
        }
        if (!take("/>")) {
          if (!take(">")) {
            return false;
          }
          open.push_back(began);
        }
      } else if (open.empty() || !character()) {
        return false;
      }
    } while (!open.empty());
    return true;
  }

  bool attributes() {
    while (take(" ")) {
      if (name().empty() || !take("=\"")) {
        return false;
      }
      while (!take("\"")) {
        if (rest_.empty() || rest_[0] == '<' || !character()) {
          return false;
        }
      }
    }
    return true;
  }

  bool character() {
    if (rest_.empty() || rest_[0] == '<') {
      return false;
    }
    if (rest_[0] == '&') {
      for (const std::string_view entity : {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;", "&#xD;"}) {
        if (take(entity)) {
          return true;
        }
      }
      return false;
    }
    // Half of a surrogate is no UTF-8; of the rest XML has neither control characters nor these.
    if (rest_.starts_with("\xef\xbf\xbe") || rest_.starts_with("\xef\xbf\xbf")) {
      return false;
    }
    const auto byte = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    return byte >= 0x20 || byte == '\t' || byte == '\n' || byte == '\r';
  }

  std::string_view rest_;
};

}  // namespace hk::fuzz
