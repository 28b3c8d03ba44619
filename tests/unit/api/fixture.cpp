#include "fixture.h"
#include "base/ascii.h"

namespace hk::api::testing {

namespace {

core::Tenant tenant(const security::MasterKey& key, std::uint32_t id, const std::string& name,
                    const std::string& token) {
  core::Tenant made;
  made.id = core::TenantId{id};
  made.name = name;
  made.token_digests = {key.token_digest(token)};
  made.sealed_current_key =
      key.seal(Secret("sig_current" + name), engine::signing_key_context(name, "current"));
  made.sealed_next_key =
      key.seal(Secret("sig_next" + name), engine::signing_key_context(name, "next"));
  return made;
}

core::Reply default_answer(core::Command& command) {
  if (command.is<core::Publish>() || command.is<core::RetryDeadLetter>()) {
    return core::Published{id_of(core::Seq{900}), false};
  }
  if (command.is<core::CancelMessage>()) {
    return core::Canceled{};
  }
  if (const auto* upsert = command.get_if<core::UpsertTenant>()) {
    const core::TenantId id = upsert->tenant.id;
    return core::TenantStored{id.value() == 0 ? core::TenantId{3} : id};
  }
  if (auto* const upsert = command.get_if<core::UpsertSchedule>()) {
    return core::ScheduleStored{upsert->schedule.id.empty() ? "scd_new" : upsert->schedule.id};
  }
  if (command.is<core::Inspect>()) {
    return core::Inspected{};
  }
  return core::Done{};
}

}  // namespace

ApiTest::ApiTest() {
  options.check_destination = [](std::string_view url) -> Result<std::string> {
    if (url.find("forbidden") != std::string_view::npos) {
      return fail(ErrorKind::invalid_argument, "invalid destination url: forbidden");
    }
    return "https://host:443";
  };
  options.check_header = [](std::string_view name, std::string_view) -> Result<void> {
    if (equals_ignoring_case(name, "x-bad")) {
      return fail(ErrorKind::invalid_argument, "header X-Bad may not be forwarded");
    }
    return {};
  };
  options.check_zone = [](std::string_view name) -> Result<void> {
    if (name != "UTC" && name != "Europe/Berlin") {
      return fail(ErrorKind::invalid_argument, "there is no such time zone");
    }
    return {};
  };
  options.now = [] { return now; };
  options.admin_token = Secret("admin-token");
  options.run_blocking = [this](std::move_only_function<void()> work) {
    blocking.push_back(std::move(work));
  };
  submitter.answer = default_answer;

  auto key = security::MasterKey::from_hex(Secret(std::string(64, 'a')));
  EXPECT_TRUE(key.has_value());
  master_key_ = std::make_unique<security::MasterKey>(std::move(*key));
  tenants_ = std::make_unique<engine::TenantDirectory>(*master_key_);
  for (const core::Tenant& one : {tenant(*master_key_, 1, "default", "token-1"),
                                  tenant(*master_key_, 2, "other", "token-2")}) {
    change(one);
  }
}

ApiTest::~ApiTest() = default;

void ApiTest::change(const core::Tenant& tenant) {
  EXPECT_TRUE(tenants_->put(tenant));
  submitter.reader->put<core::Tenant>(tenant);
}

Service& ApiTest::service() {
  if (!service_) {
    service_ = std::make_unique<Service>(submitter, *tenants_, metrics, options);
    service_->attach({&io});
  }
  return *service_;
}

std::uint64_t ApiTest::begin(http::Request request) {
  const std::uint64_t slot = slots_++;
  connection->responses.resize(slot + 1);
  service().handle(std::move(request), http::Responder(connection, slot), io);
  return slot;
}

http::Response ApiTest::end(std::uint64_t slot) {
  io.run();
  EXPECT_TRUE(connection->responses.at(slot).has_value());
  return connection->responses[slot].value_or(http::Response{.status = 0});
}

http::Response ApiTest::call_as(std::string token, std::string method, std::string target,
                                std::vector<net::Field> fields, std::string body) {
  http::Request request;
  request.method = std::move(method);
  request.target = std::move(target);
  request.fields = std::move(fields);
  request.body = std::move(body);
  request.peer = "192.0.2.7";
  if (!token.empty()) {
    request.fields.push_back({"Authorization", "Bearer " + token});
  }
  return end(begin(std::move(request)));
}

http::Response ApiTest::call(std::string method, std::string target, std::vector<net::Field> fields,
                             std::string body) {
  return call_as("token-1", std::move(method), std::move(target), std::move(fields),
                 std::move(body));
}

std::string ApiTest::store(core::Seq seq, const core::Message& message,
                           std::optional<core::MessageState> state) {
  auto stored = std::make_shared<core::Message>(message);
  stored->id = id_of(seq);
  if (stored->tenant == core::TenantId{}) {
    stored->tenant = core::TenantId{1};
  }
  if (stored->url.empty()) {
    stored->url = "https://example.com/hook";
  }
  if (stored->created_at == Moment{}) {
    stored->created_at = now;
    stored->not_before = std::max(stored->not_before, now);
  }
  if (stored->timeout == Millis{}) {
    stored->timeout = options.timeout_default;
  }
  submitter.reader->put<core::Message>(stored);
  if (state) {
    submitter.reader->rows<core::MessageState>()[seq] = *state;
  }
  return core::to_text(stored->id);
}

std::string ApiTest::store_dead(core::Seq seq, Moment failed_at, core::Message message,
                                core::Attempt last) {
  core::MessageState state;
  state.status = core::Status::failed;
  state.attempts = 1;
  state.finished_at = failed_at;
  state.in_dlq = true;
  last.fence.attempt = 1;
  last.ended_at = failed_at;
  state.last = std::move(last);
  store(seq, message, state);
  const core::TenantId owner = submitter.reader->rows<core::Message>()[seq]->tenant;
  submitter.reader->put<core::DeadLetterKey>({owner, failed_at, seq});
  return std::to_string(to_ms(failed_at)) + "-" + std::to_string(seq.value());
}

core::MessageId id_of(core::Seq seq) { return {seq, seq.value() * 7919}; }

boost::json::value json(const http::Response& response) {
  boost::json::error_code failed;
  boost::json::value value = boost::json::parse(response.body, failed);
  EXPECT_FALSE(failed) << response.body;
  return value;
}

std::optional<std::string> field(const http::Response& response, std::string_view name) {
  for (const net::Field& one : response.fields) {
    if (equals_ignoring_case(one.name, name)) {
      return one.value;
    }
  }
  return std::nullopt;
}

std::string error_of(const http::Response& response) {
  const boost::json::value body = json(response);
  const boost::json::value* const text =
      body.is_object() ? body.get_object().if_contains("error") : nullptr;
  return text != nullptr && text->is_string() ? std::string(text->get_string()) : std::string{};
}

}  // namespace hk::api::testing
