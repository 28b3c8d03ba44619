// The actions of SQS. The busiest ones stand first.
#include <array>

#include "api/aws/action.h"
#include "api/sqs/exchange.h"

namespace hk::api::sqs {

namespace {

using aws::ActionRow;
using aws::Work;

// clang-format off
constexpr std::array sqs_actions = {
    ActionRow{"ReceiveMessage", receive_message, {.work = Work::receive}},
    ActionRow{"SendMessage", send_message, {.messages_max = 1}},
    ActionRow{"DeleteMessage", delete_message, {.work = Work::settle}},
    ActionRow{"SendMessageBatch", send_message_batch, {.messages_max = 10}},
    ActionRow{"DeleteMessageBatch", delete_message_batch, {.work = Work::settle}},
    ActionRow{"ChangeMessageVisibility", change_message_visibility, {.work = Work::settle}},
    ActionRow{"ChangeMessageVisibilityBatch", change_message_visibility_batch, {.work = Work::settle}},
    ActionRow{"CreateQueue", create_queue, {.at_queue = false}},
    ActionRow{"GetQueueUrl", get_queue_url},
    ActionRow{"ListQueues", list_queues, {.at_queue = false}},
    ActionRow{"DeleteQueue", delete_queue},
    ActionRow{"PurgeQueue", purge_queue},
    ActionRow{"GetQueueAttributes", get_queue_attributes},
    ActionRow{"SetQueueAttributes", set_queue_attributes},
    ActionRow{"ListDeadLetterSourceQueues", list_dead_letter_source_queues},
    ActionRow{"AddPermission", add_permission},
    ActionRow{"RemovePermission", remove_permission},
    ActionRow{"TagQueue", tag_queue},
    ActionRow{"UntagQueue", untag_queue},
    ActionRow{"ListQueueTags", list_queue_tags},
    ActionRow{"StartMessageMoveTask", start_message_move_task},
    ActionRow{"ListMessageMoveTasks", list_message_move_tasks},
    ActionRow{"CancelMessageMoveTask", cancel_message_move_task},
};
// clang-format on

}  // namespace

std::span<const ActionRow> actions() { return sqs_actions; }

}  // namespace hk::api::sqs
