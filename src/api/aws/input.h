/// The parameters of one action, read the same way whichever protocol brought them, by the names
/// that the JSON protocol uses. Built from a routed request (route.h), used by one action on its
/// I/O thread.
///
/// Reading never fails by itself: what is wrong is remembered, and the action asks twice.
///
///   const auto url = input.text("QueueUrl");
///   const auto count = input.integer("MaxNumberOfMessages", 1, 10).value_or(1);
///   if (input.malformed()) return std::unexpected(*input.malformed());  // before looking anything
///   up
///   ... find the queue ...
///   if (input.invalid()) return std::unexpected(*input.invalid());      // its parameters
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/aws/errors.h"
#include "api/aws/message_attributes.h"
#include "api/aws/query_form.h"

namespace hk::api::aws {

class InputSource;

using TextMap = std::map<std::string, std::string, std::less<>>;

class Input {
 public:
  /// serialization: not JSON, not an object.
  static Checked<Input> from_json(std::string_view body);
  /// `action` names the entries of a batch: SendMessageBatchRequestEntry.1.
  static Input from_form(QueryForm form, Dialect dialect, std::string_view action);

  /// Views are good as long as any Input of this request. Absent and null are the same; an empty
  /// text is given.
  [[nodiscard]] std::optional<std::string_view> text(std::string_view name);
  /// "" and invalid() when it is absent or empty.
  [[nodiscard]] std::string_view required_text(std::string_view name);
  /// invalid() when it is outside the range.
  [[nodiscard]] std::optional<std::int64_t> integer(
      std::string_view name, std::int64_t min = std::numeric_limits<std::int64_t>::min(),
      std::int64_t max = std::numeric_limits<std::int64_t>::max());
  [[nodiscard]] std::optional<bool> boolean(std::string_view name);
  /// A list of texts; empty when absent.
  [[nodiscard]] std::vector<std::string> texts(std::string_view name);
  /// Names to texts: queue attributes, tags.
  [[nodiscard]] TextMap map(std::string_view name);
  [[nodiscard]] MessageAttributes attributes(std::string_view name);
  /// A list of structures. What is malformed in one of them is so in the whole request; what is
  /// invalid, in that one alone.
  [[nodiscard]] std::vector<Input> entries(std::string_view name);
  /// Given at all, also when empty.
  [[nodiscard]] bool given(std::string_view name) const;

  /// What could not be read: a value of a wrong type. The first one; null: nothing.
  [[nodiscard]] const Refusal* malformed() const;
  /// The first parameter that is missing or against its rule; null: none.
  [[nodiscard]] const Refusal* invalid() const;

 private:
  struct Findings;
  Input(std::shared_ptr<const InputSource> source, std::shared_ptr<Findings> whole);
  void note(Refusal refusal);
  template <class T>
  T take(Checked<T> read);

  /// Shared with the Inputs of entries, which look into the same document and share what was
  /// malformed in it.
  std::shared_ptr<const InputSource> source_;
  std::shared_ptr<Findings> whole_;
  std::optional<Refusal> invalid_;
};

}  // namespace hk::api::aws
