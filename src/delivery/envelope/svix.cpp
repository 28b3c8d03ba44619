#include "delivery/envelope/svix.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <utility>

#include "base/ascii.h"
#include "base/assert.h"
#include "delivery/envelope/fields.h"
#include "delivery/response.h"
#include "net/url.h"
#include "security/webhook_signature.h"

namespace hk::delivery {
namespace {

using SecretKind = security::WebhookSecret::Kind;

/// Those of an endpoint and those of an event: 50 each, and the content type.
constexpr std::size_t webhook_fields_max = 101;
constexpr std::size_t webhook_field_bytes_max = std::size_t{512} * 1024;
constexpr AnswerBounds webhook_answer{.kept = 20'000, .read = std::size_t{64} * 1024};

/// Ours, beside those that are reserved for every message.
bool is_ours(std::string_view name, const core::WebhookTarget& target) {
  return equals_ignoring_case(name, "user-agent") ||
         equals_ignoring_case(name, "idempotency-key") ||
         starts_with_ignoring_case(name, "svix-") || starts_with_ignoring_case(name, "upstash-") ||
         is_reserved(name) ||
         (target.sign_stripe && equals_ignoring_case(name, target.stripe_header));
}

/// The host that a redirect points to, fit for a log; the whole of it is among the answer's
/// headers.
/// "": none can be read.
std::string redirected_to(const Response& response) {
  for (const core::Header& header : response.headers) {
    if (equals_ignoring_case(header.name, "location")) {
      const auto url = net::parse_url(header.value.substr(0, header.value.find('#')));
      return url ? url->authority_key() : "";
    }
  }
  return "";
}

}  // namespace

SvixEnvelope::SvixEnvelope(WebhookSecrets secrets, std::string_view version)
    : user_agent_("Hikyaku-Webhooks/" + std::string(version)), keys_(std::move(secrets)) {}

SvixEnvelope::~SvixEnvelope() = default;

std::span<const core::Header> SvixEnvelope::forwarded(const Request& request) {
  HK_ASSERT(request.webhook != nullptr);
  const auto is_kept = [&request](const core::Header& header) {
    return !is_ours(header.name, *request.webhook);
  };
  const std::vector<core::Header>& headers = request.message->headers;
  if (std::ranges::all_of(headers, is_kept)) {
    return headers;
  }
  kept_.clear();
  std::ranges::copy_if(headers, std::back_inserter(kept_), is_kept);
  return kept_;
}

ForwardedHeaders SvixEnvelope::bounds() const {
  return ForwardedHeaders(webhook_fields_max, webhook_field_bytes_max);
}

/// Each key that was live when the attempt began, in the order of the endpoint.
Result<void> SvixEnvelope::find_keys(const Request& request) {
  signing_.clear();
  for (const core::webhook::SigningSecret& secret : request.webhook->secrets) {
    if (secret.expires_at <= request.started_at) {
      continue;
    }
    auto key = keys_.find(request.tenant, secret.sealed);
    if (!key) {
      return std::unexpected(std::move(key).error());
    }
    signing_.push_back(*std::move(key));
  }
  if (signing_.empty()) {
    return fail(ErrorKind::unavailable, "no signing key: the endpoint has no secret");
  }
  return {};
}

Result<void> SvixEnvelope::append_fields(std::string& out, const Addressed& addressed) {
  const Request& request = addressed.request;
  HK_ASSERT(request.webhook != nullptr);
  const core::WebhookTarget& target = *request.webhook;
  if (!target.sign_standard && !target.sign_stripe) {
    return fail(ErrorKind::unavailable, "no signing key: the endpoint has no kind of signature");
  }
  if (auto found = find_keys(request); !found) {
    return found;
  }

  std::array<char, 20> digits{};
  const char* const digits_end = std::to_chars(digits.data(), digits.data() + digits.size(),
                                               addressed.now.time_since_epoch().count())
                                     .ptr;
  const std::string_view timestamp(digits.data(), digits_end);
  signature_.clear();
  if (target.sign_standard) {
    const security::SignedContent content{
        .id = target.id, .timestamp = timestamp, .body = request.message->body};
    for (const auto& key : signing_) {
      if (!signature_.empty()) {
        signature_.push_back(' ');
      }
      if (key->kind == SecretKind::symmetric) {
        security::sign_v1(signature_, *key, content);
      } else {
        security::sign_v1a(signature_, *key, content);
      }
    }
  }
  struct Family {
    core::webhook::HeaderSet other;
    std::string_view id;
    std::string_view timestamp;
    std::string_view signature;
  };
  constexpr Family families[] = {
      {core::webhook::HeaderSet::webhook, "svix-id", "svix-timestamp", "svix-signature"},
      {core::webhook::HeaderSet::svix, "webhook-id", "webhook-timestamp", "webhook-signature"},
  };
  for (const Family& family : families) {
    if (target.header_set == family.other) {
      continue;
    }
    append_field(out, family.id, target.id);
    append_field(out, family.timestamp, timestamp);
    if (target.sign_standard) {
      append_field(out, family.signature, signature_);
    }
  }
  if (target.sign_stripe) {
    if (auto done = append_stripe(out, request, timestamp); !done) {
      return done;
    }
  }
  append_field(out, "hikyaku-attempt", target.attempt);
  return {};
}

Result<void> SvixEnvelope::append_stripe(std::string& out, const Request& request,
                                         std::string_view timestamp) {
  std::vector<security::WebhookSecret> symmetric;
  for (const auto& key : signing_) {
    if (key->kind == SecretKind::symmetric) {  // one from before a rotation may be of another kind
      symmetric.push_back(*key);
    }
  }
  if (symmetric.empty()) {
    return fail(ErrorKind::unavailable,
                "no signing key: Stripe's layout needs a whsec_ secret, and the endpoint has none");
  }
  signature_.clear();
  security::sign_stripe(signature_, symmetric, timestamp, request.message->body);
  const std::string& name = request.webhook->stripe_header;
  if (auto safe = may_forward(name, signature_); !safe) {
    return safe;
  }
  append_field(out, name, signature_);
  return {};
}

std::optional<AnswerBounds> SvixEnvelope::answer_bounds() const { return webhook_answer; }

Outcome SvixEnvelope::judge(const Request& request, const Response& response) const {
  const int status = response.status;
  Outcome outcome = judge_answer(status, response.non_retryable, response.retry_after.asked());
  if (outcome.delivered || outcome.give_up) {
    return outcome;
  }
  if (status >= 300 && status <= 399) {
    const std::string to = redirected_to(response);
    outcome.error =
        "status " + std::to_string(status) +
        (to.empty() ? ": redirect not followed" : ": redirect to " + to + " not followed");
  }
  const auto& final = request.webhook->give_up_statuses;
  if (std::ranges::find(final, static_cast<std::uint32_t>(status)) != final.end()) {
    outcome.give_up = true;
    outcome.retry_after.reset();
  }
  return outcome;
}

std::string SvixEnvelope::explained(std::string error) const {
  struct Words {
    std::string_view ours;
    std::string_view shown;
  };
  constexpr Words table[] = {
      {"timeout: no complete answer within ", "timed out after "},
      {"blocked_by_policy", "address not allowed"},
      {"not connected: ", ""},
      {"connection broken: ", ""},
  };
  for (const auto& [ours, shown] : table) {
    if (error.starts_with(ours)) {
      error.replace(0, ours.size(), shown);
      break;
    }
  }
  // The system's words begin with a capital letter; "TLS" keeps its own.
  if (error.size() > 1 && !(error[1] >= 'A' && error[1] <= 'Z')) {
    error[0] = to_lower(error[0]);
  }
  return error;
}

}  // namespace hk::delivery
