/// The answer of one action, written once and rendered as the dialect wants it: AWS JSON, the
/// flattened XML of SQS or the XML of SNS. It streams into the body, so that an answer of ten large
/// messages is copied once. Made when the answer is known, on the I/O thread of the request.
///
///   Output output(dialect, "ReceiveMessage");
///   output.list("Messages", messages, [](Output& out, const Received& message) {
///     out.text("MessageId", message.id);
///     out.text("Body", message.body);
///     out.map("Attributes", message.system_attributes);
///   });
///   return std::move(output).finish(request_id);
///
/// Names are those of the JSON protocol. What is empty or has no value is left out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "api/aws/errors.h"
#include "api/aws/input.h"
#include "api/aws/message_attributes.h"
#include "base/json.h"
#include "edge/http/message.h"

namespace hk::api::aws {

class Output {
 public:
  Output(Dialect dialect, std::string_view action);
  Output(const Output&) = delete;  // the writer below refers to body_
  Output& operator=(const Output&) = delete;
  ~Output() = default;

  /// Room for an answer of about that size, so that large ones are not moved about as they grow.
  void reserve(std::size_t bytes) { body_.reserve(body_.size() + bytes); }

  void text(std::string_view name, std::string_view value);
  void text(std::string_view name, const std::optional<std::string>& value);
  void text(std::string_view name, const char* value) { text(name, std::string_view(value)); }
  void text(std::string_view name, const std::string& value) {
    text(name, std::string_view(value));
  }
  void integer(std::string_view name, std::int64_t value);
  void boolean(std::string_view name, bool value);
  void texts(std::string_view name, const std::vector<std::string>& values);
  void map(std::string_view name, const TextMap& values);
  void attributes(std::string_view name, const MessageAttributes& values);

  /// A list of structures: `write(*this, element)` writes the members of one.
  template <std::ranges::input_range Range, class Write>
  void list(std::string_view name, Range&& range, Write&& write) {
    bool open = false;
    for (auto&& element : range) {
      if (!open) {
        begin_list(name);
        open = true;
      }
      begin_item();
      write(*this, element);
      end_item();
    }
    if (open) {
      end_list();
    } else {
      empty_list(name);
    }
  }

  /// The members of an entry of a batch's "Failed".
  void failure(std::string_view id, const Refusal& refusal);

  http::Response finish(std::string_view request_id) &&;

 private:
  void begin_list(std::string_view name);
  void begin_item();
  void end_item();
  void end_list();
  void empty_list(std::string_view name);
  void begin_element(std::string_view name);
  void end_element(std::string_view name);
  [[nodiscard]] std::string item_name(std::string_view list) const;

  Dialect dialect_;
  std::string action_;
  bool has_result_;
  std::string body_;
  JsonWriter json_{body_};
  std::size_t content_at_ = 0;  ///< where the result begins
  struct List {
    std::string name{};  ///< of the element around the items; "" in SQS, which has none
    std::string item{};
  };
  std::vector<List> lists_;  ///< the open ones
};

}  // namespace hk::api::aws
