/// A row of an outbox table and how it ended: what the database side and the sending side of the
/// relay agree on. Plain data, passed by value between their threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/time.h"
#include "outbox/lease.h"

namespace hk::outbox {

struct Header {
  std::string name{};
  std::string value{};
  friend bool operator==(const Header&, const Header&) = default;
};

/// Who holds a row: the owner's name and the attempts counted when it was claimed. Every way out of
/// `sending` but a release counts an attempt, so no two claims of a row by anybody are the same.
struct Claim {
  std::int64_t id = 0;
  std::string locked_by{};
  std::int32_t attempts = 0;
  friend bool operator==(const Claim&, const Claim&) = default;
};

/// A claimed row.
struct Row {
  Claim claim{};
  std::string idempotency_key{};         ///< "": it has none, and is never sent
  std::string request_digest{};          ///< "" unknown
  std::string destination{};             ///< "" where it names none: the relay's own
  std::vector<Header> headers{};         ///< to travel with it
  std::optional<std::string> payload{};  ///< nullopt: larger than the relay may read
  std::string order_key{};               ///< "" where the table has no order
  std::string traceparent{};             ///< "" unknown
  bool is_json = false;                  ///< it says so, or names no content type
  bool in_ledger = false;                ///< the ledger had an entry of its key at the claim
  std::string target{};                  ///< Sender::target_of(); set by the relay
  /// Whether it may be begun; the relay goes on to write it. Null: whenever its turn comes.
  std::shared_ptr<const Lease> lease{};
};

enum class Ending : std::uint8_t {
  succeeded,
  failed,   ///< try again by the table of delays, up to the most attempts
  aborted,  ///< no retry can help
};

/// What a sending tells of the broker, or of the host, that it went to.
enum class Broker : std::uint8_t {
  unknown,   ///< nothing: it was not asked
  answered,  ///< it is there, whatever it said
  at_fault,  ///< it could take no row: the row is not to blame
};

/// What became of one sending.
struct Outcome {
  Ending ending = Ending::failed;
  std::string reason_code{};  ///< "" when succeeded; BROKER_TIMEOUT, PAYLOAD_INVALID …
  std::string message{};      ///< for a person; never the payload
  int http_status = 0;        ///< for the ledger: 200, the receiver's own, or what maps to it
  std::string response{};     ///< the receiver's body, cut; any bytes
  std::optional<Millis> retry_after{};  ///< the receiver asked for it: not sooner than that
  Broker broker = Broker::unknown;
  Millis took{};
};

}  // namespace hk::outbox
