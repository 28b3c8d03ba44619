/// Everything that can be asked of the core, and its answers. One variant each; an adapter's whole
/// job is to make one of the first and to translate one of the second.
#pragma once

#include <variant>

#include "base/error.h"
#include "core/document/commands.h"
#include "core/flow/commands.h"
#include "core/message/commands.h"
#include "core/move/commands.h"
#include "core/pull/commands.h"
#include "core/queue/commands.h"
#include "core/schedule/commands.h"
#include "core/tenant/commands.h"
#include "core/topic/commands.h"

namespace hk::core {

using Command = std::variant<
    Publish, PublishBatch, CompleteAttempt, CancelMessage, RetryDeadLetter, DeleteDeadLetterCommand,
    UpsertQueue, DeleteQueueCommand, CreatePullQueue, SetPullSettings, PurgeQueue, Receive,
    StopReceiving, DeleteReceived, ChangeVisibility, GiveBack, CountQueue, StartMoveTask,
    CancelMoveTask, ListMoveTasks, ListHalted, ResolveHalted, PutDocumentCommand,
    DeleteDocumentCommand, UpsertEndpoints, RemoveEndpoints, SetGroupOptions, DeleteUrlGroupCommand,
    UpsertSchedule, DeleteScheduleCommand, SetSchedulePaused, SetFlowKeyPaused, PinFlowKey,
    UnpinFlowKey, ResetFlowRate, InspectFlowKeys, UpsertTenant, Inspect>;

struct Done {};

using Reply =
    Result<std::variant<Done, Published, FannedOut, BatchPublished, Canceled, ScheduleStored,
                        FlowKeysInspected, TenantStored, Inspected, QueueMade, QueueCounted,
                        Settled, MoveTaskStarted, MoveTaskCanceled, MoveTasksListed, HaltedListed>>;

}  // namespace hk::core
