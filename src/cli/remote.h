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
  bool json = false;  ///< the server's answer as it is, for scripts
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
int cancel_message(const Connection& connection, const std::string& id);
int list_dead_letters(const Connection& connection, std::uint32_t count, const std::string& cursor,
                      const std::vector<std::string>& filters);
int retry_dead_letters(const Connection& connection, const std::vector<std::string>& ids, bool all);
int delete_dead_letters(const Connection& connection, const std::vector<std::string>& ids,
                        bool all);
/// Follows the log until interrupted; with `once`, prints what is there and returns.
int tail(const Connection& connection, bool once, const std::string& message_id);

}  // namespace hk::cli
