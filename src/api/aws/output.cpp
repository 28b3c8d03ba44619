#include "api/aws/output.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/aws/xml.h"
#include "base/assert.h"
#include "base/encoding.h"

namespace hk::api::aws {

namespace {

/// These answer without even an empty result element.
constexpr auto without_result = std::to_array<std::string_view>({
    "AddPermission",
    "RemovePermission",
    "ChangeMessageVisibility",
    "DeleteMessage",
    "DeleteQueue",
    "PurgeQueue",
    "SetQueueAttributes",
    "TagQueue",
    "UntagQueue",
    // SNS
    "DeleteTopic",
    "SetTopicAttributes",
    "SetSubscriptionAttributes",
    "Unsubscribe",
});

struct ItemName {
  std::string_view list;  ///< in JSON
  std::string_view item;  ///< the element repeated in its place in the XML of SQS
};
constexpr auto item_names = std::to_array<ItemName>({
    {"QueueUrls", "QueueUrl"},
    {"queueUrls", "QueueUrl"},
    {"Messages", "Message"},
    {"Attributes", "Attribute"},
    {"MessageAttributes", "MessageAttribute"},
    {"Tags", "Tag"},
    {"Failed", "BatchResultErrorEntry"},
    {"Results", "ListMessageMoveTasksResultEntry"},
});

}  // namespace

Output::Output(Dialect dialect, std::string_view action)
    : dialect_(dialect),
      action_(action),
      has_result_(std::ranges::find(without_result, action) == without_result.end()) {
  if (is_json(dialect_)) {
    json_.begin_object();
  } else {
    body_ = R"(<?xml version="1.0"?><)" + action_ + R"(Response xmlns=")";
    body_ += xml_namespace(dialect_);
    body_ += "\">";
    if (has_result_) {
      begin_element(action_ + "Result");
    }
  }
  content_at_ = body_.size();
}

void Output::begin_element(std::string_view name) {
  body_ += '<';
  body_ += name;
  body_ += '>';
}

void Output::end_element(std::string_view name) {
  body_ += "</";
  body_ += name;
  body_ += '>';
}

void Output::text(std::string_view name, std::string_view value) {
  if (is_json(dialect_)) {
    json_.field(name, value);
  } else {
    append_xml_element(body_, name, value);
  }
}

void Output::text(std::string_view name, const std::optional<std::string>& value) {
  if (value) {
    text(name, std::string_view(*value));
  }
}

void Output::integer(std::string_view name, std::int64_t value) {
  if (is_json(dialect_)) {
    json_.field(name, value);
  } else {
    append_xml_element(body_, name, std::to_string(value));
  }
}

void Output::boolean(std::string_view name, bool value) {
  if (is_json(dialect_)) {
    json_.field(name, value);
  } else {
    append_xml_element(body_, name, value ? "true" : "false");
  }
}

std::string Output::item_name(std::string_view list) const {
  if (is_sns(dialect_)) {
    return "member";
  }
  if (list == "Successful") {
    return action_ + "ResultEntry";
  }
  const auto found = std::ranges::find(item_names, list, &ItemName::list);
  HK_ASSERT(found != item_names.end());  // a list that no answer of SQS has
  return std::string(found->item);
}

void Output::begin_list(std::string_view name) {
  if (is_json(dialect_)) {
    json_.key(name);
    json_.begin_array();
    return;
  }
  lists_.push_back({is_sns(dialect_) ? std::string(name) : std::string(), item_name(name)});
  if (is_sns(dialect_)) {
    begin_element(name);
  }
}

void Output::begin_item() {
  if (is_json(dialect_)) {
    json_.begin_object();
  } else {
    begin_element(lists_.back().item);
  }
}

void Output::end_item() {
  if (is_json(dialect_)) {
    json_.end_object();
  } else {
    end_element(lists_.back().item);
  }
}

