/// JSON objects that clients send, field by field. What is wrong is collected, so that all of it is
/// told at once; a value that is wrong is not given. Members that nobody asks for are ignored, of a
/// repeated one the last counts, and values keep their exact bytes (raw()). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/svix/errors.h"
#include "base/time.h"

namespace hk::api::svix {

/// What is wrong with a text; "": nothing.
using Rule = std::string (*)(std::string_view);

class Input {
 public:
  static constexpr std::size_t depth_max = 128;

  enum class Empty : std::uint8_t { wrong, object };
  /// Of a body: not JSON, or no object, is an error at ["body"].
  Input(std::string_view body, FieldErrors& errors, Empty empty = Empty::wrong);

  [[nodiscard]] bool given(std::string_view name) const { return find(name) != nullptr; }
  [[nodiscard]] bool is_null(std::string_view name) const;
  /// As it was sent, byte for byte; nullopt: absent or null.
  [[nodiscard]] std::optional<std::string_view> raw(std::string_view name) const;

  // ---- nullopt: absent, null, or wrong ----

  std::optional<std::string> text(std::string_view name, Rule rule = nullptr);
  std::optional<bool> boolean(std::string_view name);
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t least, std::int64_t most);
  std::optional<double> number(std::string_view name, double least, double most);
  struct ListRule {
    Rule item = nullptr;
    std::size_t least = 0;
    std::size_t most = 1000;
    bool unique = true;
  };
  std::optional<std::vector<std::string>> texts(std::string_view name, ListRule rule);
  std::optional<std::vector<double>> numbers(std::string_view name, std::size_t most);
  std::optional<Moment> time(std::string_view name);
  /// Names and texts in their order; nullopt of a text: null, where that may be.
  using Pairs = std::vector<std::pair<std::string, std::optional<std::string>>>;
  std::optional<Pairs> pairs(std::string_view name, bool nulls, std::size_t most);
  std::optional<Input> object(std::string_view name);

  /// The same, and it must be there.
  std::string required_text(std::string_view name, Rule rule = nullptr);
  /// Wrong if it is null.
  void not_null(std::string_view name);

  void refuse(std::string_view name, std::string msg, std::string_view type = value_error);
  void refuse_item(std::string_view name, std::string_view item, std::string msg,
                   std::string_view type = value_error);
  void refuse_whole(std::string msg, std::string_view type = value_error);
  [[nodiscard]] const std::vector<std::string>& loc() const { return loc_; }
  [[nodiscard]] FieldErrors& errors() { return *errors_; }

  struct Member {
    std::string name{};
    std::string_view value{};
  };
  /// In the order in which they were sent.
  [[nodiscard]] const std::vector<Member>& members() const { return members_; }

 private:
  Input(std::string_view text, std::vector<std::string> loc, FieldErrors& errors);

  void read(std::string_view text);
  [[nodiscard]] const Member* find(std::string_view name) const;

  std::vector<std::string> loc_;
  FieldErrors* errors_;
  bool broken_ = false;  ///< it could not be read: nothing more is said of its members
  std::vector<Member> members_{};
};

/// "[2]".
std::string item_step(std::size_t index);

}  // namespace hk::api::svix
