#include "api/transact/answer.h"

#include <algorithm>
#include <utility>

#include "api/error_fields.h"
#include "api/idempotency/ending.h"
#include "api/jobs/ending.h"
#include "api/qstash/publish.h"
#include "base/assert.h"
#include "base/json.h"
#include "core/visit.h"

namespace hk::api::transact {

namespace {

constexpr Problem precondition_failed{"precondition_failed", "Precondition failed"};
constexpr Problem unlike_a_transact{"invalid", "Invalid request"};
constexpr Problem part_not_found{"not_found", "Not found"};
constexpr Problem part_too_large{"too_large", "Too large"};
constexpr Problem part_not_available{"not_available", "Not available"};

void write_published(JsonWriter& json, const core::Published& published, std::string_view url) {
  json.field("messageId", core::to_text(published.id));
  if (!url.empty()) {
    json.key("url");
    json.whole(url);
  }
  if (published.deduplicated) {
    json.field("deduplicated", true);
  }
}

void write_result(JsonWriter& json, const core::JobEnded& ended, const Told& told) {
  json.field("job", told.job);
  json.field("status", jobs::status_name(ended.status));
}
void write_result(JsonWriter& json, const core::Canceled& /*canceled*/, const Told& told) {
  json.field("job", told.job);
  json.field("status", jobs::status_name(core::Status::canceled));
}
void write_result(JsonWriter& json, const core::Published& published, const Told& told) {
  write_published(json, published, told.url_json);
}
void write_result(JsonWriter& json, const core::FannedOut& all, const Told& /*told*/) {
  json.key("messages");
  json.begin_array();
  for (const core::FannedOut::One& one : all.messages) {
    std::string url;
    append_json_string(url, one.url);
    json.begin_object();
    write_published(json, one.published, url);
    json.end_object();
  }
  json.end_array();
}
void write_result(JsonWriter& json, const core::KeyChanged& changed, const Told& told) {
  json.field("key", told.key);
  json.field("namespace", told.space);
  json.field("state", idempotency::name_of(changed.record.state));
  json.field("replayed", changed.outcome == core::KeyChanged::Outcome::again);
}

const Problem& problem_of_fault(int status) {
  switch (status) {
    case 404: return part_not_found;
    case 412: return precondition_failed;
    case 413: return part_too_large;
    case 501: return part_not_available;
    default: return unlike_a_transact;
  }
}

void write_place(JsonWriter& json, bool of_precondition, std::size_t index, const std::string& op) {
  json.field(of_precondition ? "precondition" : "operation", index);
  if (!op.empty()) {
    json.field("op", op);
  }
}

}  // namespace

http::Response told_of(const core::Transacted& done, const std::vector<Told>& operations) {
  HK_ASSERT(!done.refused && done.results.size() == operations.size());
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("id", done.id);
  json.key("results");
  json.begin_array();
  for (std::size_t i = 0; i < operations.size(); ++i) {
    json.begin_object();
    json.field("op", operations[i].op);
    std::visit([&](const auto& one) { write_result(json, one, operations[i]); }, done.results[i]);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return response;
}

Refused told_of_refusal(const core::TransactRefused& refused, const std::vector<Told>& operations) {
  constexpr int conflict = 409;
  Refused told;
  std::string job_status;
  if (const auto* const error = std::get_if<Error>(&refused.why)) {
    told.what = problem_of(error->kind);
    told.status = http_status(error->kind);
    told.detail = error->message;
  } else if (const auto* const ended = std::get_if<core::JobEnded>(&refused.why)) {
    told.what =
        ended->outcome == core::JobEnded::Outcome::finished ? jobs::job_finished : jobs::lease_lost;
    told.status = conflict;
    told.detail = jobs::told_of_lease(*ended);
    job_status = jobs::status_name(ended->status);
  } else {
    auto key = idempotency::told_of_key(std::get<core::KeyChanged>(refused.why));
    told.what = key.what;
    told.status = conflict;
    told.detail = std::move(key.detail);
  }
  if (refused.of_precondition) {
    told.what = precondition_failed;
    told.status = 412;
  }
  const std::string op = refused.of_precondition ? "" : operations.at(refused.index).op;
  told.more = [index = refused.index, of_precondition = refused.of_precondition, op,
               job_status](JsonWriter& json) {
    write_place(json, of_precondition, index, op);
    if (!job_status.empty()) {
      json.field("job_status", job_status);
    }
    json.field("applied", false);
  };
  return told;
}

/// What is wrong comes before what this server cannot do: that would not help.
Refused told_of_faults(std::vector<Fault> faults) {
  HK_ASSERT(!faults.empty());
  const auto wrong =
      std::ranges::find_if(faults, [](const Fault& one) { return one.status < 500; });
  const Fault& first = wrong == faults.end() ? faults.front() : *wrong;
  Refused told{.what = problem_of_fault(first.status), .status = first.status};
  told.detail = (first.of_precondition ? "preconditions[" : "operations[") +
                std::to_string(first.index) + "]: " + first.detail;
  told.more = [of_precondition = first.of_precondition, index = first.index, op = first.op,
               all = std::move(faults)](JsonWriter& json) {
    write_place(json, of_precondition, index, op);
    json.field("applied", false);
    json.key("errors");
    json.begin_array();
    for (const Fault& one : all) {
      json.begin_object();
      write_place(json, one.of_precondition, one.index, one.op);
      json.field("code", problem_of_fault(one.status).code);
      json.field("detail", one.detail);
      json.end_object();
    }
    json.end_array();
  };
  return told;
}

}  // namespace hk::api::transact
