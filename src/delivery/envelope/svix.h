/// The envelope of webhooks: those of Standard Webhooks (`webhook-…`), which Svix has under names
/// of its own (`svix-…`), and the layout of Stripe. All of them sign the bytes that are sent. What
/// is signed with, and how, is said by the attempt (core::WebhookTarget).
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/envelope/envelope.h"
#include "delivery/envelope/webhook_keys.h"

namespace hk::delivery {

class SvixEnvelope final : public Envelope {
 public:
  /// `version` is the server's.
  SvixEnvelope(WebhookSecrets secrets, std::string_view version);
  ~SvixEnvelope() override;

  /// Without those that would take the place of ours.
  [[nodiscard]] std::span<const core::Header> forwarded(const Request& request) override;
  [[nodiscard]] ForwardedHeaders bounds() const override;
  [[nodiscard]] std::string_view user_agent() const override { return user_agent_; }
  /// unavailable: it cannot be signed. It is never sent unsigned.
  Result<void> append_fields(std::string& out, const Addressed& addressed) override;
  [[nodiscard]] std::optional<AnswerBounds> answer_bounds() const override;
  [[nodiscard]] Outcome judge(const Request& request, const Response& response) const override;
  [[nodiscard]] std::string explained(std::string error) const override;

 private:
  Result<void> find_keys(const Request& request);
  Result<void> append_stripe(std::string& out, const Request& request, std::string_view timestamp);

  const std::string user_agent_;
  WebhookKeys keys_;
  std::vector<core::Header> kept_;  ///< reused; as the two below
  std::string signature_;
  std::vector<std::shared_ptr<const security::WebhookSecret>> signing_;  ///< the current one first
};

}  // namespace hk::delivery
