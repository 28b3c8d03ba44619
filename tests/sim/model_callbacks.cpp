// Who is told of an attempt, and who waits for that.
#include "sim/model.h"
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

/// In the very batch that records the attempt. A callback tells nobody.
void Model::call_back(core::Seq seq, const std::optional<core::Callback>& to,
                      const std::string& result) {
  const core::Message& source = *messages_.at(seq).content;
  if (!to || source.callback_of.seq != core::Seq{}) {
    return;
  }
  if (to->url.starts_with("queue:")) {
    // The message itself goes there, if there is such a queue.
    const std::string name = to->url.substr(6);
    if (const ModelQueue* const queue = find_pull_queue({source.tenant, name})) {
      core::Message letter;
      letter.tenant = source.tenant;
      letter.queue = name;
      letter.method = "";
      letter.body = source.body;
      letter.caller_ip = source.caller_ip;
      letter.trace = source.trace;
      letter.pull.emplace().fifo = queue->pull->fifo;
      accept(std::move(letter));
    }
    return;
  }
  require(next_message_ < written_->messages.size(), "callbacks",
          name_of(seq) + " ended an attempt and nobody is told");
  const core::Message& got = *written_->messages[next_message_];
  require(got.callback_of == source.id, "callbacks", name_of(seq) + " is not what is told of");
  require(got.body.starts_with(result) &&
              got.body.find("\"sourceMessageId\":\"" + core::to_text(source.id) + "\"") !=
                  std::string::npos,
          "callbacks", "what is told of " + name_of(seq) + " is not true: " + got.body);
  core::Message want;
  want.tenant = source.tenant;
  want.method = to->method;
  want.url = to->url;
  want.host = to->host;
  want.headers = {{"Content-Type", "application/json"}};
  want.body = got.body;
  want.retry = to->retry;
  want.timeout = to->timeout;
  want.not_before = time_ + to->delay;
  want.trace = source.trace;
  want.callback_of = source.id;
  accept(std::move(want));
  if (!source.queue.empty() && messages_.at(seq).status != core::Status::canceled) {
    update(seq, [](ModelMessage& one) { ++one.callbacks_open; });
    changed_.insert(seq);
  }
}

/// Its source has one less to wait for. Who is sent again as a dead letter was final before.
void Model::callback_ended(const core::Message& callback) {
  if (callback.callback_of.seq == core::Seq{} || callback.replay_of.seq != core::Seq{}) {
    return;
  }
  const auto source = messages_.find(callback.callback_of.seq);
  if (source == messages_.end() || source->second.callbacks_open == 0) {
    return;
  }
  update(source->first, [](ModelMessage& one) { --one.callbacks_open; });
  changed_.insert(source->first);
}

}  // namespace hk::sim
