/// Everything that can be asked of the core, and its answers: a command of one of its components,
/// and that component's reply. An adapter's whole job is to make one of the first and to translate
/// one of the second. A new one also has its row in command.cpp.
#pragma once

#include <variant>

#include "base/error.h"
#include "core/document/commands.h"
#include "core/flow/commands.h"
#include "core/idempotency/commands.h"
#include "core/ledger/commands.h"
#include "core/message/commands.h"
#include "core/one_of.h"
#include "core/pull/commands.h"
#include "core/queue/commands.h"
#include "core/schedule/commands.h"
#include "core/source/commands.h"
#include "core/task/commands.h"
#include "core/tenant/commands.h"
#include "core/topic/commands.h"
#include "core/transact/commands.h"
#include "core/webhook/commands.h"

namespace hk::core {

struct Commands {
  using Parts =
      std::variant<MessageCommand, QueueCommand, PullCommand, TaskCommand, TopicCommand,
                   ScheduleCommand, FlowCommand, IdempotencyCommand, DocumentCommand, TenantCommand,
                   ledger::LedgerCommand, TransactCommand, webhook::WebhookCommand, SourceCommand>;
};
using Command = OneOf<Commands>;

/// Whose command it is. 0: UpsertTenant of one that has no id yet; CompleteAttempt, which goes to
/// the partition that made the attempt. A command that names no tenant does not compile.
TenantId tenant_of(const Command& command);
/// What it does if it takes effect: the command in a Once, any other itself.
const Command& effect_of(const Command& command);

/// The reply to a command that has nothing to say beyond its success.
struct Done {};

struct Replies {
  using Parts =
      std::variant<std::variant<Done>, MessageReply, QueueReply, PullReply, TaskReply, TopicReply,
                   ScheduleReply, FlowReply, IdempotencyReply, TenantReply, ledger::LedgerReply,
                   TransactReply, webhook::WebhookReply, SourceReply>;
};
using Reply = Result<OneOf<Replies>>;

}  // namespace hk::core
