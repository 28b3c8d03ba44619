/// One request to SQS on its way through an action: who asks, what for, and how to answer. Shared
/// by the callbacks of the action, all of them on the request's I/O thread.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "api/aws/errors.h"
#include "api/aws/input.h"
#include "api/aws/output.h"
#include "api/call.h"
#include "api/thrown.h"

namespace hk::api::sqs {

class Exchange {
 public:
  Exchange(const Services& given, Answer answer, Batcher& own_batcher)
      : services(given), batcher(own_batcher), answer_(std::move(answer)) {}

  const Services& services;
  Batcher& batcher;
  aws::Dialect dialect = aws::Dialect::sqs_json;
  std::string action{};
  std::string request_id{};
  std::shared_ptr<const engine::TenantDirectory::Entry> tenant{};
  std::string account{};     ///< of the tenant
  std::string region{};      ///< that it was signed for
  std::string access_key{};  ///< that signed it
  std::string base_url{};    ///< under which the client reaches us
  std::string trace_header{};
  std::string caller_ip{};

  [[nodiscard]] core::TenantId tenant_id() const { return tenant->id; }
  void of_tenant(std::shared_ptr<const engine::TenantDirectory::Entry> entry) {
    tenant = std::move(entry);
    answer_.of_tenant(tenant->id);
  }

  void refuse(const aws::Refusal& refusal) {
    answer_(aws::error_response(dialect, refusal, request_id));
  }
  /// What limits the tenant's requests. False: it was refused.
  [[nodiscard]] bool let_in(const limits::Asked& asked);
  /// Of a batch, when it turns out how many messages it has. False: it was refused.
  [[nodiscard]] bool costs(std::uint64_t messages);
  /// `write(output)` writes the members of the result.
  template <class Write>
  void succeed(Write&& write) {
    aws::Output output(dialect, action);
    write(output);
    answer_(std::move(output).finish(request_id));
  }
  void succeed() {
    succeed([](aws::Output&) {});
  }
  /// The same if there is room for the answer; false: there is none, and nothing was answered.
  template <class Write>
  [[nodiscard]] bool try_succeed(Write&& write) {
    aws::Output output(dialect, action);
    write(output);
    http::Response response = std::move(output).finish(request_id);
    return answer_.try_answer(response);
  }

  /// See http::Responder.
  void when_gone(std::move_only_function<void()> told) { answer_.when_gone(std::move(told)); }

  /// What went wrong on our side, told without its details and written into the log.
  void fail(const Error& error);
  /// Runs a piece of the action. What a store or a library throws (a broken record, no memory) ends
  /// here and is told (thrown.h) if the request is still unanswered.
  template <class Work>
  void guarded(Work&& work) {
    try {
      work();
    } catch (const std::exception& thrown) {
      if (answer_.pending()) {
        fail(error_of_thrown(thrown));
      }
    }
  }

 private:
  void refuse(const limits::Turned& turned);

  Answer answer_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

/// "000000000000" for the first tenant.
std::string account_of(core::TenantId tenant);

/// The queue that QueueUrl names. queue_does_not_exist.
aws::Checked<core::Queue> find_queue(const Exchange& exchange, aws::Input& input);
/// The same by an ARN of a queue of this tenant; nullopt: there is none.
std::optional<core::Queue> find_queue_by_arn(const Exchange& exchange, std::string_view arn);
std::string url_of(const Exchange& exchange, const core::Queue& queue);
std::string arn_of(const Exchange& exchange, const core::Queue& queue);

/// Reads what the input holds against it: malformed before the queue is looked up, then the queue,
/// then what is invalid. nullopt: it has been refused.
std::optional<core::Queue> queue_of(Exchange& exchange, aws::Input& input);

/// The same for actions that name no queue by its URL. False: it has been refused.
bool well_formed(Exchange& exchange, const aws::Input& input);

/// The server takes no messages at the moment (its disk is nearly full); that has been said.
bool refused_for_now(Exchange& exchange);

/// A failed command, told in SQS's words.
aws::Refusal told(const Error& error);

// queues.cpp
void create_queue(const ExchangePtr& exchange, aws::Input& input);
void get_queue_url(const ExchangePtr& exchange, aws::Input& input);
void list_queues(const ExchangePtr& exchange, aws::Input& input);
void delete_queue(const ExchangePtr& exchange, aws::Input& input);
void purge_queue(const ExchangePtr& exchange, aws::Input& input);
void get_queue_attributes(const ExchangePtr& exchange, aws::Input& input);
void set_queue_attributes(const ExchangePtr& exchange, aws::Input& input);
void list_dead_letter_source_queues(const ExchangePtr& exchange, aws::Input& input);
void tag_queue(const ExchangePtr& exchange, aws::Input& input);
void untag_queue(const ExchangePtr& exchange, aws::Input& input);
void list_queue_tags(const ExchangePtr& exchange, aws::Input& input);
// permissions.cpp
void add_permission(const ExchangePtr& exchange, aws::Input& input);
void remove_permission(const ExchangePtr& exchange, aws::Input& input);
// send.cpp
void send_message(const ExchangePtr& exchange, aws::Input& input);
void send_message_batch(const ExchangePtr& exchange, aws::Input& input);
// receive.cpp
void receive_message(const ExchangePtr& exchange, aws::Input& input);
// settle.cpp
void delete_message(const ExchangePtr& exchange, aws::Input& input);
void delete_message_batch(const ExchangePtr& exchange, aws::Input& input);
void change_message_visibility(const ExchangePtr& exchange, aws::Input& input);
void change_message_visibility_batch(const ExchangePtr& exchange, aws::Input& input);
// move_tasks.cpp
void start_message_move_task(const ExchangePtr& exchange, aws::Input& input);
void list_message_move_tasks(const ExchangePtr& exchange, aws::Input& input);
void cancel_message_move_task(const ExchangePtr& exchange, aws::Input& input);

}  // namespace hk::api::sqs
