/// Hands replies over to whoever waits for them. Any thread.
#pragma once

#include <vector>

#include "engine/submitter.h"

namespace hk::engine {

/// One reply for each submission, in the same order. Those that nobody waits for are let go.
void answer(std::vector<Submission>& submissions, std::vector<core::Reply> replies);
/// The same error for all of them.
void answer_all(std::vector<Submission>& submissions, const Error& error);

}  // namespace hk::engine
