// Calls of SQS and SNS in both protocols, behind their signatures: a conversation (conversation.h)
// of requests that are signed here. Whatever is asked, each is answered once, well-formed and never
// with a fault of ours; what is told of a message is what is stored; what is stored obeys the rules
// between records, and a server can start with it.
#include <string>

#include "api/aws/message_attributes.h"
#include "api/aws/route.h"
#include "fuzz/aws_answer.h"
#include "fuzz/conversation.h"
#include "fuzz/sign.h"

using namespace hk;

namespace {

/// Two queues with their dead-letter queues.
std::vector<core::Command> make_queues(core::TenantId tenant) {
  std::vector<core::Command> commands;
  for (const char* const name : {"dead", "orders", "dead.fifo", "orders.fifo"}) {
    core::CreatePullQueue create{.tenant = tenant, .name = name};
    create.settings.fifo = create.name.ends_with(".fifo");
    if (create.name.starts_with("orders")) {
      create.settings.dead_letters_to = create.settings.fifo ? "dead.fifo" : "dead";
      create.settings.receives_max = 3;
    }
    commands.emplace_back(std::move(create));
  }
  return commands;
}

/// What the sender is told is what is kept.
void check_stored(core::Reader& stored, std::string_view answer) {
  const auto id = fuzz::value_in(answer, "MessageId");
  const auto md5 = fuzz::value_in(answer, "MD5OfMessageBody");
  const auto parsed = id && md5 ? core::parse_message_id(*id) : std::nullopt;
  const auto message = parsed ? stored.get<core::Message>(parsed->seq) : nullptr;
  // A repeated one of a FIFO queue is told the id of the first, which may have another body.
  if (message != nullptr && message->id == *parsed && !message->pull->fifo) {
    HK_ASSERT(api::aws::md5_of_body(message->body) == *md5);
  }
}

bool ask(fuzz::Account& account, fuzz::Conversation& conversation, http::Request& request) {
  const std::string_view path = request.path();
  if (path.starts_with("/v2/") || path.starts_with("/api/")) {
    return false;  // the matter of the target "api"
  }
  const auto routed = api::aws::route(request);
  if (!routed || !api::aws::is_unsigned_link(*routed, request)) {
    fuzz::sign(account, request);
  }
  const bool in_json = api::aws::is_json(api::aws::dialect_of(request));
  const http::Response response = conversation.call(std::move(request));
  fuzz::check_answer(in_json, response);
  if (routed && routed->action.starts_with("SendMessage")) {
    check_stored(*conversation.stored(), response.body);
  }
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static fuzz::Account account;
  fuzz::Conversation conversation(
      account,
      {"ReceiptHandle", "TaskHandle", "NextToken", "TopicArn", "SubscriptionArn", "MessageId"},
      [](const core::Command&) {}, make_queues(fuzz::Account::id));
  conversation.hold(fuzz::as_text(data, size), [](fuzz::Conversation& to, http::Request& request) {
    return ask(account, to, request);
  });
  return 0;
}
