/// Idempotency keys as they are stored. Numbers of enums are on disk: never change or reuse one.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "core/message.h"

namespace hk::core {

/// What an answer is besides its body. "": it has none.
struct AnswerHead {
  std::uint32_t status = 0;  ///< 0: an outcome that a handler gave; only the server's own have one
  std::string content_type{};
  std::string location{};
  std::string etag{};
  bool by_reference = false;  ///< not its body is stored, but what that is made of again
  friend bool operator==(const AnswerHead&, const AnswerHead&) = default;
};

/// What is known of a piece of work that must take effect once, by the key that its sender gave it.
///
///            claim                complete
///   (none) ────────▶ started ──────────────▶ completed
///                    ▲   │ └───────────────▶ failed       both are the answer to every later claim
///      claim, or its │   │ fail, not final    fail, final
///      lease is over └── released
///
/// A write to the server itself (Once) is completed in the batch in which it is first seen.
struct IdempotencyKey {
  enum class State : std::uint8_t { started = 1, completed = 2, failed = 3, released = 4 };

  TenantId tenant{};
  std::string space{};  ///< its namespace: whose keys they are
  std::string key{};
  State state = State::started;
  std::string hash{};       ///< of the request; "" = none was given
  std::uint64_t token = 0;  ///< of the last claim
  std::uint32_t attempt = 0;
  std::string owner{};  ///< the claimer's word
  Moment lease_until{};
  Millis kept_for{};  ///< after its end
  Moment created_at{};
  Moment ended_at{};     ///< completed, failed, released
  Moment expires_at{};   ///< it is as if it were not there
  Moment timer_at{};     ///< the one timer that counts; of a Once there is an Expiry instead
  std::string answer{};  ///< completed: the response; failed: the error; JSON, as it was given
  AnswerHead head{};     ///< of the answer to a Once; its body is `answer`
  friend bool operator==(const IdempotencyKey&, const IdempotencyKey&) = default;
};

/// In both of which there is no NUL.
inline std::string idempotency_id(const std::string& space, const std::string& key) {
  return space + '\0' + key;
}
inline std::tuple<const TenantId&, std::string> key_of(const IdempotencyKey& one) {
  return {one.tenant, idempotency_id(one.space, one.key)};
}

}  // namespace hk::core
