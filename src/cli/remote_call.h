/// One call of a running server's API, as the remote commands make it: what goes wrong is printed.
#pragma once

#include <boost/json.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/remote.h"
#include "net/header.h"

namespace hk::cli {

struct Answer {
  int status = 0;
  std::string text{};
  std::vector<net::Field> fields{};
  boost::json::value value{};
};

/// Sends and prints what went wrong; nullopt: the exit code is in `code`.
std::optional<Answer> call(const Connection& connection, const std::string& method,
                           const std::string& path, std::vector<net::Field> fields,
                           std::string body, int& code,
                           std::chrono::milliseconds timeout = std::chrono::seconds(10));

/// A member of an object as text; "" if it is not there.
std::string text_of(const boost::json::value& value, std::string_view name);

std::string query_escape(std::string_view text);

/// "?dlqIds=…&dlqIds=…"
std::string ids_query(const std::vector<std::string>& ids);

/// "&name=value…"; nullopt, told why: one of them is not name=value.
std::optional<std::string> filter_query(const std::vector<std::string>& filters);

}  // namespace hk::cli
