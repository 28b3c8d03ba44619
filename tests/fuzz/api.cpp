// Whole requests through the API, behind its authentication: every one is answered once, with a
// status that is not our fault and a body that can be read; and a message that is accepted can be
// stored, read back and sent.
#include <boost/json.hpp>
#include <cstdlib>

#include "api/service.h"
#include "base/assert.h"
#include "base/json_string.h"
#include "core/retry/expression.h"
#include "core/schedule/cron.h"
#include "delivery/destination.h"
#include "delivery/envelope/envelopes.h"
#include "delivery/headers.h"
#include "delivery/request_head.h"
#include "fuzz/request_text.h"
#include "observe/metrics.h"
#include "security/credentials.h"
#include "store/codec.h"
#include "unit/api/fakes.h"

using namespace hk;

namespace {

constexpr Moment now = moment_from_ms(1'700'000'000'000);
constexpr core::MessageId some_id{core::Seq{900}, 7919};

void check_retry(const core::RetryPolicy& retry) {
  if (const auto* expression = std::get_if<core::ExpressionDelay>(&retry.delay)) {
    HK_ASSERT(core::parse_expression(expression->text).has_value());
  }
}

void check_message(const core::Message& accepted) {
  HK_ASSERT(accepted.timeout > Millis{0} || accepted.pull);
  HK_ASSERT(accepted.not_before <= never);
  check_retry(accepted.retry);
  core::Message message = accepted;
  message.id = some_id;
  HK_ASSERT(store::Codec<core::Message>::decode(
                some_id.seq, store::Codec<core::Message>::encode(message)) == message);
  if (message.url.empty()) {
    HK_ASSERT(message.pull || !message.topic.empty());
    return;
  }
  static delivery::Envelopes envelopes(
      [](core::TenantId) { return std::make_shared<const Secret>("sig_key"); }, 1);
  const auto url = delivery::parse_destination(message.url);
  HK_ASSERT(url && url->authority_key() == message.host);
  const delivery::Request request{.message = std::make_shared<core::Message>(message),
                                  .envelope = &envelopes.of(message),
                                  .id = some_id};
  std::string head;
  HK_ASSERT(delivery::append_request_head(head, request, *url, {}).has_value());
  HK_ASSERT(head.find("\r\n\r\n") == head.size() - 4);
}

void check_schedule(const core::Schedule& schedule) {
  HK_ASSERT(core::parse_cron(schedule.cron).has_value());
  HK_ASSERT(store::Codec<core::Schedule>::decode({schedule.tenant, schedule.id},
                                                 store::Codec<core::Schedule>::encode(schedule)) ==
            schedule);
  check_message(schedule.prototype);
}

std::variant<core::Published, core::FannedOut> publish(const core::Publish& command) {
  check_message(*command.message);
  if (command.message->url.empty() && !command.message->pull) {
    return core::FannedOut{{{{some_id, false}, "https://example.com/"}}};
  }
  return core::Published{some_id, false};
}

core::Transacted done_by(const core::Transact& transact) {
  core::Transacted done{.id = "tx_1"};
  for (const core::TransactOperation& one : transact.operations) {
    if (const auto* sent = std::get_if<core::Publish>(&one)) {
      std::visit([&done](auto&& reply) { done.results.emplace_back(std::move(reply)); },
                 publish(*sent));
    } else if (std::holds_alternative<core::EndJob>(one)) {
      done.results.emplace_back(
          core::JobEnded{core::JobEnded::Outcome::done, core::Status::failed});
    } else if (std::holds_alternative<core::CancelMessage>(one)) {
      done.results.emplace_back(core::Canceled{});
    } else if (std::holds_alternative<core::LedgerOperation>(one)) {
      done.results.emplace_back(core::ledger::Applied{.id = "ltx_1", .seq = 1});
    } else {
      done.results.emplace_back(core::KeyChanged{});
    }
  }
  return done;
}

/// As the core would, for the commands that carry what came from outside; the rest finds nothing.
core::Reply answer(core::Command& given) {
  const core::Command& command = core::effect_of(given);
  if (const auto* one = command.get_if<core::Publish>()) {
    return std::visit([](auto&& reply) { return core::Reply(std::move(reply)); }, publish(*one));
  }
  if (const auto* batch = command.get_if<core::PublishBatch>()) {
    core::BatchPublished all;
    for (const core::Publish& item : batch->items) {
      all.items.emplace_back(publish(item));
    }
    return all;
  }
  if (command.is<core::EndJob>()) {
    return core::JobEnded{core::JobEnded::Outcome::done, core::Status::succeeded};
  }
  if (const auto* transact = command.get_if<core::Transact>()) {
    return done_by(*transact);
  }
  if (const auto* upsert = command.get_if<core::UpsertSchedule>()) {
    check_schedule(upsert->schedule);
    return core::ScheduleStored{upsert->schedule.id.empty() ? "scd_new" : upsert->schedule.id};
  }
  if (command.is<core::UpsertEndpoints>() || command.is<core::RemoveEndpoints>() ||
      command.is<core::SetGroupOptions>() || command.is<core::UpsertQueue>()) {
    return core::Done{};
  }
  return fail(ErrorKind::not_found, "there is nothing of that name");
}

class World {
 public:
  World() : tenants_(*master_key_), service_(submitter_, tenants_, metrics_, make_options()) {
    core::Tenant tenant;
    tenant.id = core::TenantId{1};
    tenant.name = "default";
    tenant.token_digests = {master_key_->token_digest("token-1")};
    for (const auto& [sealed, which] : {std::pair{&tenant.sealed_current_key, "current"},
                                        std::pair{&tenant.sealed_next_key, "next"}}) {
      *sealed = master_key_->seal(Secret("sig"), engine::signing_key_context(tenant.name, which));
    }
    HK_ASSERT(tenants_.put(tenant).has_value());
    submitter_.answer = answer;
    submitter_.reader->put<core::Queue>({tenant.id, "orders", 4});
    submitter_.reader->put<core::Queue>(
        {.tenant = tenant.id, .name = "pulled.fifo", .pull = core::PullSettings{.fifo = true}});
    submitter_.reader->put<core::Topic>({.tenant = tenant.id,
                                         .name = "group",
                                         .subscriptions = {{"", "https://a", "https://a:443"}},
                                         .options = {{"Upstash-Retries", "3"}}});
  }

