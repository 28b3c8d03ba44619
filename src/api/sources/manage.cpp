// Creating, changing and deleting sources. What is read is compared when it is written: two changes
// at once do not undo each other.
#include <algorithm>
#include <utility>

#include "api/reply.h"
#include "api/sources/directory.h"
#include "api/sources/handlers.h"
#include "api/sources/view.h"
#include "api/text.h"
#include "base/json.h"
#include "base/json_input.h"
#include "base/sortable_id.h"
#include "observe/log.h"

namespace hk::api::sources {

namespace {

constexpr std::size_t secrets_max = 10;
constexpr std::int64_t secret_expires_max = 315'360'000;
constexpr std::size_t hint_characters = 4;
constexpr std::size_t hinted_from = 12;  ///< of a shorter secret the end would say too much

struct GivenSecret {
  Secret value{};
  Moment expires_at{never};
};

using SecretsRead = std::expected<std::vector<GivenSecret>, WrongFields>;

/// A text, or {"value", "expiresInSeconds"}.
std::expected<GivenSecret, WrongField> read_secret(const ExactJson& given, std::string pointer,
                                                   Moment now) {
  GivenSecret read;
  if (given.kind == ExactJson::Kind::string) {
    read.value = Secret(given.text);
    return read;
  }
  const ExactJson* const value = given.member("value");
  if (given.kind != ExactJson::Kind::object || value == nullptr ||
      value->kind != ExactJson::Kind::string) {
    return std::unexpected(WrongField{
        std::move(pointer), "must be a text, or {\"value\": \"…\", \"expiresInSeconds\": 3600}"});
  }
  for (const auto& [name, member] : given.members) {
    if (name != "value" && name != "expiresInSeconds") {
      return std::unexpected(
          WrongField{pointer + '/' + name, "is not known here; there are value, expiresInSeconds"});
    }
  }
  read.value = Secret(value->text);
  const ExactJson* const expires = given.member("expiresInSeconds");
  if (expires != nullptr && expires->kind != ExactJson::Kind::null) {
    const auto seconds = parse_unsigned(expires->text);
    if (expires->kind != ExactJson::Kind::number || !seconds || *seconds == 0 ||
        *seconds > static_cast<std::uint64_t>(secret_expires_max)) {
      return std::unexpected(
          WrongField{pointer + "/expiresInSeconds", "must be a whole number from 1 to 315360000"});
    }
    read.expires_at = now + std::chrono::seconds(static_cast<std::int64_t>(*seconds));
  }
  return read;
}

SecretsRead read_secrets(const ExactJson* given, Moment now) {
  std::vector<GivenSecret> secrets;
  if (given == nullptr || given->kind == ExactJson::Kind::null) {
    return secrets;
  }
  if (given->kind != ExactJson::Kind::array || given->items.size() > secrets_max) {
    return std::unexpected(WrongFields{{"/secrets", "must be a list of at most 10 secrets"}});
  }
  WrongFields wrong;
  for (std::size_t i = 0; i < given->items.size(); ++i) {
    auto one = read_secret(given->items[i], "/secrets/" + std::to_string(i), now);
    if (one) {
      secrets.push_back(std::move(*one));
    } else {
      wrong.push_back(std::move(one.error()));
    }
  }
  return wrong.empty() ? SecretsRead(std::move(secrets)) : std::unexpected(std::move(wrong));
}

std::string hint_of(std::string_view secret) {
  return secret.size() < hinted_from
             ? "…"
             : "…" + std::string(secret.substr(secret.size() - hint_characters));
}

core::SourceSecret seal_secret(const Services& services, Call& call, const core::Source& source,
                               const GivenSecret& given, Moment now) {
  Rng& rng = call.batcher.rng();
  core::SourceSecret secret{.id = sortable_id("sec_", now, rng.next(), rng.next()),
                            .hint = hint_of(given.value.reveal()),
                            .created_at = now,
                            .expires_at = given.expires_at};
  const core::Sealing& sealing = services.options.sealing;
  secret.sealed = sealing.seal
                      ? sealing.seal(given.value, secret_place(source.tenant, source.id, secret.id))
                      : std::string(given.value.reveal());
  return secret;
}

/// Of the own body. No object: nothing was read.
std::expected<ExactJson, Error> read_object(const http::Request& request) {
  if (request.body.size() > json_bytes_max) {
    return std::unexpected(Error{ErrorKind::invalid_argument, "the body is larger than 1 MiB"});
  }
  auto json = ExactJson::parse(request.body, json_depth_max);
  if (json && json->kind != ExactJson::Kind::object) {
    return std::unexpected(Error{ErrorKind::invalid_argument, "the body must be a JSON object"});
  }
  return json;
}

core::PutSource put_of(core::Source source, ReadSettings read) {
  source.name = read.settings.name;
  source.enabled = read.settings.enabled;
  source.dedup_window = read.settings.dedup_window < 0
                            ? core::dedup_for_ever
                            : Millis(std::chrono::seconds(read.settings.dedup_window));
  source.settings = std::move(read.document);
  return {.source = std::move(source),
          .queue = read.settings.target.queue,
          .url_group = read.settings.target.url_group};
}

/// What is told of a PutSource. `shown`: of the source as it is then.
template <class Shown>
Planned put_planned(core::PutSource command, std::string request_id, Shown shown) {
  return Planned{
      .command = std::move(command),
      .tell = [request_id = std::move(request_id),
               shown = std::move(shown)](const core::Reply& reply) -> Said {
        using Outcome = core::SourceStored::Outcome;
        const auto& stored = answer_of<core::SourceStored>(reply);
        switch (stored.outcome) {
          case Outcome::no_queue:
            return refuse_fields({{"/deliverTo/queue",
                                   "there is no queue of that name that workers receive from and "
                                   "that is not FIFO"}},
                                 request_id);
          case Outcome::no_url_group:
            return refuse_fields({{"/deliverTo/urlGroup", "there is no URL group of that name"}},
                                 request_id);
          case Outcome::stored: break;
        }
        return shown(stored.source);
      }};
}

auto showing_source(std::string base, int status) {
  return [base = std::move(base), status](const core::Source& source) {
    http::Response response;
    response.status = status;
    JsonWriter json(response.body);
    write_source(json, source, base);
    return response;
  };
}

/// What the settings leave to be checked against the rest of the server.
WrongFields check_target(const Services& services, core::TenantId tenant, const Target& target) {
  if (auto good = publish_to(services.options, services.now(), tenant, target); !good) {
    const bool of_options = good.error().message.starts_with("Upstash-");
    return {{of_options ? "/deliverTo/options" : "/deliverTo/url", good.error().message}};
  }
  return {};
}

Write source_unreadable(const Error& error) {
  observe::log(observe::Level::error, "source.unreadable", {{"error", error.message}});
  return Error{ErrorKind::internal, error.message};
}

}  // namespace

Write create_source(const Services& services, Call& call) {
  const std::string request_id = call.answer.request_id();
  const auto object = read_object(call.request);
  if (!object) {
    return object.error();
  }
  const Moment now = services.now();
  auto read = read_settings(*object);
  auto secrets = read_secrets(object->member("secrets"), now);
  WrongFields wrong = read ? WrongFields{} : read.error();
  if (!secrets) {
    std::ranges::copy(secrets.error(), std::back_inserter(wrong));
  }
  if (!wrong.empty()) {
    return refuse_fields(wrong, request_id);
  }
  const Scheme& scheme = read->settings.scheme;
  if (secrets->empty() && scheme.preset != Preset::none) {
    wrong.push_back({"/secrets", "at least one is required: what the sender signs with"});
  }
  for (std::size_t i = 0; i < secrets->size(); ++i) {
    if (auto key = make_key(scheme, "", (*secrets)[i].value, never); !key) {
      wrong.push_back({"/secrets/" + std::to_string(i), key.error().message});
    }
  }
  std::ranges::copy(check_target(services, call.tenant->id, read->settings.target),
                    std::back_inserter(wrong));
  if (!wrong.empty()) {
    return refuse_fields(wrong, request_id);
  }
  Rng& rng = call.batcher.rng();
  core::Source source{.tenant = call.tenant->id,
                      .id = sortable_id("src_", now, rng.next(), rng.next())};
  for (const GivenSecret& one : *secrets) {
    source.secrets.push_back(seal_secret(services, call, source, one, now));
  }
  return put_planned(put_of(std::move(source), std::move(*read)), request_id,
                     showing_source(public_base(call.request), 201));
}

Write change_source(const Services& services, Call& call) {
  const std::string request_id = call.answer.request_id();
  auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  const auto patch = read_object(call.request);
  if (!patch) {
    return patch.error();
  }
  if (patch->member("secrets") != nullptr) {
    return refuse_fields({{"/secrets",
                           "secrets are added with POST …/secrets and removed with DELETE "
                           "…/secrets/{id}"}},
                         request_id);
  }
  auto document = ExactJson::parse(source->settings, json_depth_max);
  if (!document) {
    return source_unreadable(document.error());
  }
  merge_patch(*document, *patch);
  auto read = read_settings(*document);
  if (!read) {
    return refuse_fields(read.error(), request_id);
  }
  const Scheme& scheme = read->settings.scheme;
  WrongFields wrong = check_target(services, call.tenant->id, read->settings.target);
  if (source->secrets.empty() && scheme.preset != Preset::none) {
    wrong.push_back({"/preset", "this source has no secret: create another source"});
  }
  for (const core::SourceSecret& one : source->secrets) {
    auto text = open_secret(services.options, *source, one);
    if (!text) {
      return source_unreadable(text.error());
    }
    if (auto key = make_key(scheme, one.id, *text, one.expires_at); !key) {
      wrong.push_back(
          {"/preset", "the secret " + one.id + " does not fit: " + key.error().message});
    }
  }
  if (!wrong.empty()) {
    return refuse_fields(wrong, request_id);
  }
  core::PutSource command = put_of(std::move(*source), std::move(*read));
  command.if_version = command.source.version;
  return put_planned(std::move(command), request_id,
                     showing_source(public_base(call.request), 200));
}

Write delete_source(const Services& services, Call& call) {
  const auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  return Planned{.command = core::DeleteSource{call.tenant->id, source->id},
                 .tell =
                     [](const core::Reply& /*reply*/) {
                       http::Response response;
                       response.status = 204;
                       return response;
                     },
                 .done = when_done([name = source->name, tenant = call.tenant->id.value()] {
                   observe::log(observe::Level::info, "source.deleted",
                                {{"tenant", tenant}, {"source", name}});
                 })};
}

namespace {

/// The settings of a stored source, with nothing changed.
Result<ReadSettings> stored_settings(const core::Source& source) {
  const auto document = ExactJson::parse(source.settings, json_depth_max);
  auto read = document ? read_settings(*document)
                       : std::expected<ReadSettings, WrongFields>(std::unexpected(WrongFields{}));
  if (!read) {
    return fail(ErrorKind::internal, "the settings of source " + source.name + " cannot be read");
  }
  return std::move(*read);
}

/// The same source with other secrets. Where its events go is not looked at.
core::PutSource with_secrets(core::Source source) {
  core::PutSource command{.source = std::move(source)};
  command.if_version = command.source.version;
  return command;
}

}  // namespace

Write add_secret(const Services& services, Call& call) {
  const std::string request_id = call.answer.request_id();
  auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  const auto object = read_object(call.request);
  if (!object) {
    return object.error();
  }
  const Moment now = services.now();
  auto given = read_secret(*object, "", now);
  if (!given) {
    return refuse_fields({given.error()}, request_id);
  }
  const auto settings = stored_settings(*source);
  if (!settings) {
    return source_unreadable(settings.error());
  }
  if (auto key = make_key(settings->settings.scheme, "", given->value, never); !key) {
    return refuse_fields({{"/value", key.error().message}}, request_id);
  }
  auto& secrets = source->secrets;
  const auto live = std::ranges::count_if(
      secrets, [now](const core::SourceSecret& one) { return one.expires_at > now; });
  if (static_cast<std::size_t>(live) >= secrets_max) {
    return refuse_fields({{"", "a source has at most 10 secrets; remove one first"}}, request_id);
  }
  // Those that are over say why a request was rejected, as long as there is room for them.
  while (secrets.size() >= secrets_max) {
    const auto over = std::ranges::find_if(
        secrets.rbegin(), secrets.rend(),
        [now](const core::SourceSecret& one) { return one.expires_at <= now; });
    secrets.erase(std::next(over).base());
  }
  secrets.insert(secrets.begin(), seal_secret(services, call, *source, *given, now));
  return put_planned(with_secrets(std::move(*source)), request_id, [](const core::Source& stored) {
    http::Response response;
    response.status = 201;
    JsonWriter json(response.body);
    write_secret(json, stored.secrets.front());
    return response;
  });
}

Write remove_secret(const Services& services, Call& call) {
  auto source = find_source(services, call.tenant->id, call.param);
  if (!source) {
    return no_such_source(call.param);
  }
  const std::string& id = call.more_params.front();
  const auto found = std::ranges::find(source->secrets, id, &core::SourceSecret::id);
  if (found == source->secrets.end()) {
    return Error{ErrorKind::not_found, "the source has no secret " + id};
  }
  if (source->secrets.size() == 1) {
    return Error{ErrorKind::conflict,
                 "this is the last secret of the source: add another one first"};
  }
  source->secrets.erase(found);
  return put_planned(with_secrets(std::move(*source)), call.answer.request_id(),
                     [](const core::Source& /*stored*/) {
                       http::Response response;
                       response.status = 204;
                       return response;
                     });
}

}  // namespace hk::api::sources
