// DELETE /v2/messages: cancels the messages that ids or filters name (§10.3 of the wire
// specification). A piece is selected, cancelled and answered for before the next one is selected,
// so that neither the I/O thread nor the inbox is ever held by one call. Unless it names ids or
// queues it is about what this API made: queues of SQS and notifications of SNS are left alone.
// With async the core does the same by itself, as a bulk action (bulk_actions.cpp).
#include <algorithm>
#include <array>
#include <memory>

#include "api/gather.h"
#include "api/qstash/bulk_action.h"
#include "api/qstash/errors.h"
#include "api/qstash/filter.h"
#include "api/qstash/handlers.h"
#include "api/reply.h"
#include "api/submit.h"
#include "api/text.h"
#include "api/unfinished.h"
#include "base/ascii.h"
#include "base/json.h"

namespace hk::api::qstash {

namespace {

constexpr std::array<std::string_view, 16> cancel_parameters = {
    "messageIds", "topicName", "queueName", "scheduleId", "flowControlKey", "url",
    "host",       "path",      "label",     "callerIp",   "callerIP",       "fromDate",
    "toDate",     "count",     "cursor",    "async",
};
constexpr std::array<std::string_view, 1> message_id_parameters = {"messageIds"};

/// What clients send when their caller named no count: it cannot mean a limit.
constexpr std::uint64_t count_not_given = 100;
constexpr std::size_t commands_per_piece = 256;

struct CancelQuery {
  bool by_ids = false;
  std::vector<core::MessageId> ids{};
  core::MessageFilter filter{};
  std::optional<std::uint64_t> count{};
  bool async = false;

  /// Neither messages nor queues are called by their names.
  [[nodiscard]] bool unnamed() const { return !by_ids && filter.queues.empty(); }
};

/// An empty id turns DELETE /v2/messages/{messageId} into this: older clients cancelled everything
/// by it. Whoever wants that leaves the slash out, or says something.
bool looks_like_an_empty_id(const http::Request& request) {
  return request.path().ends_with('/') && trim(request.body).empty();
}

Result<CancelQuery> read_query(const Call& call) {
  Result<Parameters> parameters = Parameters::from_query(call.request.query());
  if (!parameters) {
    return std::unexpected(parameters.error());
  }
  if (parameters->empty() && looks_like_an_empty_id(call.request)) {
    return fail(ErrorKind::invalid_argument,
                "no message id after /v2/messages/ and no filter: nothing was cancelled. To cancel "
                "all messages, call DELETE /v2/messages without the slash at the end");
  }
  if (const auto added = parameters->add_json(call.request.body, message_id_parameters); !added) {
    return std::unexpected(added.error());
  }
  if (const auto known = parameters->only(cancel_parameters); !known) {
    return std::unexpected(known.error());
  }
  if (const auto filled = check_filters_have_values(*parameters, {"count"}); !filled) {
    return std::unexpected(filled.error());
  }
  CancelQuery query;
  const Result<std::optional<std::uint64_t>> count = parameters->number("count");
  if (!count) {
    return std::unexpected(count.error());
  }
  if (*count && **count == 0) {
    return fail(ErrorKind::invalid_argument, "count must be at least 1");
  }
  if (*count && **count != count_not_given) {
    query.count = *count;
  }
  const Result<std::optional<std::string>> async = parameters->one("async");
  if (!async) {
    return std::unexpected(async.error());
  }
  if (*async && **async != "true" && **async != "false") {
    return fail(ErrorKind::invalid_argument, "async must be true or false");
  }
  query.async = *async == "true";
  query.by_ids = parameters->given("messageIds");
  for (const std::string& text : parameters->all("messageIds")) {
    if (const std::optional<core::MessageId> id = core::parse_message_id(text)) {
      query.ids.push_back(*id);
    }
  }
  Result<core::MessageFilter> filter = read_filter(*parameters);
  if (!filter) {
    return std::unexpected(filter.error());
  }
  query.filter = std::move(*filter);
  return query;
}

/// One call on its way through its pieces. Shared by the callback that waits for the piece at hand;
/// gone with the last of them. On one I/O thread.
class BulkCancel : public std::enable_shared_from_this<BulkCancel> {
 public:
  BulkCancel(const Services& services, Call& call, CancelQuery query)
      : batcher_(call.batcher),
        tenant_(call.tenant->id),
        answer_(std::move(call.answer)),
        query_(std::move(query)) {
    if (!query_.by_ids) {
      unfinished_ = std::make_unique<UnfinishedMessages>(
          services.submitter.durable_view(tenant_), tenant_,
          [this](const core::LaneKey& lane) { return query_.filter.may_be_in(lane); },
          [this](const core::Message& message) { return query_.filter.selects(message); });
    }
  }

