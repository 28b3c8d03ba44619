#include "api/once.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "api/auth.h"
#include "api/error_fields.h"
#include "api/svix/errors.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/encoding.h"
#include "base/exact_json.h"
#include "observe/metrics.h"
#include "security/digest.h"

namespace hk::api {

namespace {

constexpr std::string_view key_field = "Idempotency-Key";
constexpr Problem once_key_required{"idempotency_key_required", "Idempotency key required"};
constexpr Problem once_key_refused{"idempotency_key_not_taken", "Idempotency key not taken"};

using KeyResult = observe::IdempotentResult;

constexpr std::size_t hashed_depth_max = 64;

bool is_json(std::string_view media_type) {
  return media_type.empty() || media_type == "application/json" || media_type.ends_with("+json");
}

/// What follows cannot be taken for a part of it.
void add_size(std::string& text, std::size_t bytes) {
  text += std::to_string(bytes);
  text += ':';
}
void add_part(std::string& text, std::string_view part) {
  add_size(text, part.size());
  text += part;
}

/// Without the token: who got a new one asks for the same.
void add_query(std::string& text, std::string_view query) {
  auto pairs = http::parse_query(query);
  if (!pairs) {
    add_part(text, query);
    return;
  }
  std::ranges::sort(*pairs);
  for (const auto& [name, value] : *pairs) {
    if (name != "qstash_token") {
      add_part(text, name);
      add_part(text, value);
    }
  }
}

/// Whose key it is. None: of nobody that is known, so that nothing can come of the request.
std::optional<core::TenantId> tenant_of_key(const Services& services, const Route& route,
                                            const Call& call) {
  if (call.tenant) {
    return call.tenant->id;
  }
  const auto number =
      names_tenant_in_path(route) ? parse_unsigned(call.param) : std::optional<std::uint64_t>{};
  if (!number || *number > UINT32_MAX) {
    return std::nullopt;
  }
  const core::TenantId tenant{static_cast<std::uint32_t>(*number)};
  return services.tenants.find(tenant) ? std::optional(tenant) : std::nullopt;
}

/// So that a late repetition cannot do what its sender was told had been refused. What may be
/// answered otherwise in a moment is not.
bool is_for_good(int status) {
  return (status >= 200 && status < 300) || status == 400 || status == 404 || status == 409 ||
         status == 412 || status == 422;
}
bool is_for_good(const http::Response& response) {
  return is_for_good(response.status) &&
         std::ranges::none_of(response.fields, [](const net::Field& one) {
           return equals_ignoring_case(one.name, "Retry-After");
         });
}

core::KeptAnswer to_keep(http::Response response) {
  core::KeptAnswer kept;
  core::AnswerHead& head = kept.answer.head;
  head.status = static_cast<std::uint32_t>(response.status);
  head.content_type = std::move(response.content_type);
  for (net::Field& one : response.fields) {
    if (equals_ignoring_case(one.name, "Location")) {
      head.location = std::move(one.value);
    } else if (equals_ignoring_case(one.name, "ETag")) {
      head.etag = std::move(one.value);
    }
  }
  kept.answer.body = std::move(response.body);
  return kept;
}

http::Response from_kept(core::TextAnswer answer) {
  http::Response response;
  response.status = static_cast<int>(answer.head.status);
  response.content_type = std::move(answer.head.content_type);
  response.body = std::move(answer.body);
  if (!answer.head.location.empty()) {
    response.fields.push_back({"Location", std::move(answer.head.location)});
  }
  if (!answer.head.etag.empty()) {
    response.fields.push_back({"ETag", std::move(answer.head.etag)});
  }
  return response;
}

bool is_key_field(const net::Field& one) { return equals_ignoring_case(one.name, key_field); }

std::string digest_text(std::string_view bytes) {
  const security::Digest256 digest = security::sha256(bytes);
  return std::string(digest.begin(), digest.end());
}

std::expected<std::optional<OnceKey>, Said> read_svix_key(const Services& services,
                                                          const Call& call) {
  const http::Request& request = call.request;
  const auto given = std::ranges::find_if(request.fields, is_key_field);
  if (given == request.fields.end() || !call.tenant) {
    return std::nullopt;
  }
  constexpr std::size_t bytes_max = 255;
  if (given->value.empty() || given->value.size() > bytes_max ||
      !std::ranges::all_of(given->value, [](char c) { return c >= ' ' && c < 0x7f; })) {
    return std::unexpected(Said(svix::unprocessable(
        {{"header", "idempotency-key"}, "must have 1 to 255 printable ASCII characters"})));
  }
  std::string named;
  add_part(named,
           services.tenants.token_digest(token_of(request, services.options.allow_token_in_query)));
  add_part(named, request.method);
  add_part(named, request.path());
  add_part(named, request.query());
  add_part(named, given->value);
  const security::Digest256 digest = security::sha256(named);
  constexpr Millis kept_for_client{3'600'000};
  return OnceKey{
      call.tenant->id, core::svix_space, hex(digest), digest_text(request.body),
      given->value.starts_with("auto_") ? kept_for_client : services.options.idempotency_ttl};
}

/// How a write is told. Under a key it is shared by the core, which asks for what is kept, and the
/// callback, which answers; the first is done before the second begins.
struct Telling final : core::Answers {
  Surface surface{};
  Planned planned{};
  std::optional<http::Response> known{};  ///< the handler's answer, instead of a plan
  std::string request_id{};

