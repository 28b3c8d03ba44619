/// One HTTP request to make and how it ended: all that a dispatcher knows of what it carries.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "core/effect.h"
#include "core/message.h"
#include "core/record.h"

namespace hk::observe {
enum class AttemptResult : std::uint8_t;
}

namespace hk::delivery {

class Envelope;

/// How much of an answer's body is wanted. When more has come than is read, the connection is
/// closed and the status counts.
struct AnswerBounds {
  std::size_t kept = 0;
  std::size_t read = 0;  ///< framing of chunks included
};

struct Request {
  /// Its method, URL, headers, body and trace are what is sent. Never null.
  std::shared_ptr<const core::Message> message{};
  /// Where it is posted instead, if its queue pushes; its headers are then the envelope's to say.
  std::shared_ptr<const core::PushTarget> to{};
  /// Not null: it is the delivery of a webhook, and this is how it is signed and judged.
  std::shared_ptr<const core::WebhookTarget> webhook{};
  Envelope* envelope = nullptr;   ///< what goes around it: never null, used on the I/O thread
  core::TenantId tenant{};        ///< connections are not shared between tenants
  core::PartitionId partition{};  ///< to whom the outcome is reported
  core::MessageId id{};
  core::Fence fence{};
  std::uint32_t retried = 0;  ///< retries made before this one: what the receiver is told
  std::array<std::uint8_t, 8> span_id{};
  Moment started_at{};            ///< on the clock of whoever asks, for whom it comes back
  Millis timeout{};               ///< of all of it; 0 = the dispatcher's default
  std::optional<Millis> lease{};  ///< it must not take longer, whatever its timeout
  bool whole_answer = false;      ///< whoever asks wants the answer, not only its first bytes

  [[nodiscard]] const std::string& url() const { return to ? to->url : message->url; }
  [[nodiscard]] std::string_view method() const {
    return to ? std::string_view("POST") : std::string_view(message->method);
  }
};

struct Answer {
  observe::AttemptResult result{};
  bool delivered = false;
  bool give_up = false;  ///< the receiver said that no retry can help
  /// Nothing was sent, and neither the receiver nor the request is to blame.
  bool not_made = false;
  std::optional<Millis> retry_after{};
  std::string error{};  ///< "" when delivered
  int status = 0;       ///< 0 = there was none
  std::vector<core::Header> headers{};
  std::string body{};
  std::chrono::steady_clock::duration took{};
  std::string host{};  ///< of the URL, for logs; "" when that could not be read
  /// The room that a long body takes: to be held as long as the body. Null: it takes none.
  std::shared_ptr<const void> seat{};
};

/// Who is told how requests ended. On the dispatcher's I/O thread.
class AnswerTaker {
 public:
  AnswerTaker() = default;
  AnswerTaker(const AnswerTaker&) = delete;
  AnswerTaker& operator=(const AnswerTaker&) = delete;
  virtual ~AnswerTaker() = default;

  /// May not start or stop anything in the call.
  virtual void take(const Request& request, Answer answer) = 0;
  /// From the dispatcher's tick: offers again what could not be handed on.
  virtual void flush() {}
  /// What is still to be handed on: stopping waits for it.
  [[nodiscard]] virtual std::size_t unsent() const { return 0; }
};

}  // namespace hk::delivery