  void go_on() {
    answering(answer_, [this] { take_piece(); });
  }

 private:
  void take_piece() {
    if (query_.count && cancelled_ >= *query_.count) {
      finish();
      return;
    }
    if (next_ == query_.ids.size() && unfinished_ && !unfinished_->done()) {
      query_.ids = unfinished_->next();
      next_ = 0;
    }
    if (next_ == query_.ids.size()) {
      if (!unfinished_ || unfinished_->done()) {
        finish();
      } else {
        batcher_.io().post([self = shared_from_this()] { self->go_on(); });
      }
      return;
    }
    std::size_t size = std::min(query_.ids.size() - next_, commands_per_piece);
    if (query_.count) {
      size = static_cast<std::size_t>(std::min<std::uint64_t>(size, *query_.count - cancelled_));
    }
    std::vector<core::Command> commands;
    commands.reserve(size);
    for (std::size_t i = 0; i < size; ++i) {
      commands.emplace_back(core::CancelMessage{tenant_, query_.ids[next_++], query_.unnamed()});
    }
    submit_all(batcher_, std::move(commands),
               [self = shared_from_this()](const std::vector<core::Reply>& replies) {
                 self->count(replies);
               });
  }

  /// Unknown, finished and already being cancelled do not count; what could not be done now ends
  /// the call, since what follows could not either.
  void count(const std::vector<core::Reply>& replies) {
    const Error* failure = nullptr;
    for (const core::Reply& reply : replies) {
      if (reply) {
        ++cancelled_;
      } else if (reply.error().kind != ErrorKind::not_found && failure == nullptr) {
        failure = &reply.error();
      }
    }
    if (failure != nullptr) {
      answer_(error_response(
          Error{failure->kind,
                std::to_string(cancelled_) +
                    " messages were cancelled; call again for the rest: " + failure->message}));
      return;
    }
    go_on();
  }

  void finish() {
    http::Response response;
    response.body = "{\"cancelled\":" + std::to_string(cancelled_) + "}";
    answer_(std::move(response));
  }

  Batcher& batcher_;
  const core::TenantId tenant_;
  Answer answer_;
  CancelQuery query_;
  std::unique_ptr<UnfinishedMessages> unfinished_;
  std::size_t next_ = 0;  ///< of query_.ids
  std::uint64_t cancelled_ = 0;
};

/// Messages that are named one by one are few: they are cancelled before the answer.
void start_bulk_action(Call& call, CancelQuery query) {
  core::StartCancelTask command{call.tenant->id,
                                {std::move(query.filter), query.count.value_or(0)}};
  submit_then(call, std::move(command), [](const core::Reply& reply) {
    http::Response response;
    JsonWriter json(response.body);
    json.begin_object();
    json.field("actionId", bulk_action_id(answer_of<core::TaskStarted>(reply).number));
    json.end_object();
    return response;
  });
}

}  // namespace

void cancel_messages(const Services& services, Call& call) {
  Result<CancelQuery> query = read_query(call);
  if (!query) {
    call.answer(error_response(query.error()));
    return;
  }
  if (query->async && !query->by_ids) {
    start_bulk_action(call, std::move(*query));
    return;
  }
  std::make_shared<BulkCancel>(services, call, std::move(*query))->go_on();
}

}  // namespace hk::api::qstash
