/// Callbacks: messages of our own making that tell a URL how an attempt of another message ended.
/// Made in the batch that records the attempt, so that neither is ever there without the other.
/// Pure; called by Messages.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/error.h"
#include "core/lane/lane.h"
#include "core/record.h"

namespace hk::core {

/// In place of a failure callback's URL, with the name of a queue that is pulled from behind it:
/// the message itself goes there, not word of it.
inline constexpr std::string_view queue_scheme = "queue:";

/// The public id of a dead letter.
std::string to_text(const DeadLetterKey& key);

Live::Callbacks callbacks_of(const Message& message);
/// Can the delays between attempts of the message and of its callbacks be worked out?
Result<void> check_retries(const Message& message);

/// What the callback says about the last attempt of `source`, as JSON of at most about `bytes_max`
/// bytes: the source's body is cut to fit, and the answer's if that is not enough. A source in the
/// dead-letter queue is named by its id there. REQUIRES: state.last.
std::string callback_body(const Message& source, const MessageState& state, std::size_t bytes_max);

/// The message that carries it; all of it but what accept() sets.
Message callback_message(const Message& source, const Callback& to, const MessageState& state,
                         Moment now, std::size_t bytes_max);

}  // namespace hk::core
