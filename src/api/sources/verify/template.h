/// The text that the preset `hmac` signs, as the settings of a source say it: "{timestamp}.{body}".
/// Read once, when a source is loaded. Pure, any thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/sources/verify/received.h"
#include "base/error.h"

namespace hk::api::sources {

class SignedText {
 public:
  static constexpr std::size_t text_bytes_max = 512;

  /// {body} {timestamp} {id} {method} {path} {url} {header:Name}; "{{" is a brace.
  /// invalid_argument: what is wrong.
  static Result<SignedText> parse(std::string_view text);

  [[nodiscard]] bool has(std::string_view placeholder) const;

  struct Values {
    std::string_view timestamp{};
    std::string_view id{};
    std::string_view url{};
  };
  /// The parts in their order; they point into the request, the values and this.
  [[nodiscard]] std::vector<std::string_view> fill(const Received& request,
                                                   const Values& values) const;

 private:
  enum class Kind : std::uint8_t { literal, body, timestamp, id, method, path, url, header };
  struct Part {
    Kind kind{};
    std::string text{};  ///< of a literal; the name of a header
  };
  static constexpr std::string_view names[] = {"body", "timestamp", "id", "method", "path", "url"};

  std::vector<Part> parts_;
};

}  // namespace hk::api::sources
