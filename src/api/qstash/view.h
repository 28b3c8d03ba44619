/// How a message looks on the QStash surface: field names, header maps, redaction (§1.5, §10.1, §18
/// of the wire specification). For reads on I/O threads.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/story.h"
#include "base/json.h"
#include "core/reader.h"

namespace hk::api::qstash {

/// Hides what the publisher wanted hidden, wherever the message is shown.
class Redaction {
 public:
  explicit Redaction(const core::Message& message);
  [[nodiscard]] std::string header(std::string_view name, const std::string& value) const;
  [[nodiscard]] std::string body(const std::string& body) const;  ///< an empty one stays empty

 private:
  bool body_ = false;
  bool headers_ = false;
  std::vector<std::string> names_;
};

/// The limits of flow keys, read when the first message with each is shown.
class FlowLimits {
 public:
  explicit FlowLimits(core::Reader& reader) : reader_(reader) {}
  [[nodiscard]] const core::FlowKey* find(core::TenantId tenant, const std::string& key);

 private:
  core::Reader& reader_;
  std::map<std::pair<core::TenantId, std::string>, std::optional<core::FlowKey>> keys_;
};

/// "name": {"Canonical-Name": ["value", …], …}; redacted if a redaction is given.
void write_header_map(JsonWriter& json, std::string_view name,
                      const std::vector<core::Header>& headers, const Redaction* redaction);

/// `text` if the bytes are UTF-8, else `text` + "Base64"; nothing if they are empty.
void write_bytes(JsonWriter& json, std::string_view name, const std::string& bytes);

/// "cursor", only if something follows.
void write_cursor(JsonWriter& json, const std::optional<std::string>& cursor);

/// label and labels, if there are any.
void write_labels(JsonWriter& json, const std::vector<std::string>& labels);
/// flowControlKey, parallelism, rate, period. null: no limits are known.
void write_flow_fields(JsonWriter& json, const std::string& key, const core::FlowKey* limits);
/// label, labels, flowControlKey, parallelism, rate, period, queueName, scheduleId: the same in
/// every view.
void write_common_fields(JsonWriter& json, const core::Message& message, FlowLimits& flows);

/// callback, failureCallback and their headers, whose names end in "Header" or, in the log,
/// "Headers".
void write_callback_fields(JsonWriter& json, const core::Message& message,
                           const Redaction& redaction, std::string_view header);

/// The fields of GET /v2/messages/{id}, without the braces.
void write_message_fields(JsonWriter& json, const Story& story, FlowLimits& flows, bool with_body);

}  // namespace hk::api::qstash
