#include <algorithm>
#include <charconv>
#include <map>

#include "core/move/document.h"

namespace hk::core {

namespace {

constexpr std::size_t number_digits = 20;

/// REQUIRES: room for every number in order.
std::string name_of(const MoveTask& task) {
  std::string digits = std::to_string(task.number);
  digits.insert(0, number_digits - digits.size(), '0');
  return task.source + '/' + digits;
}

template <class Number>
bool parse(const std::string& text, Number& number) {
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end;
}

}  // namespace

Document to_document(const MoveTask& task) {
  const auto& [tenant, source, number, destination, rate, status, moved, to_move, started_at,
               ended_at, up_to, reason] = task;
  return {.tenant = tenant,
          .kind = move_task_kind,
          .name = name_of(task),
          .fields = {{"source", source},
                     {"number", std::to_string(number)},
                     {"destination", destination},
                     {"rate", std::to_string(rate)},
                     {"status", std::to_string(static_cast<int>(status))},
                     {"moved", std::to_string(moved)},
                     {"to_move", std::to_string(to_move)},
                     {"started_at", std::to_string(to_ms(started_at))},
                     {"ended_at", std::to_string(to_ms(ended_at))},
                     {"up_to", std::to_string(up_to.value())},
                     {"reason", reason}},
          .created_at = started_at};
}

std::optional<MoveTask> to_move_task(const Document& document) {
  std::map<std::string, std::string> fields;
  for (const Header& field : document.fields) {
    fields[field.name] = field.value;
  }
  MoveTask task{.tenant = document.tenant,
                .source = fields["source"],
                .destination = fields["destination"],
                .reason = fields["reason"]};
  int status = 0;
  std::int64_t started_at = 0;
  std::int64_t ended_at = 0;
  std::uint64_t up_to = 0;
  const bool whole = parse(fields["number"], task.number) && parse(fields["rate"], task.rate) &&
                     parse(fields["status"], status) && parse(fields["moved"], task.moved) &&
                     parse(fields["to_move"], task.to_move) &&
                     parse(fields["started_at"], started_at) &&
                     parse(fields["ended_at"], ended_at) && parse(fields["up_to"], up_to);
  if (!whole || status < static_cast<int>(MoveTask::Status::running) ||
      status > static_cast<int>(MoveTask::Status::failed) || document.name != name_of(task)) {
    return std::nullopt;
  }
  task.status = static_cast<MoveTask::Status>(status);
  task.started_at = moment_from_ms(started_at);
  task.ended_at = moment_from_ms(ended_at);
  task.up_to = Seq{up_to};
  return task;
}

}  // namespace hk::core
