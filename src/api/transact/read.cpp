#include "api/transact/read.h"

#include <algorithm>
#include <array>
#include <optional>

#include "api/idempotency/ending.h"
#include "api/jobs/ending.h"
#include "api/qstash/publish.h"
#include "base/ascii.h"
#include "base/json.h"
#include "base/json_input.h"

namespace hk::api::transact {

namespace {

using Members = idempotency::Body;

constexpr std::size_t depth_max = 24;  // a result of the usual depth, in an operation, in a list

std::unexpected<Error> invalid(std::string text) {
  return fail(ErrorKind::invalid_argument, std::move(text));
}

/// What operations are read with.
struct Reading {
  const Services& services;
  Call& call;
  qstash::GroupDefaults defaults;
  core::TenantId tenant{};
};

// ---- operations, each with what is told of it ----

using Made = Result<core::Operation>;

Result<core::MessageId> read_job(const Members& body, Told& told) {
  const auto text = body.text("job");
  if (!text) {
    return std::unexpected(text.error());
  }
  if (!*text) {
    return invalid("job: must be the id of a job");
  }
  auto id = jobs::read_job_id(**text);
  if (id) {
    told.job = core::to_text(*id);
  }
  return id;
}

template <class Read>
Made read_ending(Reading& reading, Told& told, const Result<Members>& body, Read read) {
  if (!body) {
    return std::unexpected(body.error());
  }
  const auto id = read_job(*body, told);
  if (!id) {
    return std::unexpected(id.error());
  }
  auto command = read(reading.services, reading.tenant, *id, *body);
  if (!command) {
    return std::unexpected(command.error());
  }
  told.job = core::to_text(command->id);
  return std::move(*command);
}

Made read_ack(Reading& reading, ExactJson json, Told& told) {
  return read_ending(reading, told,
                     Members::of(std::move(json), {"op", "job", "fence", "receipt", "result",
                                                   "body", "content_type"}),
                     jobs::read_completed);
}

Made read_nack(Reading& reading, ExactJson json, Told& told) {
  return read_ending(reading, told,
                     Members::of(std::move(json), {"op", "job", "fence", "receipt", "error",
                                                   "retry", "retry_after"}),
                     jobs::read_failed);
}

Made read_cancel(Reading& reading, ExactJson json, Told& told) {
  const auto body = Members::of(std::move(json), {"op", "job"});
  if (!body) {
    return std::unexpected(body.error());
  }
  const auto id = read_job(*body, told);
  if (!id) {
    return std::unexpected(id.error());
  }
  return core::CancelMessage{reading.tenant, *id};
}

/// Steps of a workflow belong to their run, which decides about them on its own.
Result<void> check_no_workflow(const ExactJson* headers) {
  if (headers == nullptr || headers->kind != ExactJson::Kind::object) {
    return {};
  }
  for (const auto& [name, value] : headers->members) {
    if (starts_with_ignoring_case(name, "upstash-workflow-")) {
      return invalid("headers: " + name + ": a message of a workflow cannot be published here");
    }
  }
  return {};
}

Made read_publish(Reading& reading, ExactJson json, Told& told) {
  const auto body = Members::of(std::move(json), {"op", "destination", "queue", "headers", "body"});
  if (!body) {
    return std::unexpected(body.error());
  }
  if (auto plain = check_no_workflow(body->find("headers")); !plain) {
    return std::unexpected(plain.error());
  }
  boost::json::object item;
  for (const std::string_view name : {"destination", "queue", "headers", "body"}) {
    if (const ExactJson* const value = body->find(name)) {
      boost::json::error_code failed;
      item[boost::json::string_view(name.data(), name.size())] =
          boost::json::parse(value->to_text(), failed);
      if (failed) {
        return invalid(std::string(name) + ": must be a text, or an object of headers");
      }
    }
  }
  auto publish = qstash::read_item(reading.services, reading.call, reading.defaults, item);
  if (!publish) {
    return std::unexpected(publish.error());
  }
  if (!publish->message->pull) {
    append_json_string(told.url_json, publish->message->url);
  }
  return std::move(*publish);
}

void name_key(const core::HeldKey& held, Told& told) {
  told.key = held.key;
  told.space = held.space;
}

Made read_complete_key(Reading& reading, ExactJson json, Told& told) {
  const auto body =
      Members::of(std::move(json), {"op", "key", "namespace", "token", "response", "ttl"});
  if (!body) {
    return std::unexpected(body.error());
  }
  auto command = idempotency::read_completed(reading.tenant, *body);
  if (!command) {
    return std::unexpected(command.error());
  }
  name_key(*command, told);
  return std::move(*command);
}

Made read_fail_key(Reading& reading, ExactJson json, Told& told) {
  const auto body =
      Members::of(std::move(json), {"op", "key", "namespace", "token", "error", "final"});
  if (!body) {
    return std::unexpected(body.error());
  }
  auto command = idempotency::read_failed(reading.tenant, *body);
  if (!command) {
    return std::unexpected(command.error());
  }
  return std::visit(
      [&told](auto& one) -> Made {
        name_key(one, told);
        return std::move(one);
      },
      *command);
}

/// What can be asked for. Without a reader: this server has nothing that could do it.
struct KnownOperation {
  std::string_view name;
  Made (*read)(Reading&, ExactJson, Told&);
};
constexpr std::array known_operations = {
    KnownOperation{"ack", read_ack},
    KnownOperation{"nack", read_nack},
    KnownOperation{"publish", read_publish},
    KnownOperation{"cancel", read_cancel},
    KnownOperation{"idempotency.complete", read_complete_key},
    KnownOperation{"idempotency.fail", read_fail_key},
    KnownOperation{"notify", nullptr},
    KnownOperation{"batch.close", nullptr},
    KnownOperation{"saga.start", nullptr},
    KnownOperation{"ledger.account", nullptr},
    KnownOperation{"ledger.transaction", nullptr},
    KnownOperation{"ledger.post", nullptr},
    KnownOperation{"ledger.void", nullptr},
    KnownOperation{"ledger.reverse", nullptr},
    KnownOperation{"ledger.limits", nullptr},
    KnownOperation{"ledger.metadata", nullptr},
    KnownOperation{"ledger.assert", nullptr},
};

std::string names_of_operations() {
  std::string names;
  for (const KnownOperation& one : known_operations) {
    if (one.read != nullptr) {
      names += (names.empty() ? "" : ", ") + std::string(one.name);
    }
  }
  return names;
}

int status_of(const Error& error) {
  switch (error.kind) {
    case ErrorKind::not_found: return 404;
    case ErrorKind::limit_exceeded: return 413;
    default: return 400;
  }
}

/// Appends to what was asked, or says what is wrong.
void read_operation(Reading& reading, const ExactJson& json, Asked& asked,
                    std::vector<Fault>& faults) {
  constexpr int not_available = 501;
  const std::size_t index = asked.told.size();
  Told& told = asked.told.emplace_back();
  const ExactJson* const op = json.kind == ExactJson::Kind::object ? json.member("op") : nullptr;
  if (op == nullptr || op->kind != ExactJson::Kind::string) {
    faults.push_back({.index = index,
                      .detail = R"(must be an object with "op", one of )" + names_of_operations()});
    return;
  }
  told.op = op->text;
  const auto* const known =
      std::ranges::find(known_operations, std::string_view(op->text), &KnownOperation::name);
  if (known == known_operations.end()) {
    faults.push_back(
        {.index = index,
         .op = op->text,
         .detail = "op: there is none named " + op->text + "; it may be " + names_of_operations()});
    return;
  }
  const bool in_a_batch = op->text == "publish" && json.member("batch") != nullptr;
  if (known->read == nullptr || in_a_batch) {
    faults.push_back({.index = index,
                      .op = op->text,
                      .status = not_available,
                      .detail = op->text + (in_a_batch ? " with batch" : "") +
                                " is not available in this version of the server"});
    return;
  }
  Made made = known->read(reading, json, told);
  if (!made) {
    faults.push_back({.index = index,
                      .op = op->text,
                      .status = status_of(made.error()),
                      .detail = std::move(made.error().message)});
    return;
  }
  asked.command.operations.push_back(std::move(*made));
}

// ---- preconditions ----

std::optional<core::Status> status_named(std::string_view name) {
  for (const core::Status one :
       {core::Status::pending, core::Status::running, core::Status::succeeded, core::Status::failed,
        core::Status::canceled}) {
    if (jobs::status_name(one) == name) {
      return one;
    }
  }
  return std::nullopt;
}

Result<core::Precondition> read_job_is(const ExactJson& json) {
  const auto body = Members::of(json, {"job", "status"});
  if (!body) {
    return std::unexpected(body.error());
  }
  Told told;
  const auto id = read_job(*body, told);
  if (!id) {
    return std::unexpected(id.error());
  }
  core::JobIs condition{.job = *id};
  const ExactJson* const given = body->find("status");
  const bool list = given != nullptr && given->kind == ExactJson::Kind::array;
  for (const ExactJson& one : list ? given->items : std::vector<ExactJson>{}) {
    const auto status = one.kind == ExactJson::Kind::string ? status_named(one.text) : std::nullopt;
    if (!status) {
      condition.any_of.clear();
      break;
    }
    condition.any_of.push_back(*status);
  }
  if (condition.any_of.empty()) {
    return invalid("status: must be a list of PENDING, RUNNING, SUCCEEDED, FAILED and CANCELED");
  }
  return condition;
}

Result<core::Precondition> read_key_is(const ExactJson& json) {
  using State = core::IdempotencyKey::State;
  if (json.members.size() != 1) {
    return invalid("idempotency: must stand alone in its precondition");
  }
  const auto body =
      Members::of(json.members.front().second, {"key", "namespace", "state", "token"});
  if (!body) {
    return invalid("idempotency: " + body.error().message);
  }
  auto name = body->name();
  const auto state = body->text("state");
  if (const Error* const wrong = idempotency::first_error(name, state)) {
    return invalid("idempotency: " + wrong->message);
  }
  core::KeyIs condition{.space = std::move(name->space), .key = std::move(name->key)};
  if (*state) {
    for (const State one : {State::started, State::completed, State::failed, State::released}) {
      if (**state == idempotency::name_of(one)) {
        condition.state = one;
      }
    }
    if (!condition.state) {
      return invalid("idempotency: state must be started, completed, failed or released");
    }
  }
  if (body->find("token") != nullptr) {
    const auto held = body->held({});
    if (!held) {
      return invalid("idempotency: " + held.error().message);
    }
    condition.token = held->token;
  }
  return condition;
}

void read_precondition(const ExactJson& json, Asked& asked, std::size_t index,
                       std::vector<Fault>& faults) {
  constexpr int not_available = 501;
  const bool object = json.kind == ExactJson::Kind::object;
  for (const std::string_view name : {"ledger_account", "batch", "version"}) {
    if (object && json.member(name) != nullptr) {
      faults.push_back(
          {.of_precondition = true,
           .index = index,
           .status = not_available,
           .detail = std::string(name) + " is not available in this version of the server"});
      return;
    }
  }
  Result<core::Precondition> read = invalid(
      R"(must be {"job": …, "status": [...]} or {"idempotency": {"key": …, "state": …, "token": …}})");
  if (object && json.member("job") != nullptr) {
    read = read_job_is(json);
  } else if (object && json.member("idempotency") != nullptr) {
    read = read_key_is(json);
  }
  if (!read) {
    // A job that cannot be there is not there: that is how it fails when it is looked at, too.
    constexpr int not_as_asked = 412;
    const bool missing = read.error().kind == ErrorKind::not_found;
    faults.push_back({.of_precondition = true,
                      .index = index,
                      .status = missing ? not_as_asked : status_of(read.error()),
                      .detail = std::move(read.error().message)});
    return;
  }
  asked.command.preconditions.push_back(std::move(*read));
}

/// The list, or none. invalid_argument: it is no list, or one of another length.
Result<std::vector<ExactJson>> list_of(const Members& body, std::string_view name,
                                       std::size_t least) {
  const ExactJson* const given = body.find(name);
  if (given == nullptr && least == 0) {
    return std::vector<ExactJson>{};
  }
  if (given == nullptr || given->kind != ExactJson::Kind::array || given->items.size() < least ||
      given->items.size() > operations_max) {
    return invalid(std::string(name) + ": must be a list of " +
                   (least == 0 ? "at most " : "1 to ") + std::to_string(operations_max));
  }
  return given->items;
}

}  // namespace

Read read_transact(const Services& services, Call& call) {
  auto json = ExactJson::parse(call.request.body, depth_max);
  if (!json) {
    return json.error();
  }
  const auto body = Members::of(std::move(*json), {"preconditions", "operations"});
  if (!body) {
    return body.error();
  }
  const auto preconditions = list_of(*body, "preconditions", 0);
  const auto operations = list_of(*body, "operations", 1);
  if (const Error* const wrong = idempotency::first_error(preconditions, operations)) {
    return *wrong;
  }
  const core::TenantId tenant = call.tenant->id;
  Reading reading{services, call, qstash::GroupDefaults(services.submitter, tenant), tenant};
  Asked asked;
  asked.command.tenant = tenant;
  std::vector<Fault> faults;
  for (std::size_t i = 0; i < preconditions->size(); ++i) {
    read_precondition((*preconditions)[i], asked, i, faults);
  }
  for (const ExactJson& one : *operations) {
    read_operation(reading, one, asked, faults);
  }
  if (!faults.empty()) {
    return faults;
  }
  return asked;
}

}  // namespace hk::api::transact
