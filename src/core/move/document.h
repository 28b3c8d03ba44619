/// Move tasks as they are stored: as documents, one each. Any thread.
#pragma once

#include <optional>

#include "core/record.h"

namespace hk::core {

inline constexpr const char* move_task_kind = "move_task";

Document to_document(const MoveTask& task);
/// nullopt: it is none.
std::optional<MoveTask> to_move_task(const Document& document);

}  // namespace hk::core
