/// Keeps the responses of one connection in the order of its requests, whatever the order in which
/// they are answered. Used by a connection on its I/O thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "edge/http/body_budget.h"
#include "edge/http/message.h"
#include "edge/http/response_writer.h"

namespace hk::http {

class Pipeline {
 public:
  /// A request was read; its answer is owed. `body`: what it holds until then.
  std::uint64_t open(WriteOptions options, BodyShare body = {});
  /// Appends to `out` every response whose turn has come.
  void answer(std::uint64_t slot, const Response& response, std::string_view common_lines,
              std::string& out);
  /// All of `out` was sent.
  void sent() { held_.clear(); }
  /// `told` is one of take_watchers() while the slot has no answer.
  void watch(std::uint64_t slot, std::move_only_function<void()> told);
  [[nodiscard]] bool watched() const;
  [[nodiscard]] std::vector<std::move_only_function<void()>> take_watchers();
  /// From now on responses say that the connection ends, and the next one ends it.
  void close_after_next() { closing_ = true; }

  /// Requests whose responses are not yet in `out`.
  [[nodiscard]] std::size_t waiting() const { return slots_.size() - front_; }
  /// The last response of the connection is in `out`; later ones are dropped.
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  struct Slot {
    WriteOptions options{};
    BodyShare body{};
    bool answered = false;
    std::string bytes{};
    std::shared_ptr<const void> held{};  ///< of the response
    std::move_only_function<void()> told{};
  };
  [[nodiscard]] std::size_t index_of(std::uint64_t slot) const;
  void write(Slot& slot, const Response& response, std::string_view common_lines, std::string& out);
  void pop();

  std::vector<Slot> slots_{};
  std::size_t front_ = 0;                            ///< index of the oldest waiting one
  std::uint64_t first_slot_ = 0;                     ///< its number
  std::vector<std::shared_ptr<const void>> held_{};  ///< of responses that are in `out`
  bool closing_ = false;
  bool ended_ = false;
};

}  // namespace hk::http