void Output::end_list() {
  if (is_json(dialect_)) {
    json_.end_array();
    return;
  }
  if (is_sns(dialect_)) {
    end_element(lists_.back().name);
  }
  lists_.pop_back();
}

/// SQS leaves an empty list out; clients of SNS look into theirs without asking whether it is
/// there.
void Output::empty_list(std::string_view name) {
  if (is_sns(dialect_)) {
    begin_element(name);
    end_element(name);
  }
}

void Output::texts(std::string_view name, const std::vector<std::string>& values) {
  if (values.empty()) {
    empty_list(name);
    return;
  }
  if (is_json(dialect_)) {
    json_.key(name);
    json_.begin_array();
    for (const std::string& value : values) {
      json_.string(value);
    }
    json_.end_array();
    return;
  }
  begin_list(name);
  for (const std::string& value : values) {
    append_xml_element(body_, lists_.back().item, value);
  }
  end_list();
}

void Output::map(std::string_view name, const TextMap& values) {
  if (is_json(dialect_)) {
    if (!values.empty()) {
      json_.key(name);
      json_.begin_object();
      for (const auto& [key, value] : values) {
        json_.field(key, std::string_view(value));
      }
      json_.end_object();
    }
    return;
  }
  const bool tags = name == "Tags";  // pairs in a list, also in SNS
  if (is_sns(dialect_) && !tags) {
    begin_element(name);
    for (const auto& [key, value] : values) {
      begin_element("entry");
      append_xml_element(body_, "key", key);
      append_xml_element(body_, "value", value);
      end_element("entry");
    }
    end_element(name);
    return;
  }
  list(name, values, [tags](Output& out, const TextMap::value_type& pair) {
    out.text(tags ? "Key" : "Name", pair.first);
    out.text("Value", pair.second);
  });
}

void Output::attributes(std::string_view name, const MessageAttributes& values) {
  HK_ASSERT(!is_sns(dialect_));  // no answer of SNS has any
  if (values.empty()) {
    return;
  }
  const auto write_value = [this](const MessageAttribute& attribute) {
    if (attribute.is_binary()) {
      text("BinaryValue", base64(attribute.value()));
    } else {
      text("StringValue", attribute.value());
    }
    text("DataType", attribute.data_type);
  };
  if (is_json(dialect_)) {
    json_.key(name);
    json_.begin_object();
    for (const auto& [key, attribute] : values) {
      json_.key(key);
      json_.begin_object();
      write_value(attribute);
      json_.end_object();
    }
    json_.end_object();
    return;
  }
  list(name, values, [&write_value](Output& out, const MessageAttributes::value_type& pair) {
    out.text("Name", pair.first);
    out.begin_element("Value");
    write_value(pair.second);
    out.end_element("Value");
  });
}

void Output::failure(std::string_view id, const Refusal& refusal) {
  text("Id", id);
  boolean("SenderFault", is_sender_fault(error_row(dialect_, refusal.code)));
  text("Code", query_code(dialect_, refusal.code));
  text("Message", refusal.message);
}

http::Response Output::finish(std::string_view request_id) && {
  HK_ASSERT(lists_.empty());
  HK_ASSERT(has_result_ || body_.size() == content_at_);
  if (is_json(dialect_)) {
    json_.end_object();
  } else {
    if (has_result_ && body_.size() == content_at_) {
      body_.back() = '/';  // <XResult> with nothing in it is <XResult/>
      body_ += '>';
    } else if (has_result_) {
      end_element(action_ + "Result");
    }
    body_ += "<ResponseMetadata>";
    append_xml_element(body_, "RequestId", request_id);
    body_ += "</ResponseMetadata>";
    end_element(action_ + "Response");
  }
  http::Response response;
  response.body = std::move(body_);
  response.content_type = content_type(dialect_);
  response.fields.push_back({"x-amzn-RequestId", std::string(request_id)});
  return response;
}

}  // namespace hk::api::aws
