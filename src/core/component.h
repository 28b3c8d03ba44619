/// A component of the machine: one folder with its commands and replies (commands.h), its state,
/// and one command a file. All of them have the same small life, of which each has what it needs:
///
///   recover(reader)   once: memory is rebuilt from a bounded part of the store
///   execute(command)  decides: what changes in memory changes in the batch, too; the answer
///   advance()         what happens without a command, a bounded part of it per batch. Who must
///                     act at several points of a batch has a function with a name for each
///   wake_at()         when advance() has something to do; a time that has passed: at once
///   flush()           writes what is written once per batch, such as a record that many commands
///                     of the batch have changed
///
/// Machine composes them: it hands out commands and fixes the order of the rest. A component sees
/// others through their public functions only, and names them in its constructor; they may be
/// constructed after it. Nothing here is virtual: Machine knows each of them.
#pragma once

#include "core/context.h"

namespace hk::core {

class Component {
 public:
  Component(const Component&) = delete;
  Component& operator=(const Component&) = delete;

 protected:
  explicit Component(Context& context)
      : context_(context), batch_(context.batch), limits_(context.limits) {}
  ~Component() = default;

  Context& context_;
  Batch& batch_;          ///< of context_
  const Limits& limits_;  ///< of context_
};

}  // namespace hk::core
