/// The commands that talk to a running server over HTTP.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/secret.h"

namespace hk::cli {

/// Where and as whom; shared by all remote commands.
struct Connection {
  std::string url{"http://127.0.0.1:8080"};
  Secret token{};
  std::string ca_file{};
  bool json = false;      ///< the server's answer as it is, for scripts
  std::string problem{};  ///< why nothing can be asked; "": it can
};

struct PublishArguments {
  std::string destination{};
  std::string body{};
  bool body_given = false;  ///< else it is read from standard input
  std::string method{};
  std::string delay{};
  std::string retries{};
  std::string timeout{};
  std::string dedup_id{};
  std::string queue{};
  std::vector<std::string> labels{};
  std::vector<std::string> headers{};  ///< "Name: value", passed on to the destination
  std::string content_type{};
};

int publish(const Connection& connection, const PublishArguments& arguments);
int get_message(const Connection& connection, const std::string& id);
/// What holds a message up, in words.
int explain_message(const Connection& connection, const std::string& id);
int cancel_message(const Connection& connection, const std::string& id);
int list_dead_letters(const Connection& connection, std::uint32_t count, const std::string& cursor,
                      const std::vector<std::string>& filters);

struct RetryArguments {
  std::vector<std::string> ids{};  ///< these, or with `all` those that the filters fit
  bool all = false;
  std::vector<std::string> filters{};  ///< "name=value"
  double rate = 0;                     ///< per second; 0 = as fast as it goes
  // What the new message has in place of the old one's; for one id only.
  std::string body_file{};    ///< "-" = standard input, "" = it stays
  std::string destination{};  ///< "" = it stays
  std::string content_type{};
  std::vector<std::string> headers{};  ///< "Name: value"; others stay

  [[nodiscard]] bool edits() const {
    return !body_file.empty() || !destination.empty() || !content_type.empty() || !headers.empty();
  }
};
/// Those that were dead when it began; interrupted and begun again it goes on with what is left,
/// since each one retried has left the dead-letter queue.
int retry_dead_letters(const Connection& connection, const RetryArguments& arguments);
int delete_dead_letters(const Connection& connection, const std::vector<std::string>& ids,
                        bool all);
/// Names with lag, parallelism and pause.
int list_queues(const Connection& connection);
enum class QueueChange : std::uint8_t { pause, resume, remove };
int change_queue(const Connection& connection, QueueChange change, const std::string& name);

/// The messages at which groups of a queue have stopped.
int list_halted(const Connection& connection, const std::string& queue);
/// `body_file`: what the message has in place of its body; "" = it stays as it is, "-" = standard
/// input.
int retry_halted(const Connection& connection, const std::string& queue, const std::string& group,
                 const std::string& body_file);
int skip_halted(const Connection& connection, const std::string& queue, const std::string& group);

/// Follows the log until interrupted; with `once`, prints what is there and returns.
int tail(const Connection& connection, bool once, const std::string& message_id);

}  // namespace hk::cli