  http::Response call(http::Request request) {
    request.fields.push_back({"Authorization", "Bearer token-1"});
    request.peer = "192.0.2.7";
    auto connection = std::make_shared<api::testing::FakeConnection>();
    service_.handle(std::move(request), http::Responder(connection, 0), io_);
    io_.run();
    submitter_.taken.clear();
    submitter_.batches.clear();
    HK_ASSERT(connection->responses.size() == 1 && connection->responses[0]);
    return std::move(*connection->responses[0]);
  }

 private:
  static api::Options make_options() {
    api::Options options;
    options.check_destination = [](std::string_view text) -> Result<std::string> {
      const auto url = delivery::parse_destination(text);
      return url ? Result<std::string>(url->authority_key()) : std::unexpected(url.error());
    };
    options.check_header = delivery::may_forward;
    options.check_zone = [](std::string_view) -> Result<void> { return {}; };
    options.now = [] { return now; };
    options.receipt_key = Secret("0123456789abcdef0123456789abcdef");
    return options;
  }

  const Result<security::MasterKey> master_key_ =
      security::MasterKey::from_hex(Secret(std::string(64, 'a')));
  observe::Metrics metrics_;
  api::testing::FakeSubmitter submitter_;
  api::testing::FakeIoThread io_;
  engine::TenantDirectory tenants_;
  api::Service service_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static World world;
  http::Request request = fuzz::read_request(fuzz::as_text(data, size));
  if (!request.target.starts_with('/')) {
    return 0;  // the edge refuses it
  }
  const http::Response response = world.call(std::move(request));
  HK_ASSERT(response.status >= 200 && response.status < 600 && response.status != 500);
  HK_ASSERT(valid_utf8(response.body));
  if (response.content_type == "application/json" && !response.body.empty()) {
    boost::json::error_code failed;
    boost::json::parse(response.body, failed);
    HK_ASSERT(!failed);
  }
  return 0;
}
