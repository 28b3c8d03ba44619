#include "api/transact/read.h"

#include <algorithm>
#include <array>
#include <optional>

#include "api/idempotency/ending.h"
#include "api/jobs/ending.h"
#include "api/ledger/counting.h"
#include "api/ledger/errors.h"
#include "api/ledger/parse.h"
#include "api/qstash/publish.h"
#include "base/ascii.h"
#include "base/json.h"
#include "base/json_input.h"

namespace hk::api::transact {

namespace {

using Members = idempotency::Body;

// Of a fault: it may have in it what was sent, and the answer is stored.
constexpr std::size_t op_bytes_max = 64;
constexpr std::size_t member_bytes_max = 100;
constexpr std::size_t detail_bytes_max = 300;
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

using Wrong = std::variant<Error, core::ledger::Refusal>;
using Made = std::expected<core::TransactOperation, Wrong>;

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

Made read_ledger(Reading& reading, ExactJson json, Told& told) {
  auto item = ledger::read_item(json.to_text(), {.op_prefix = "ledger.", .has_book = true});
  if (!item) {
    return std::unexpected(std::move(item.error()));
  }
  const auto* const reverse = std::get_if<core::ledger::ReverseTransaction>(&item->operation);
  if (reverse != nullptr && reverse->force && !reading.call.by_admin) {
    return std::unexpected(ledger::not_granted());
  }
  told.book = item->book;
  told.makes_transaction = ledger::is_transaction(item->operation);
  return core::LedgerOperation{std::move(item->book), std::move(item->operation)};
}

/// What can be asked for, and which tokens it costs. Without a reader: this server has nothing that
/// could do it. Without a class: it ends work that somebody holds, which costs nothing.
struct KnownOperation {
  std::string_view name;
  Made (*read)(Reading&, ExactJson, Told&);
  std::optional<core::RateClass> rated{};
};
constexpr std::array known_operations = {
    KnownOperation{"ack", read_ack},
    KnownOperation{"nack", read_nack},
    KnownOperation{"publish", read_publish, core::RateClass::publish},
    KnownOperation{"cancel", read_cancel, core::RateClass::manage},
    KnownOperation{"idempotency.complete", read_complete_key},
    KnownOperation{"idempotency.fail", read_fail_key},
    KnownOperation{"ledger.account", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.transaction", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.post", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.void", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.reverse", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.limits", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.metadata", read_ledger, core::RateClass::ledger},
    KnownOperation{"ledger.assert", read_ledger, core::RateClass::ledger},
    KnownOperation{"notify", nullptr},
    KnownOperation{"batch.close", nullptr},
    KnownOperation{"saga.start", nullptr},
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

/// Not in the middle of a character.
std::string shortened(std::string text, std::size_t max) {
  if (text.size() > max) {
    std::size_t end = max;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) {
      --end;
    }
    text.resize(end);
    text += "…";
  }
  return text;
}

void add_fault(std::vector<Fault>& faults, Fault fault) {
  fault.op = shortened(std::move(fault.op), op_bytes_max);
  fault.detail = shortened(std::move(fault.detail), detail_bytes_max);
  faults.push_back(std::move(fault));
}

Fault fault_of(Wrong wrong, std::size_t index, const std::string& op) {
  Fault fault{.index = index, .op = op};
  if (auto* const error = std::get_if<Error>(&wrong)) {
    fault.status = status_of(*error);
    fault.detail = std::move(error->message);
    return fault;
  }
  auto& refusal = std::get<core::ledger::Refusal>(wrong);
  refusal.member = shortened(std::move(refusal.member), member_bytes_max);
  refusal.detail = shortened(std::move(refusal.detail), detail_bytes_max);
  fault.status = ledger::status_of(refusal.code);
  fault.detail = refusal.detail;
  fault.ledger = std::make_shared<const core::ledger::Refusal>(std::move(refusal));
  return fault;
}

/// Appends to what was asked, or says what is wrong.
void read_operation(Reading& reading, const ExactJson& json, Asked& asked,
                    std::vector<Fault>& faults) {
  constexpr int not_available = 501;
  const std::size_t index = asked.told.size();
  Told& told = asked.told.emplace_back();
  const ExactJson* const op = json.kind == ExactJson::Kind::object ? json.member("op") : nullptr;
  if (op == nullptr || op->kind != ExactJson::Kind::string) {
    add_fault(faults,
              {.index = index,
               .detail = R"(must be an object with "op", one of )" + names_of_operations()});
    return;
  }
  told.op = op->text;
  const auto* const known =
      std::ranges::find(known_operations, std::string_view(op->text), &KnownOperation::name);
  if (known == known_operations.end()) {
    add_fault(faults,
              {.index = index,
               .op = op->text,
               .detail = "op: there is none of that name; it may be " + names_of_operations()});
    return;
  }
  const bool in_a_batch = op->text == "publish" && json.member("batch") != nullptr;
  if (known->read == nullptr || in_a_batch) {
    add_fault(faults, {.index = index,
                       .op = op->text,
                       .status = not_available,
                       .detail = op->text + (in_a_batch ? " with batch" : "") +
                                 " is not available in this version of the server"});
    return;
  }
  Made made = known->read(reading, json, told);
  if (!made) {
    add_fault(faults, fault_of(std::move(made.error()), index, op->text));
    return;
  }
  if (known->rated) {
    ++asked.costs[static_cast<std::size_t>(*known->rated)];
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

/// Short for a condition of the ledger.
std::expected<core::Precondition, Wrong> read_account_is(const ExactJson& json) {
  if (json.members.size() != 1) {
    return invalid("ledger_account: must stand alone in its precondition");
  }
  auto so = ledger::read_account_is(json.members.front().second.to_text());
  if (!so) {
    so.error().detail.insert(0, "ledger_account: ");
    return std::unexpected(std::move(so.error()));
  }
  return core::AccountIs{std::move(so->book), std::move(so->condition)};
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
  for (const std::string_view name : {"batch", "version"}) {
    if (object && json.member(name) != nullptr) {
      add_fault(faults,
                {.of_precondition = true,
                 .index = index,
                 .status = not_available,
                 .detail = std::string(name) + " is not available in this version of the server"});
      return;
    }
  }
  std::expected<core::Precondition, Wrong> read = invalid(
      R"(must be {"job": …, "status": […]}, {"idempotency": {"key": …, "state": …, "token": …}} or )"
      R"({"ledger_account": {"account": …, "currency": …, "available_gte": …}})");
  if (object && json.member("job") != nullptr) {
    read = read_job_is(json);
  } else if (object && json.member("idempotency") != nullptr) {
    read = read_key_is(json);
  } else if (object && json.member("ledger_account") != nullptr) {
    read = read_account_is(json);
  }
  if (!read) {
    Fault fault = fault_of(std::move(read.error()), index, "");
    fault.of_precondition = true;
    if (fault.status == 404) {
      // A job that cannot be there is not there: that is how it fails when it is looked at, too.
      constexpr int not_as_asked = 412;
      fault.status = not_as_asked;
    }
    add_fault(faults, std::move(fault));
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
  asked.command.may_force = call.by_admin;
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
