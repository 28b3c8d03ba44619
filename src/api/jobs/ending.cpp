#include "api/jobs/ending.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "api/sqs/receipt.h"
#include "base/ascii.h"
#include "base/json_input.h"
#include "core/reader.h"

namespace hk::api::jobs {

namespace {

constexpr std::size_t message_bytes_max = 4096;
constexpr std::size_t code_bytes_max = 64;
constexpr std::size_t content_type_bytes_max = 200;
constexpr Millis retry_after_max = std::chrono::hours{24};

std::unexpected<Error> bad_member(std::string_view name, std::string_view right) {
  return fail(ErrorKind::invalid_argument, std::string(name) + ": " + std::string(right));
}

std::unexpected<Error> no_lease() {
  return fail(ErrorKind::invalid_argument,
              "give fence (the header Hikyaku-Fence of the delivery) or receipt (the ReceiptHandle "
              "of the receive), and not both");
}

/// The message that a receipt is of may be a later one than its receiver knows: dead letters keep
/// the id that they had first.
Result<core::Receipt> read_receipt(const Services& services, core::TenantId tenant,
                                   core::MessageId job, std::string_view handle) {
  if (const auto id = sqs::claimed_by_handle(handle)) {
    const auto message = services.submitter.durable_view(tenant)->get<core::Message>(id->seq);
    if (message != nullptr && message->id == *id && message->tenant == tenant && message->pull &&
        (message->id == job || message->pull->first_id == job)) {
      if (const auto receipt =
              sqs::parse_handle(services.options.receipt_key, tenant, message->queue, handle)) {
        return *receipt;
      }
    }
  }
  return bad_member("receipt", "is not a receipt handle of this job");
}

/// The command with its tenant, its message and its lease.
Result<core::EndJob> read_lease(const Services& services, core::TenantId tenant,
                                core::MessageId job, const idempotency::Body& body) {
  const auto fence = body.text("fence");
  const auto receipt = body.text("receipt");
  if (const Error* const wrong = idempotency::first_error(fence, receipt)) {
    return std::unexpected(*wrong);
  }
  if (fence->has_value() == receipt->has_value()) {
    return no_lease();
  }
  core::EndJob command{.tenant = tenant, .id = job};
  if (*fence) {
    const auto pushed = parse_fence(**fence);
    if (!pushed) {
      return bad_member("fence", "must be as the header Hikyaku-Fence had it, such as 0.3.1");
    }
    command.lease = *pushed;
    return command;
  }
  const auto read = read_receipt(services, tenant, job, **receipt);
  if (!read) {
    return std::unexpected(read.error());
  }
  command.id = read->id;
  command.lease = *read;
  return command;
}

bool is_media_type(std::string_view text) {
  const std::size_t slash = text.find('/');
  return !text.empty() && text.size() <= content_type_bytes_max && slash != 0 &&
         slash != std::string_view::npos && slash + 1 < text.size() &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c <= '~'; });
}

Result<void> read_result(const idempotency::Body& body, core::EndJob& command) {
  const ExactJson* const result = body.find("result");
  const auto text = body.text("body");
  const auto type = body.text("content_type");
  if (const Error* const wrong = idempotency::first_error(text, type)) {
    return std::unexpected(*wrong);
  }
  if (result != nullptr && (*text || *type)) {
    return bad_member("result",
                      "is application/json; give it, or body with content_type, not both");
  }
  if (*type && !*text) {
    return bad_member("content_type", "goes with body");
  }
  if (*type && !is_media_type(**type)) {
    return bad_member("content_type", "must be a media type, such as text/plain");
  }
  if (result != nullptr) {
    command.content_type = "application/json";
    command.result = result->canonical();
  } else if (*text) {
    command.content_type = type->value_or("text/plain; charset=utf-8");
    command.result = **text;
    if (is_json_type(command.content_type)) {
      const auto json = ExactJson::parse(**text, json_depth_max);
      if (!json) {
        return bad_member("body", json.error().message);
      }
      command.result = json->canonical();
    }
  }
  if (command.result.size() > result_bytes_max) {
    return fail(ErrorKind::limit_exceeded, std::string(result != nullptr ? "result" : "body") +
                                               ": must have at most " +
                                               std::to_string(result_bytes_max / 1024) + " KiB");
  }
  return {};
}

