/// Runs actions of SQS and SNS without the gateway before them: no signatures, one tenant (id 1),
/// fakes on the other side. Time stands still.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "api/aws/action.h"
#include "api/sources/directory.h"
#include "api/sqs/exchange.h"
#include "observe/metrics.h"
#include "security/credentials.h"
#include "unit/api/fakes.h"

namespace hk::api::aws::testing {

inline constexpr Moment now = moment_from_ms(1'700'000'000'000);
inline constexpr core::TenantId tenant{1};

class ActionTest : public ::testing::Test {
 protected:
  ActionTest() {
    options.now = [] { return now; };
    submitter.answer = [](core::Command&) -> core::Reply { return core::Done{}; };
  }

  /// Of SQS, in JSON.
  http::Response ask(aws::ActionHandler action, std::string_view parameters) {
    Checked<Input> input = Input::from_json(parameters);
    EXPECT_TRUE(input) << parameters;
    return run(action, *input, Dialect::sqs_json);
  }
  /// In the fields of a form.
  http::Response ask_by_form(aws::ActionHandler action, std::string_view fields,
                             Dialect dialect = Dialect::sqs_query, std::string_view name = "") {
    auto form = QueryForm::parse(fields);
    EXPECT_TRUE(form) << fields;
    Input input = Input::from_form(std::move(*form), dialect, name);
    return run(action, input, dialect);
  }

  core::Queue& add_queue(std::string name, core::PullSettings settings = {}) {
    return submitter.reader->put<core::Queue>(
        {.tenant = tenant, .name = std::move(name), .pull = std::move(settings)});
  }

  sqs::ExchangePtr make_exchange(const std::shared_ptr<api::testing::FakeConnection>& connection,
                                 Dialect dialect) {
    auto exchange = std::make_shared<sqs::Exchange>(
        services_, Answer(http::Responder(connection, 0), metrics, answer_room), batcher_);
    exchange->dialect = dialect;
    exchange->action = "Action";
    exchange->request_id = "request";
    exchange->of_tenant(std::make_shared<engine::TenantDirectory::Entry>(
        engine::TenantDirectory::Entry{.id = tenant, .name = "default"}));
    exchange->account = sqs::account_of(tenant);
    exchange->region = "eu-central-1";
    exchange->base_url = "http://host";
    return exchange;
  }

  Options options;
  observe::Metrics metrics;
  std::shared_ptr<engine::TenantRoom> answer_room = std::make_shared<engine::TenantRoom>(1 << 20);
  api::testing::FakeSubmitter submitter;
  api::testing::FakeIoThread io;

 private:
  http::Response run(aws::ActionHandler action, Input& input, Dialect dialect) {
    const auto connection = std::make_shared<api::testing::FakeConnection>();
    connection->responses.resize(1);
    const sqs::ExchangePtr exchange = make_exchange(connection, dialect);
    exchange->guarded([&] { action(exchange, input); });
    io.run();
    EXPECT_TRUE(connection->responses[0].has_value());
    return connection->responses[0].value_or(http::Response{.status = 0});
  }

  security::MasterKey master_key_ =
      std::move(*security::MasterKey::from_hex(Secret(std::string(64, 'a'))));
  engine::TenantDirectory tenants_{master_key_};
  limits::Admissions admissions_{{}};
  sources::Directory sources_;
  Services services_{submitter, tenants_, metrics, options, admissions_, sources_};
  Batcher batcher_{submitter, io, std::make_unique<security::SystemRng>()};
};

}  // namespace hk::api::aws::testing
