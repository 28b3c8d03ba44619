/// Some requests of one client, one after the other, to the whole API with the real core behind it.
/// As text: requests (request_text.h) with a line "--- MILLISECONDS" between two of them, while
/// which that time passes. "@MessageId@" and the like stand for the last value of that name in an
/// answer. Deliveries end at once: well, unless "fail" stands in their URL.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "api/service.h"
#include "base/ascii.h"
#include "delivery/destination.h"
#include "delivery/envelope/envelopes.h"
#include "delivery/headers.h"
#include "delivery/request_head.h"
#include "fuzz/account.h"
#include "fuzz/real_core.h"
#include "fuzz/request_text.h"
#include "security/sigv4.h"
#include "unit/api/fakes.h"

namespace hk::fuzz {

/// The first value of that name in JSON or XML.
inline std::optional<std::string> value_in(std::string_view body, std::string_view name) {
  const std::string in_json = "\"" + std::string(name) + "\":\"";
  const std::string in_xml = "<" + std::string(name) + ">";
  for (const std::string& open : {in_json, in_xml}) {
    if (const std::size_t at = body.find(open); at != std::string_view::npos) {
      const std::string_view rest = body.substr(at + open.size());
      return std::string(rest.substr(0, rest.find_first_of("\"<")));
    }
  }
  return std::nullopt;
}

class Conversation {
 public:
  /// `remembered`: the names of what may be referred to. The account outlives it.
  Conversation(Account& account, std::vector<std::string> remembered, RealCore::Look look,
               std::vector<core::Command> before)
      : account_(account),
        remembered_(std::move(remembered)),
        core_(Account::begin, std::move(look), [this](auto effect) { run(std::move(effect)); }),
        service_(core_, tenants_, account.metrics, make_options()) {
    before.insert(before.begin(), core::UpsertTenant{account.tenant});
    if (account.sns_key) {
      before.emplace_back(core::PutDocumentCommand{.document = *account.sns_key});
    }
    core_.run_all(std::move(before));
  }

  /// `ask(*this, request)` is called with each of them, its references resolved, until it says no.
  template <class Ask>
  void hold(std::string_view text, Ask&& ask) {
    for (int asked = 0; !text.empty() && asked < requests_max; ++asked) {
      const std::size_t end = text.find("\n--- ");
      http::Request request = read_request(text.substr(0, end));
      recall(request);
      if (!passes_the_edge(request) || !ask(*this, request)) {
        return;
      }
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 5);
      pass(Millis{std::max(0, std::atoi(std::string(take_line(text).substr(0, 8)).c_str()))});
    }
    account_.sns_key =
        core_.durable_view(Account::id)->get<core::Document>({Account::id, "sns_signing_key", "1"});
    core_.check_store();
  }

  /// Answered exactly once, if need be after the time that it may wait.
  http::Response call(http::Request request) {
    request.peer = "192.0.2.7";
    const auto connection = std::make_shared<api::testing::FakeConnection>();
    service_.handle(std::move(request), http::Responder(connection, 0), io_);
    settle();
    for (int turn = 0; connection->responses.empty(); ++turn) {
      HK_ASSERT(turn < turns_max && core_.wake());
      settle();
    }
    HK_ASSERT(connection->responses.size() == 1 && connection->responses[0]);
    for (const std::string& name : remembered_) {
      if (auto value = value_in(connection->responses[0]->body, name)) {
        known_[name] = std::move(*value);
      }
    }
    return std::move(*connection->responses[0]);
  }

  [[nodiscard]] std::shared_ptr<core::Reader> stored() { return core_.durable_view(Account::id); }

 private:
  static constexpr int requests_max = 16;
  static constexpr int turns_max = 500;
  static constexpr std::size_t attempts_max = 64;

  api::Options make_options() {
    api::Options options;
    options.check_destination = [](std::string_view text) -> Result<std::string> {
      const auto url = delivery::parse_destination(text);
      return url ? Result<std::string>(url->authority_key()) : std::unexpected(url.error());
    };
    options.check_header = delivery::may_forward;
    options.check_zone = [](std::string_view name) -> Result<void> {
      const auto zone = RealCore::zones().load(name);
      return zone ? Result<void>{} : std::unexpected(zone.error());
    };
    options.now = [this] { return core_.now(); };
    options.receipt_key = Secret("0123456789abcdef0123456789abcdef");
    options.sns_sealing_key = Secret(std::string(64, '5'));
    options.admin_token = Secret(account_.token);
    options.backup = [](const std::string&) -> Result<void> { return {}; };
    options.run_blocking = [](std::move_only_function<void()> work) { work(); };
    return options;
  }

