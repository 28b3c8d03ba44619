// /v2/flowControl and /v2/globalParallelism. A key is everything between flowControl/ and the verb,
// percent-decoded: it may contain slashes. Counts are the core's own, so they are asked of it.
#include <array>
#include <limits>
#include <memory>
#include <string>
#include <utility>

#include "api/parameters.h"
#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/submit.h"
#include "api/reply.h"
#include "api/submit.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/json.h"

namespace hk::api::qstash {

namespace {

constexpr std::size_t key_bytes_max = 256;
constexpr Millis period_max{7 * std::int64_t{86'400'000}};

void write_flow_key(JsonWriter& json, const core::FlowKeyView& view) {
  const core::FlowKey& flow = view.flow;
  const bool rated = flow.rate != 0;
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(flow.period).count();
  json.begin_object();
  json.field("flowControlKey", flow.key);
  json.field("waitListSize", view.waiting);
  json.field("parallelismMax", flow.parallelism);
  json.field("parallelismCount", view.running);
  json.field("rateMax", flow.rate);
  json.field("rateCount", rated ? flow.window_count : 0);
  json.field("ratePeriod", rated ? seconds : 0);
  json.field("ratePeriodStart", rated ? to_ms(flow.window_start) / 1000 : 0);
  json.field("isPaused", flow.paused);
  json.field("isPinnedParallelism", flow.pinned_parallelism);
  json.field("isPinnedRate", flow.pinned_rate);
  json.end_object();
}

/// What stands behind flowControl/, without the query and a slash at the end.
std::string_view path_of(const Call& call) {
  std::string_view path = call.rest.substr(0, call.rest.find('?'));
  if (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return path;
}

Result<std::string> decode_key(std::string_view raw) {
  std::optional<std::string> key = http::percent_decode(raw);
  if (!key) {
    return fail(ErrorKind::invalid_argument, "the percent-encoding of the path is invalid");
  }
  if (key->empty() || key->size() > key_bytes_max) {
    return fail(ErrorKind::invalid_argument, "a flow-control key has 1 to 256 bytes");
  }
  return std::move(*key);
}

Result<Parameters> read_parameters(const Call& call, std::span<const std::string_view> names) {
  Result<Parameters> parameters = Parameters::from_query(call.request.query());
  if (parameters) {
    if (Result<void> known = parameters->only(names); !known) {
      return std::unexpected(std::move(known.error()));
    }
  }
  return parameters;
}

Result<std::optional<std::uint32_t>> read_limit(const Parameters& parameters,
                                                std::string_view name) {
  Result<std::optional<std::uint64_t>> number = parameters.number(name);
  if (!number) {
    return std::unexpected(std::move(number.error()));
  }
  if (!*number) {
    return std::nullopt;
  }
  if (**number < 1 || **number > std::numeric_limits<std::uint32_t>::max()) {
    return fail(ErrorKind::invalid_argument,
                std::string(name) + ": must be a whole number of at least 1");
  }
  return static_cast<std::uint32_t>(**number);
}

Result<bool> read_flag(const Parameters& parameters, std::string_view name) {
  Result<std::optional<std::string>> text = parameters.one(name);
  if (!text) {
    return std::unexpected(std::move(text.error()));
  }
  if (!*text) {
    return false;
  }
  const std::optional<bool> flag = parse_bool(**text);
  if (!flag) {
    return fail(ErrorKind::invalid_argument, std::string(name) + ": must be true or false");
  }
  return *flag;
}

using Made = Result<core::Command>;

Made make_pause(const Call& call, std::string key) {
  return core::SetFlowKeyPaused{call.tenant->id, std::move(key), true};
}

Made make_resume(const Call& call, std::string key) {
  return core::SetFlowKeyPaused{call.tenant->id, std::move(key), false};
}

Made make_pin(const Call& call, std::string key) {
  static constexpr std::array<std::string_view, 3> names{"parallelism", "rate", "period"};
  Result<Parameters> parameters = read_parameters(call, names);
  if (!parameters) {
    return std::unexpected(std::move(parameters.error()));
  }
  core::PinFlowKey command{.tenant = call.tenant->id, .key = std::move(key)};
  for (const auto& [name, part] :
       {std::pair{"parallelism", &command.parallelism}, std::pair{"rate", &command.rate}}) {
    Result<std::optional<std::uint32_t>> limit = read_limit(*parameters, name);
    if (!limit) {
      return std::unexpected(std::move(limit.error()));
    }
    *part = *limit;
  }
  Result<std::optional<std::string>> period = parameters->one("period");
  if (!period) {
    return std::unexpected(std::move(period.error()));
  }
  if (*period) {
    const Result<Millis> length = parse_duration(**period);
    if (!length || *length <= Millis{0} || *length > period_max) {
      return fail(ErrorKind::invalid_argument,
                  "period: must be a number of seconds, more than 0 and at most 7 days");
    }
    command.period = *length;
  }
  if (!command.parallelism && !command.rate) {
    return fail(ErrorKind::invalid_argument, "pin needs parallelism, rate, or both");
  }
  return command;
}

Made make_unpin(const Call& call, std::string key) {
  static constexpr std::array<std::string_view, 2> names{"parallelism", "rate"};
  Result<Parameters> parameters = read_parameters(call, names);
  if (!parameters) {
    return std::unexpected(std::move(parameters.error()));
  }
  core::UnpinFlowKey command{.tenant = call.tenant->id, .key = std::move(key)};
  for (const auto& [name, part] :
       {std::pair{"parallelism", &command.parallelism}, std::pair{"rate", &command.rate}}) {
    Result<bool> flag = read_flag(*parameters, name);
    if (!flag) {
      return std::unexpected(std::move(flag.error()));
    }
    *part = *flag;
  }
  return command;
}

/// Also for "reset": what runs is counted exactly, so there is no parallelism count to correct.
Made make_reset(const Call& call, std::string key) {
  return core::ResetFlowRate{call.tenant->id, std::move(key)};
}

struct Verb {
  std::string_view name;
  Made (*make)(const Call&, std::string key);
};
constexpr std::array verbs{
    Verb{"pause", make_pause}, Verb{"resume", make_resume},   Verb{"pin", make_pin},
    Verb{"unpin", make_unpin}, Verb{"resetRate", make_reset}, Verb{"reset", make_reset},
};

Made make_command(const Call& call, const Verb& verb, std::string_view raw_key) {
  Result<std::string> key = decode_key(raw_key);
  if (!key) {
    return std::unexpected(std::move(key.error()));
  }
  return verb.make(call, std::move(*key));
}

/// The protocol has no cursor, and clients expect the whole list: one that is not whole is refused.
constexpr std::size_t keys_listed_max = 100'000;

/// A list under way: the core is asked for a part of it at a time, so that nobody waits for all of
/// it. Lives in the callback of the question that is out.
struct Listing {
  core::InspectFlowKeys question{};
  Batcher& batcher;
  Answer answer;
  http::Response response{};
  std::size_t listed = 0;
};

void ask(std::unique_ptr<Listing> listing);

void on_part(std::unique_ptr<Listing> listing, const core::Reply& reply) {
  if (!reply) {
    listing->answer(error_response(reply.error()));
    return;
  }
  const auto& part = answer_of<core::FlowKeysInspected>(reply);
  if (part.keys.size() > keys_listed_max - listing->listed) {
    listing->answer(
        error_response(413, "there are more than " + std::to_string(keys_listed_max) +
                                " matching flow-control keys: use a longer search text"));
    return;
  }
  for (const core::FlowKeyView& view : part.keys) {
    listing->response.body += listing->listed++ == 0 ? '[' : ',';
    JsonWriter json(listing->response.body);
    write_flow_key(json, view);
  }
  if (!part.next.empty()) {
    listing->question.after = part.next;
    ask(std::move(listing));
    return;
  }
  listing->response.body += listing->listed == 0 ? "[]" : "]";
  listing->answer(std::move(listing->response));
}

void ask(std::unique_ptr<Listing> listing) {
  Batcher& batcher = listing->batcher;
  core::InspectFlowKeys question = listing->question;
  batcher.submit(std::move(question),
                 [listing = std::move(listing)](const core::Reply& reply) mutable {
                   on_part(std::move(listing), reply);
                 });
}

}  // namespace

void list_flow_keys(const Services& /*services*/, Call& call) {
  static constexpr std::array<std::string_view, 1> names{"search"};
  Result<Parameters> parameters = read_parameters(call, names);
  Result<std::optional<std::string>> search =
      parameters ? parameters->one("search") : std::unexpected(parameters.error());
  if (!search) {
    call.answer(error_response(search.error()));
    return;
  }
  core::InspectFlowKeys command{.tenant = call.tenant->id};
  command.search = search->value_or("");
  ask(std::make_unique<Listing>(Listing{std::move(command), call.batcher, std::move(call.answer)}));
}

void get_flow_key(const Services& /*services*/, Call& call) {
  Result<std::string> key = decode_key(path_of(call));
  if (!key) {
    call.answer(error_response(key.error()));
    return;
  }
  core::InspectFlowKeys command{.tenant = call.tenant->id};
  command.key = std::move(*key);
  submit_then(call, std::move(command), [](const core::Reply& reply) {
    http::Response response;
    JsonWriter json(response.body);
    write_flow_key(json, answer_of<core::FlowKeysInspected>(reply).keys.at(0));
    return response;
  });
}

void change_flow_key(const Services& /*services*/, Call& call) {
  const std::string_view path = path_of(call);
  const std::size_t slash = path.rfind('/');
  for (const Verb& verb : verbs) {
    if (slash == std::string_view::npos ||
        !equals_ignoring_case(path.substr(slash + 1), verb.name)) {
      continue;
    }
    Made command = make_command(call, verb, path.substr(0, slash));
    if (!command) {
      call.answer(error_response(command.error()));
      return;
    }
    submit_for_done(call, std::move(*command));
    return;
  }
  call.answer(error_response(
      404,
      "no such path; the actions of a key are pause, resume, pin, unpin, resetRate and reset"));
}

void get_global_parallelism(const Services& services, Call& call) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("parallelismMax", services.options.global_parallelism);
  json.field("parallelismCount", services.options.in_flight ? services.options.in_flight() : 0);
  json.end_object();
  call.answer(std::move(response));
}

}  // namespace hk::api::qstash
