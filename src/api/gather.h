/// Several commands, one answer: submits them all and goes on when the last reply has come. On one
/// I/O thread, so nothing is shared between threads.
#pragma once

#include <functional>
#include <vector>

#include "api/batcher.h"

namespace hk::api {

/// `finish` gets the replies in the order of the commands; it is called at once if there are none.
void submit_all(Batcher& batcher, std::vector<core::Command> commands,
                std::move_only_function<void(std::vector<core::Reply>)> finish);

}  // namespace hk::api