  /// What the HTTP server lets through; fields that it does not are left out.
  static bool passes_the_edge(http::Request& request) {
    std::erase_if(request.fields, [](const net::Field& field) {
      return !is_token(field.name) || !std::ranges::all_of(field.value, is_value_char);
    });
    return request.target.starts_with('/') && std::ranges::all_of(request.target, is_target_char) &&
           is_token(request.method);
  }

  void recall(http::Request& request) const {
    const bool form = request.body.starts_with("Action=");
    for (const auto& [name, value] : known_) {
      std::string encoded;
      security::append_uri_encoded(encoded, value);
      replace(request.target, "@" + name + "@", encoded);
      replace(request.body, "@" + name + "@", form ? encoded : value);
    }
  }
  static void replace(std::string& text, const std::string& mark, const std::string& value) {
    for (std::size_t at = text.find(mark); at != std::string::npos;
         at = text.find(mark, at + value.size())) {
      text.replace(at, mark.size(), value);
    }
  }

  void pass(Millis time) {
    const Moment end = core_.now() + time;
    for (int turn = 0; turn < turns_max && core_.wake(end); ++turn) {
      settle();
    }
    core_.set_time(end);
  }

  /// Until nothing is left to do at this moment.
  void settle() {
    io_.run();
    for (std::size_t ended = 0; !starts_.empty() && ended < attempts_max; ++ended) {
      const core::StartAttempt start = std::move(starts_.front());
      starts_.pop_front();
      core_.run(end_of(start));
      io_.run();
    }
    starts_.clear();  // what is left ends with its lease
  }

  core::CompleteAttempt end_of(const core::StartAttempt& start) const {
    core::CompleteAttempt report;
    report.id = start.id;
    report.fence = start.fence;
    report.delivered = start.message->url.find("fail") == std::string::npos;
    report.attempt.fence = start.fence;
    report.attempt.started_at = start.started_at;
    report.attempt.ended_at = core_.now();
    report.attempt.response_status = report.delivered ? 200 : 500;
    report.attempt.error = report.delivered ? "" : "status 500";
    report.attempt.response_headers = {{"Content-Type", "text/plain"}};
    report.attempt.response_body = "an answer";
    return report;
  }

  void run(core::Effect effect) {
    if (const auto* const changed = std::get_if<core::TenantChanged>(&effect)) {
      HK_ASSERT(tenants_.put(changed->tenant).has_value());
    } else {
      core::StartAttempt& start = std::get<core::StartAttempt>(effect);
      check_request(start);
      if (auto token = value_in(start.message->body, "Token")) {
        known_["Token"] = std::move(*token);
      }
      starts_.push_back(std::move(start));
    }
  }

  /// What is accepted can be sent.
  static void check_request(const core::StartAttempt& start) {
    static delivery::Envelopes envelopes(
        [](core::TenantId) { return std::make_shared<const Secret>("sig_key"); }, 1,
        [](core::TenantId, std::string_view) -> Result<Secret> {
          return Secret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw");
        });
    const auto url = delivery::parse_destination(start.message->url);
    HK_ASSERT(url && url->authority_key() == start.message->host);
    const delivery::Request request{
        .message = start.message,
        .webhook = start.webhook,
        .envelope = &envelopes.of(*start.message, nullptr, start.webhook.get()),
        .tenant = start.tenant,
        .id = start.id,
        .fence = start.fence,
        .retried = start.retried,
        .span_id = start.span_id};
    std::string head;
    HK_ASSERT(delivery::append_request_head(head, request, *url, {}).has_value());
    HK_ASSERT(head.find("\r\n\r\n") == head.size() - 4);
  }

  Account& account_;
  const std::vector<std::string> remembered_;
  std::map<std::string, std::string> known_;
  std::deque<core::StartAttempt> starts_;
  engine::TenantDirectory tenants_{*account_.master_key};
  api::testing::FakeIoThread io_;
  RealCore core_;
  api::Service service_;
};

}  // namespace hk::fuzz
