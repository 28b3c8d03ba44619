#include "cli/remote_call.h"

#include <fmt/core.h>

#include "cli/exit_code.h"
#include "cli/process.h"
#include "net/client.h"

namespace hk::cli {

namespace json = boost::json;

std::optional<Answer> call(const Connection& connection, const std::string& method,
                           const std::string& path, std::vector<net::Field> fields,
                           std::string body, int& code, std::chrono::milliseconds timeout) {
  constexpr const char* how =
      "Give the tenant's token with HIKYAKU_CLIENT_TOKEN, client.conf or --token (or --dev).";
  if (!connection.problem.empty()) {
    tell(fmt::format("hikyaku: {}", connection.problem));
    code = exit_usage;
    return std::nullopt;
  }
  if (connection.token.reveal().empty()) {
    tell(fmt::format("hikyaku: a token is needed. {}", how));
    code = exit_usage;
    return std::nullopt;
  }
  net::Request request{.method = method,
                       .url = connection.url + path,
                       .fields = std::move(fields),
                       .body = std::move(body),
                       .timeout = timeout};
  request.fields.push_back({"Authorization", "Bearer " + std::string(connection.token.reveal())});
  const auto response = net::fetch(request, connection.ca_file);
  if (!response) {
    tell(fmt::format("hikyaku: {}", response.error().message));
    if (response.error().kind == ErrorKind::unavailable) {
      tell(fmt::format("Is the server running at {}? Set --url or HIKYAKU_URL.", connection.url));
    }
    code = exit_code_of(response.error().kind);
    return std::nullopt;
  }
  Answer answer{.status = response->status, .text = response->body, .fields = response->fields};
  boost::system::error_code error;
  answer.value = json::parse(answer.text, error);
  if (answer.status / 100 == 2) {
    return answer;
  }
  if (connection.json) {
    fmt::print("{}\n", answer.text);
  }
  std::string why = answer.text;
  if (!error && answer.value.is_object()) {
    const json::object& object = answer.value.get_object();
    for (const char* name : {"error", "detail", "title"}) {
      if (const auto* text = object.if_contains(name); text != nullptr && text->is_string()) {
        why = std::string(text->get_string());
        break;
      }
    }
  }
  // What the ledger refuses has a name that says more than the status.
  const std::string name =
      path.starts_with("/api/v1/ledger/") ? " " + text_of(answer.value, "code") : "";
  tell(fmt::format("hikyaku: {} ({}{})", why, answer.status, name));
  if (answer.status == 401) {
    tell(how);
  }
  code = exit_failed;
  return std::nullopt;
}

std::string text_of(const json::value& value, std::string_view name) {
  if (!value.is_object()) {
    return {};
  }
  const auto* found = value.get_object().if_contains(json::string_view(name.data(), name.size()));
  if (found == nullptr || found->is_null()) {
    return {};
  }
  return found->is_string() ? std::string(found->get_string()) : json::serialize(*found);
}

std::string query_escape(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (byte >= '0' && byte <= '9') || (byte >= 'A' && byte <= 'Z') ||
                       (byte >= 'a' && byte <= 'z') || c == '-' || c == '_' || c == '.' || c == '~';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", byte);
  }
  return out;
}

std::string ids_query(const std::vector<std::string>& ids) {
  std::string query;
  for (const std::string& id : ids) {
    query += (query.empty() ? "?dlqIds=" : "&dlqIds=") + query_escape(id);
  }
  return query;
}

std::optional<std::string> filter_query(const std::vector<std::string>& filters) {
  std::string query;
  for (const std::string& filter : filters) {
    const std::size_t equals = filter.find('=');
    if (equals == std::string::npos) {
      fmt::print(stderr,
                 "hikyaku: --filter must be NAME=VALUE, for example url=https://… or "
                 "responseStatus=500\n");
      return std::nullopt;
    }
    query += "&" + query_escape(filter.substr(0, equals)) + "=" +
             query_escape(filter.substr(equals + 1));
  }
  return query;
}

}  // namespace hk::cli
