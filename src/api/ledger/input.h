/// The values that bodies of the ledger are made of, read one after the other. Knows where it is,
/// so that what is wrong can be named. Every function is false after the first thing that is wrong;
/// then refusal() says what. For the .cpp files that read bodies. Any thread, one at a time.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json_reader.h"
#include "core/ledger/commands.h"

namespace hk::api::ledger {

class Input {
 public:
  using Kind = JsonReader::Kind;

  explicit Input(std::string_view text) : json_(text) {}

  // ---- values; REQUIRES: one comes ----

  bool text(std::string& out);
  bool text(std::optional<std::string>& out);
  bool texts(std::vector<std::string>& out);
  bool boolean(bool& out);
  bool boolean(std::optional<bool>& out);
  /// A whole number from 0 to most.
  bool number(std::uint64_t& out, std::uint64_t most);
  /// Text of digits, or an integer that a double can hold.
  bool amount(core::ledger::Amount& out);
  /// The same with a sign.
  bool signed_amount(core::ledger::Signed& out);
  bool amounts(std::optional<std::vector<core::ledger::Amount>>& out);
  bool time(core::ledger::Instant& out, core::ledger::Code code = core::ledger::Code::invalid);
  bool time(std::optional<core::ledger::Instant>& out,
            core::ledger::Code code = core::ledger::Code::invalid);
  /// The place of the text among the names.
  bool one_of(std::span<const std::string_view> names, std::size_t& out);
  /// An object of texts; with `removals` a value may be null.
  bool metadata(std::vector<core::ledger::MetadataIn>& out, bool removals);

  // ---- objects and arrays ----

  enum class Nulls : std::uint8_t { absent, given };
  /// Calls each(i) for each member, i being its place among the names; one that is null is left
  /// out unless nulls are given. `seen` has a bit for each that was called for.
  template <std::size_t n, class Each>
  bool object(const std::array<std::string_view, n>& names, std::uint32_t& seen, Each&& each,
              Nulls nulls = Nulls::absent) {
    static_assert(n <= 32);
    if (!begin_object()) {
      return false;
    }
    std::uint32_t met = 0;
    std::string_view name;
    while (json_.next_member(name)) {
      const std::size_t i =
          static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
      if (i == n) {
        return refuse_unknown(name, names);
      }
      path_.push_back({names[i], no_index});
      if ((met >> i & 1U) != 0) {
        return refuse("is given twice");
      }
      met |= 1U << i;
      if (nulls == Nulls::absent && json_.kind() == Kind::null) {
        json_.null();
      } else {
        seen |= 1U << i;
        if (!each(i)) {
          return false;
        }
      }
      path_.pop_back();
    }
    return !json_.failed();
  }
  /// Calls each(i) for each item.
  template <class Each>
  bool array(Each&& each) {
    if (json_.kind() != Kind::array) {
      return refuse("must be an array");
    }
    json_.begin_array();
    for (std::uint32_t i = 0; json_.next_item(); ++i) {
      path_.push_back({"", i});
      if (!each(i)) {
        return false;
      }
      path_.pop_back();
    }
    return !json_.failed();
  }
  /// Was it given? Otherwise it is refused.
  template <std::size_t n>
  bool required(const std::array<std::string_view, n>& names, std::uint32_t seen,
                std::initializer_list<std::size_t> which) {
    for (const std::size_t i : which) {
      if ((seen >> i & 1U) == 0) {
        path_.push_back({names[i], no_index});
        return refuse("must be given");
      }
    }
    return true;
  }

  // ---- what is wrong ----

  /// False. The value that was read last, or is to be read, is not what it must be.
  bool refuse(std::string_view right, core::ledger::Code code = core::ledger::Code::invalid);
  template <std::size_t n>
  bool refuse_unknown(std::string_view name, const std::array<std::string_view, n>& names) {
    return refuse_name(name, names);
  }
  /// REQUIRES: something was refused, or is no JSON.
  core::ledger::Refusal refusal();
  /// The text is no JSON: nothing behind it can be read.
  [[nodiscard]] bool broken() const { return json_.failed(); }

  JsonReader& json() { return json_; }
  /// A member's value is being read that array() and object() do not know of.
  void enter(std::string_view name) { path_.push_back({name, no_index}); }
  void leave() { path_.pop_back(); }
  /// Forgets what was refused, to read on behind it.
  struct Place {
    JsonReader::Mark mark{};
    std::size_t path = 0;
  };
  [[nodiscard]] Place place() const { return {json_.mark(), path_.size()}; }
  void go_back(const Place& place) {
    json_.go_back(place.mark);
    path_.resize(place.path);
    refused_.reset();
  }
  /// Members are named from here on: those of an item, wherever it stands.
  void name_from_here() { named_from_ = path_.size(); }
  void name_from_start() { named_from_ = 0; }

 private:
  static constexpr std::uint32_t no_index = UINT32_MAX;
  struct Step {
    std::string_view name;
    std::uint32_t index = no_index;
  };

  bool begin_object();
  bool refuse_name(std::string_view name, std::span<const std::string_view> names);
  [[nodiscard]] std::string where() const;

  JsonReader json_;
  std::vector<Step> path_{};
  std::size_t named_from_ = 0;
  std::optional<core::ledger::Refusal> refused_{};
};

}  // namespace hk::api::ledger