  http::Response tell(const core::Reply& reply) {
    if (!reply) {
      return to_response(reply.error(), surface, request_id);
    }
    return known ? *known : to_response(planned.tell(reply), surface, request_id);
  }
  std::optional<core::KeptAnswer> keep(const core::Reply& reply) override {
    if (!reply && (surface == Surface::svix || !is_for_good(http_status(reply.error().kind)))) {
      return std::nullopt;
    }
    http::Response response = tell(reply);
    if (!is_for_good(response) || (surface == Surface::svix && response.status >= 300)) {
      return std::nullopt;
    }
    core::KeptAnswer kept = to_keep(std::move(response));
    if (kept.answer.body.size() > kept_bytes_max && reply && planned.refer) {
      kept.reference = planned.refer(reply);
    }
    return kept;
  }
  void done(int status) {
    if (planned.done) {
      planned.done(status);
    }
  }
};

/// The answer that a handler has without the core.
struct KnownAnswer {
  Surface surface;
  std::string_view request_id;

  std::optional<http::Response> operator()(Planned&& /*planned*/) const { return std::nullopt; }
  template <class One>
  std::optional<http::Response> operator()(One&& one) const {
    return to_response(std::forward<One>(one), surface, request_id);
  }
};

void submit_plainly(Call& call, core::Command command, std::shared_ptr<Telling> telling) {
  call.batcher.submit(std::move(command),
                      [telling = std::move(telling),
                       answer = std::move(call.answer)](const core::Reply& reply) mutable {
                        answering(answer, [&] {
                          http::Response response = telling->tell(reply);
                          telling->done(response.status);
                          answer(std::move(response));
                        });
                      });
}

}  // namespace

Result<std::string> request_hash(const http::Request& request) {
  const std::string_view given = request.header("Content-Type").value_or("");
  const std::string media_type = lower_case(trim(given.substr(0, given.find(';'))));
  std::string head;
  add_part(head, request.method);
  add_part(head, request.path());
  add_query(head, request.query());
  head += '\n';
  add_part(head, media_type);
  std::string canonical;
  std::string_view body = request.body;
  if (!body.empty() && is_json(media_type)) {
    auto json = ExactJson::canonical_of(body, hashed_depth_max);
    if (!json) {
      return std::unexpected(std::move(json.error()));
    }
    canonical = std::move(*json);
    body = canonical;
  }
  add_size(head, body.size());
  security::Sha256 hash;
  hash.update(head);
  hash.update(body);
  const security::Digest256 digest = hash.finish();
  return std::string(digest.begin(), digest.end());
}

std::expected<std::optional<OnceKey>, Said> read_once_key(const Services& services,
                                                          const Route& route, Surface surface,
                                                          const Call& call) {
  const http::Request& request = call.request;
  if (surface == Surface::svix) {
    return read_svix_key(services, call);
  }
  const auto given = std::ranges::find_if(request.fields, is_key_field);
  if (given == request.fields.end()) {
    if (route.keys.required) {
      return std::unexpected(
          Refusal{once_key_required, 400,
                  "this call must have an Idempotency-Key: a new one for each request"});
    }
    return std::nullopt;
  }
  if (!route.keys.refused.empty()) {
    return std::unexpected(
        Refusal{once_key_refused, 400,
                "this call takes no Idempotency-Key: " + std::string(route.keys.refused)});
  }
  if (!is_key_text(given->value) ||
      std::find_if(given + 1, request.fields.end(), is_key_field) != request.fields.end()) {
    return std::unexpected(
        Error{ErrorKind::invalid_argument,
              "Idempotency-Key: must be given once, with 1 to 255 visible ASCII characters"});
  }
  const auto tenant = tenant_of_key(services, route, call);
  if (!tenant) {
    return std::nullopt;
  }
  auto hash = request_hash(request);
  if (!hash) {
    return std::unexpected(std::move(hash.error()));
  }
  return OnceKey{*tenant, core::api_space, given->value, std::move(*hash),
                 services.options.idempotency_ttl};
}

void carry_out(const Services& services, const Route& route, Surface surface, Call& call,
               std::optional<OnceKey> key, Write write) {
  const auto telling = std::make_shared<Telling>();
  telling->surface = surface;
  telling->request_id = call.answer.request_id();
  core::BoxedCommand command;
  if (auto* const planned = std::get_if<Planned>(&write)) {
    telling->planned = std::move(*planned);
    command = core::boxed(std::move(telling->planned.command));
  } else {
    telling->known = std::visit(KnownAnswer{surface, telling->request_id}, std::move(write));
  }
  if (!key) {
    if (command) {
      submit_plainly(call, std::move(*command), telling);
    } else {
      call.answer(std::move(*telling->known));
    }
    return;
  }
  core::Once once{.tenant = key->tenant,
                  .space = std::move(key->space),
                  .key = std::move(key->key),
                  .hash = std::move(key->hash),
                  .kept_for = key->kept_for,
                  .command = std::move(command),
                  .answers = telling};
  call.batcher.submit(std::move(once), [&services, &route, telling, tenant = key->tenant,
                                        answer =
                                            std::move(call.answer)](core::Reply reply) mutable {
    answering(answer, [&] {
      if (reply && reply->is<core::OnceReused>()) {
        services.metrics.idempotent(KeyResult::reused);
        constexpr std::string_view why =
            "this Idempotency-Key was used for another request: use a new key for each request";
        if (telling->surface == Surface::svix) {
          answer(svix::error_response(409, "idempotency_key_reuse", why));
        } else {
          answer.refuse(key_reused, 422, why);
        }
        return;
      }
      auto* const answered = reply ? reply->get_if<core::OnceAnswered>() : nullptr;
      if (answered == nullptr) {  // nothing was kept
        services.metrics.idempotent(KeyResult::not_kept);
        http::Response response = telling->tell(reply);
        telling->done(response.status);
        answer(std::move(response));
        return;
      }
      core::TextAnswer& kept = answered->answer;
      services.metrics.idempotent(answered->replayed ? KeyResult::replayed : KeyResult::executed);
      if (!answered->replayed) {
        telling->done(static_cast<int>(kept.head.status));
        answer(from_kept(std::move(kept)));
        return;
      }
      http::Response response = kept.head.by_reference && route.keys.show != nullptr
                                    ? route.keys.show(services, tenant, kept.body)
                                    : from_kept(std::move(kept));
      response.fields.push_back(
          {telling->surface == Surface::svix ? "Idempotency-Replayed" : "Idempotent-Replayed",
           "true"});
      answer.replayed();
      answer(std::move(response));
    });
  });
}

}  // namespace hk::api