Result<std::string> read_error(const idempotency::Body& body) {
  constexpr std::string_view shape = R"(must be {"message": "…"}, perhaps with a "code")";
  const ExactJson* const given = body.find("error");
  if (given == nullptr || given->kind != ExactJson::Kind::object) {
    return bad_member("error", shape);
  }
  const auto error = idempotency::Body::of(*given, {"message", "code"});
  if (!error) {
    return bad_member("error", error.error().message);
  }
  const auto message = error->text("message");
  const auto code = error->text("code");
  if (const Error* const wrong = idempotency::first_error(message, code)) {
    return bad_member("error", wrong->message);
  }
  if (!*message || (*message)->empty() || (*message)->size() > message_bytes_max) {
    return bad_member("error",
                      "message must have 1 to " + std::to_string(message_bytes_max) + " bytes");
  }
  if (!*code) {
    return **message;
  }
  if ((*code)->empty() || (*code)->size() > code_bytes_max ||
      !std::ranges::all_of(**code, [](char c) {
        return is_letter(c) || is_digit(c) || c == '_' || c == '-' || c == '.';
      })) {
    return bad_member("error", "code must have 1 to 64 letters, digits, '_', '-' and '.'");
  }
  return **code + ": " + **message;
}

}  // namespace

std::optional<core::PushLease> parse_fence(std::string_view text) {
  std::array<std::uint32_t, 3> numbers{};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const bool digit = at != end && is_digit(*at);
    const auto [next, failed] = std::from_chars(at, end, numbers[i]);
    const bool last = i + 1 == numbers.size();
    if (!digit || failed != std::errc{} || (last ? next != end : next == end || *next != '.')) {
      return std::nullopt;
    }
    at = last ? next : next + 1;
  }
  if (numbers[0] > 0xffff) {
    return std::nullopt;
  }
  return core::PushLease{core::PartitionId{static_cast<std::uint16_t>(numbers[0])},
                         {numbers[1], numbers[2]}};
}

Result<core::MessageId> read_job_id(std::string_view text) {
  const auto id = core::parse_message_id(text);
  if (!id) {
    return fail(ErrorKind::not_found, "no job " + std::string(text));
  }
  return *id;
}

Result<core::EndJob> read_completed(const Services& services, core::TenantId tenant,
                                    core::MessageId job, const idempotency::Body& body) {
  auto command = read_lease(services, tenant, job, body);
  if (!command) {
    return command;
  }
  command->succeeded = true;
  if (auto read = read_result(body, *command); !read) {
    return std::unexpected(read.error());
  }
  return command;
}

Result<core::EndJob> read_failed(const Services& services, core::TenantId tenant,
                                 core::MessageId job, const idempotency::Body& body) {
  auto command = read_lease(services, tenant, job, body);
  if (!command) {
    return command;
  }
  auto error = read_error(body);
  const auto retry = body.boolean("retry");
  const auto retry_after = body.duration("retry_after", Millis{0}, retry_after_max);
  if (const Error* const wrong = idempotency::first_error(error, retry, retry_after)) {
    return std::unexpected(*wrong);
  }
  command->give_up = !retry->value_or(true);
  if (command->give_up && *retry_after) {
    return bad_member("retry_after", "means nothing without a retry");
  }
  command->error = std::move(*error);
  command->retry_after = *retry_after;
  return command;
}

bool is_json_type(std::string_view content_type) {
  const std::string_view type = content_type.substr(0, content_type.find_first_of("; "));
  return equals_ignoring_case(type, "application/json") || type.ends_with("+json");
}

std::string_view status_name(core::Status status) {
  switch (status) {
    case core::Status::pending: return "PENDING";
    case core::Status::running: return "RUNNING";
    case core::Status::succeeded: return "SUCCEEDED";
    case core::Status::failed: return "FAILED";
    case core::Status::canceled: return "CANCELED";
  }
  std::unreachable();
}

std::string told_of_lease(const core::JobEnded& ended) {
  if (ended.outcome == core::JobEnded::Outcome::finished) {
    return "the job has ended: it is " + std::string(status_name(ended.status)) +
           ". Nothing was changed";
  }
  return "the fence or receipt is not that of the lease that counts now: it has ended, or somebody "
         "else has the job. It is " +
         std::string(status_name(ended.status)) + ". Nothing was changed";
}

}  // namespace hk::api::jobs
