/// What it costs an I/O thread to put a webhook into its envelope: the head of the request with its
/// signatures, of a body of 1 KiB, and the same message in the envelope of QStash beside it.
///
///   webhook_signing [--samples 200000]
#include <chrono>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "delivery/destination.h"
#include "delivery/envelope/envelopes.h"
#include "delivery/request_head.h"
#include "wire.h"

namespace {

using namespace hk;
using namespace hk::delivery;

constexpr const char* symmetric = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
constexpr const char* symmetric_before = "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD";
constexpr const char* ed25519 = "whsk_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";

struct Row {
  const char* name;
  std::vector<const char*> secrets;  ///< none: the envelope of QStash
  bool standard = true;
  bool stripe = false;
};

double microseconds(const Row& row, std::int64_t samples) {
  Envelopes envelopes(
      [](core::TenantId) {
        return std::make_shared<const Secret>("sig_0123456789012345678901234567");
      },
      1, [](core::TenantId, std::string_view sealed) { return Secret(std::string(sealed)); });
  auto message = std::make_shared<core::Message>();
  message->id = {core::Seq{5}, 6};
  message->url = "https://example.com/hook";
  message->method = "POST";
  message->body = std::string(1024, 'b');
  message->headers = {{"content-type", "application/json"}};
  Request request{.message = message, .id = message->id};
  if (!row.secrets.empty()) {
    auto target = std::make_shared<core::WebhookTarget>();
    target->id = "msg_2YbTqMhNd0hCxQeH3lYqGm5R1aB";
    target->attempt = "1";
    target->sign_standard = row.standard;
    target->sign_stripe = row.stripe;
    target->stripe_header = "Stripe-Signature";
    for (const char* const secret : row.secrets) {
      target->secrets.push_back({.sealed = secret});
    }
    request.webhook = std::move(target);
  }
  request.envelope = &envelopes.of(*message, nullptr, request.webhook.get());
  const net::Url url = *parse_destination(message->url);
  std::string out;
  const auto start = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < samples; ++i) {
    out.clear();
    const auto now = std::chrono::sys_seconds(std::chrono::seconds(1'700'000'000 + i));
    if (const auto built = append_request_head(out, request, url, now); !built) {
      bench::die(built.error().message);
    }
  }
  return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start)
             .count() /
         static_cast<double>(samples);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t samples = 200'000;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--samples" && i + 1 < argc) {
      ++i;
      samples = bench::to_number(argv[i], "--samples");
    } else {
      bench::die("usage: webhook_signing [--samples N]");
    }
  }
  const Row rows[] = {
      {"qstash", {}},
      {"v1", {symmetric}},
      {"v1, two keys", {symmetric, symmetric_before}},
      {"stripe", {symmetric}, false, true},
      {"v1 and stripe", {symmetric}, true, true},
      {"v1a", {ed25519}},
  };
  for (const Row& row : rows) {
    (void)microseconds(row, samples / 10);  // warm
    std::printf("%-16s %7.2f us\n", row.name, microseconds(row, samples));
  }
  return 0;
}
