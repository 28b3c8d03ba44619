/// What a relay tells people: log lines and spans, by the names of the protocol. A state is told
/// when it begins and when it ends, not as often as it is met. Never a payload; of an idempotency
/// key its hash. The relay's thread.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"
#include "outbox/database.h"
#include "outbox/row.h"
#include "outbox/settings.h"
#include "outbox/store.h"

namespace hk::observe {
class SpanExporter;
}

namespace hk::outbox {

/// `given` (or host:pid) and some random digits: no two relays have one name, so that each knows
/// which leases are its own.
std::string unique_worker_name(const std::string& given);

/// The span `outbox.process` of a row, while it is on its way.
struct ProcessSpan {
  std::array<std::uint8_t, 16> trace_id{};
  std::array<std::uint8_t, 8> span_id{};
  std::array<std::uint8_t, 8> parent_span_id{};
  std::int64_t start_ms = 0;  ///< 0: it is not recorded
};

enum class Chore : std::uint8_t { counting, deleting };

class RelayLog {
 public:
  RelayLog(const Settings& settings, std::string_view adapter, observe::SpanExporter* spans);

  void started() const;
  void stopped() const;
  void database_away(const DatabaseError& error, std::string_view doing);
  void database_back();
  /// Told once for each kind of error, until it works.
  void housekeeping_failed(Chore chore, const DatabaseError& error);
  void housekeeping_works(Chore chore);
  void source_away(const Error& error);
  void source_back();
  void broker_away(const std::string& broker, const Outcome& outcome) const;
  void broker_back(const std::string& broker, Millis away) const;
  void leases_lost(std::size_t rows) const;
  void not_begun(std::size_t rows) const;
  /// As many as wait for their lock now; told when the first one does.
  void rows_locked(std::size_t rows);
  void taken_over(std::size_t rows) const;
  void cut_off(std::size_t rows) const;

  /// The row's trace goes on with this span: what is sent is its child.
  ProcessSpan begin_span(Row& row) const;
  void processed(const Finished& row, Written written, const ProcessSpan& span,
                 std::chrono::steady_clock::duration took) const;

 private:
  const std::string worker_;
  const std::string table_;
  const std::string adapter_;
  observe::SpanExporter* const spans_;
  std::optional<ErrorKind> database_said_{};  ///< nothing while it is there
  std::optional<ErrorKind> source_said_{};
  std::array<std::optional<ErrorKind>, 2> chores_said_{};
  bool locked_said_ = false;
};

}  // namespace hk::outbox
