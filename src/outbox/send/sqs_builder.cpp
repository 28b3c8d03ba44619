#include "outbox/send/sqs_builder.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/ascii.h"
#include "base/json.h"
#include "delivery/destination.h"
#include "outbox/send/check_row.h"
#include "outbox/send/reason.h"

namespace hk::outbox {
namespace {

constexpr std::string_view key_attribute = "IdempotencyKey";
constexpr std::size_t attributes_max = 10;

/// UTF-8 without the characters that SQS refuses: controls but tab, line feed and carriage return,
/// and U+FFFE and U+FFFF.
bool is_sqs_text(std::string_view text) {
  const auto is_control = [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
  };
  return !text.empty() && valid_utf8(text) && !std::ranges::any_of(text, is_control) &&
         text.find("\xef\xbf\xbe") == std::string_view::npos &&
         text.find("\xef\xbf\xbf") == std::string_view::npos;
}

std::optional<Outcome> check_attributes(const Row& row) {
  const auto refused = [](std::string message) {
    return refuse(reason::headers_invalid, 400, std::move(message)).error();
  };
  if (!is_sqs_text(row.idempotency_key)) {
    return refused(
        "the idempotency key cannot be a message attribute: it is empty or holds "
        "characters that SQS does not take");
  }
  std::size_t count = 1;
  for (const Header& header : row.headers) {
    if (header.name == key_attribute) {
      continue;
    }
    if (!is_plain_name(header.name)) {
      return refused("the header '" + header.name +
                     "' cannot be a message attribute: "
                     "letters, digits, '_', '-' and '.' only");
    }
    if (!is_sqs_text(header.value)) {
      return refused("the header '" + header.name +
                     "' cannot be a message attribute: "
                     "its value is empty or holds characters that SQS does not take");
    }
    ++count;
  }
  if (count > attributes_max) {
    return refused("SQS takes at most 10 message attributes: 9 headers and the idempotency key");
  }
  return std::nullopt;
}

void write_attribute(JsonWriter& json, std::string_view name, std::string_view value) {
  json.key(name);
  json.begin_object();
  json.field("DataType", "String");
  json.field("StringValue", value);
  json.end_object();
}

}  // namespace

Result<std::unique_ptr<SqsBuilder>> SqsBuilder::make(std::string queue_url,
                                                     AwsCredentials credentials) {
  const auto url = delivery::parse_destination(queue_url);
  if (!url) {
    return std::unexpected(url.error());
  }
  if (url->target.size() < 2 || url->target.ends_with('/') || url->target.contains('?')) {
    return fail(ErrorKind::invalid_argument,
                "it must end in the queue's name: https://<host>/<account>/<queue>");
  }
  const std::string scheme = url->scheme == net::Scheme::https ? "https://" : "http://";
  std::string host = url->host_header();
  std::string endpoint = scheme + host + "/";
  return std::unique_ptr<SqsBuilder>(new SqsBuilder(std::move(queue_url), std::move(endpoint),
                                                    std::move(host), std::move(credentials)));
}

SqsBuilder::SqsBuilder(std::string queue_url, std::string endpoint, std::string host,
                       AwsCredentials credentials)
    : queue_url_(std::move(queue_url)),
      endpoint_(std::move(endpoint)),
      host_(std::move(host)),
      fifo_(queue_url_.ends_with(".fifo")),
      signer_(std::move(credentials)) {}

std::string SqsBuilder::make_body(const Row& row) const {
  std::string body;
  body.reserve(row.payload->size() + row.payload->size() / 4 + 512);
  JsonWriter json(body);
  json.begin_object();
  json.field("QueueUrl", queue_url_);
  json.field("MessageBody", *row.payload);
  if (fifo_) {
    json.field("MessageDeduplicationId", fifo_id(row.idempotency_key));
    json.field("MessageGroupId",
               fifo_id(row.order_key.empty() ? row.idempotency_key : row.order_key));
  }
  json.key("MessageAttributes");
  json.begin_object();
  write_attribute(json, key_attribute, row.idempotency_key);
  for (const Header& header : row.headers) {
    if (header.name != key_attribute) {
      write_attribute(json, header.name, header.value);
    }
  }
  json.end_object();
  json.end_object();
  return body;
}

Built SqsBuilder::build(Row row, Moment now) {
  if (auto bad = check_payload(row)) {
    return std::unexpected(*std::move(bad));
  }
  if (!is_sqs_text(*row.payload)) {
    return refuse(reason::payload_invalid, 400,
                  "the payload is empty or holds characters that SQS does not take: UTF-8 text "
                  "without control characters");
  }
  if (auto bad = check_attributes(row)) {
    return std::unexpected(*std::move(bad));
  }
  core::Message message;
  message.url = endpoint_;
  message.body = make_body(row);
  message.headers = {{"Content-Type", "application/x-amz-json-1.0"},
                     {"X-Amz-Target", "AmazonSQS.SendMessage"}};
  signer_.sign(host_, message.body, now, message.headers);
  return message;
}

}  // namespace hk::outbox
