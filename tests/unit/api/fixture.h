/// A Service with fakes around it, one tenant "default" (id 1, token "token-1") and a second one
/// (id 2, token "token-2"). Time stands still at `now`.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <memory>
#include <string>
#include <vector>

#include "api/service.h"
#include "fakes.h"
#include "observe/metrics.h"
#include "security/credentials.h"

namespace hk::api::testing {

inline constexpr Moment now = moment_from_ms(1'700'000'000'000);

class ApiTest : public ::testing::Test {
 protected:
  ApiTest();
  ~ApiTest() override;

  /// Called before the service is made; tests change `options` first.
  Service& service();

  http::Response call(std::string method, std::string target, std::vector<net::Field> fields = {},
                      std::string body = {});
  /// Without the Authorization header that call() adds.
  http::Response call_as(std::string token, std::string method, std::string target,
                         std::vector<net::Field> fields = {}, std::string body = {});
  /// Hands it over without running the I/O thread: several of these are one poll round.
  std::uint64_t begin(http::Request request);
  http::Response end(std::uint64_t slot);

  /// Stores a message of tenant 1 (with a state if given) and returns its id as text.
  std::string store(core::Seq seq, const core::Message& message = {},
                    std::optional<core::MessageState> state = {});
  /// A failed message in the dead-letter queue; returns its dlqId.
  std::string store_dead(core::Seq seq, Moment failed_at, core::Message message = {},
                         core::Attempt last = {});

  /// As the engine does once it is durable.
  void change(const core::Tenant& tenant);

  Options options;
  observe::Metrics metrics;
  FakeSubmitter submitter;
  FakeIoThread io;
  std::shared_ptr<FakeConnection> connection = std::make_shared<FakeConnection>();
  std::vector<std::move_only_function<void()>> blocking;  ///< handed to run_blocking

 private:
  std::unique_ptr<security::MasterKey> master_key_;
  std::unique_ptr<engine::TenantDirectory> tenants_;
  std::unique_ptr<Service> service_;
  std::uint64_t slots_ = 0;
};

core::MessageId id_of(core::Seq seq);
boost::json::value json(const http::Response& response);
std::optional<std::string> field(const http::Response& response, std::string_view name);
std::string error_of(const http::Response& response);

}  // namespace hk::api::testing
