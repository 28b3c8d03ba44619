// GET and PUT /api/v1/tenants/{id}/limits: how often a tenant may call the API. PUT replaces the
// whole document.
#include <charconv>

#include "api/admin/handlers.h"
#include "api/find_tenant.h"
#include "api/limits/admissions.h"
#include "base/exact_json.h"
#include "base/json.h"
#include "base/json_input.h"
#include "observe/log.h"

namespace hk::api::admin {

namespace {

std::unexpected<Error> wrong_limits(const std::string& where, const std::string& why) {
  return fail(ErrorKind::invalid_argument, where + ": " + why);
}

/// The numbers of one object. What they may be is for the core to say.
class LimitReader {
 public:
  /// `of`: what its members are called by, "" or "classes.publish.".
  LimitReader(const ExactJson& object, std::string of) : object_(object), of_(std::move(of)) {}

  /// invalid_argument: it has a member that is not one of these.
  [[nodiscard]] Result<void> has_only(std::initializer_list<std::string_view> names) const {
    std::string known;
    for (const std::string_view one : names) {
      known += (known.empty() ? "" : ", ") + std::string(one);
    }
    for (const auto& [name, value] : object_.members) {
      if (std::ranges::find(names, std::string_view(name)) == names.end()) {
        return wrong_limits(of_ + name, "is not known here; there may be " + known);
      }
    }
    return {};
  }
  /// None: it is absent or null.
  [[nodiscard]] Result<std::optional<std::uint64_t>> number(std::string_view name) const {
    const ExactJson* const value = object_.member(name);
    if (value == nullptr || value->kind == ExactJson::Kind::null) {
      return std::nullopt;
    }
    std::uint64_t number = 0;
    const char* const end = value->text.data() + value->text.size();
    const auto [at, failed] = std::from_chars(value->text.data(), end, number);
    if (value->kind != ExactJson::Kind::number || failed != std::errc{} || at != end) {
      return wrong_limits(of_ + std::string(name),
                          "must be a whole number from 0 on, or null for none");
    }
    return number;
  }
  /// rate, burst and in_flight. A burst that is not given is the rate.
  [[nodiscard]] Result<core::CallLimit> limit() const {
    core::CallLimit limit;
    for (const auto& [name, into] :
         {std::pair{"rate", &limit.rate}, std::pair{"burst", &limit.burst},
          std::pair{"in_flight", &limit.in_flight}}) {
      const auto given = number(name);
      if (!given) {
        return std::unexpected(given.error());
      }
      if (into == &limit.burst) {
        *into = given->value_or(limit.rate);
      } else {
        *into = given->value_or(0);
      }
    }
    return limit;
  }

 private:
  const ExactJson& object_;
  const std::string of_;
};

Result<void> read_classes(const ExactJson& classes, core::TenantLimits& limits) {
  if (classes.kind == ExactJson::Kind::null) {
    return {};
  }
  if (classes.kind != ExactJson::Kind::object) {
    return wrong_limits("classes", "must be an object with a member for each class");
  }
  for (const auto& [name, value] : classes.members) {
    const auto of = core::rate_class_of(name);
    if (!of) {
      std::string known;
      for (const std::string_view one : core::rate_class_names) {
        known += (known.empty() ? "" : ", ") + std::string(one);
      }
      return wrong_limits("classes." + name, "is not a class; there are " + known);
    }
    if (value.kind == ExactJson::Kind::null) {
      continue;
    }
    if (value.kind != ExactJson::Kind::object) {
      return wrong_limits("classes." + name, "must be an object with rate, burst and in_flight");
    }
    const LimitReader reader(value, "classes." + name + '.');
    if (auto good = reader.has_only({"rate", "burst", "in_flight"}); !good) {
      return good;
    }
    const auto limit = reader.limit();
    if (!limit) {
      return std::unexpected(limit.error());
    }
    limits.classes[static_cast<std::size_t>(*of)] = *limit;
  }
  return {};
}

Result<core::TenantLimits> read_limits(std::string_view body) {
  if (body.size() > json_bytes_max) {
    return fail(ErrorKind::invalid_argument,
                "the body is larger than " + std::to_string(json_bytes_max / 1024) + " KiB");
  }
  const Result<ExactJson> json = ExactJson::parse(body, json_depth_max);
  if (!json) {
    return std::unexpected(json.error());
  }
  if (json->kind != ExactJson::Kind::object) {
    return fail(ErrorKind::invalid_argument, "the body must be a JSON object");
  }
  const LimitReader reader(*json, "");
  if (auto good = reader.has_only({"rate", "burst", "weight", "in_flight", "classes"}); !good) {
    return std::unexpected(good.error());
  }
  core::TenantLimits limits;
  const auto limit = reader.limit();
  if (!limit) {
    return std::unexpected(limit.error());
  }
  limits.all = *limit;
  limits.own_rate = *reader.number("rate") != std::nullopt;
  const auto weight = reader.number("weight");
  if (!weight) {
    return std::unexpected(weight.error());
  }
  limits.weight = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(weight->value_or(1), std::numeric_limits<std::uint32_t>::max()));
  if (const ExactJson* const classes = json->member("classes")) {
    if (auto good = read_classes(*classes, limits); !good) {
      return std::unexpected(good.error());
    }
  }
  return limits;
}

void write_number(JsonWriter& json, std::string_view name, std::uint64_t number, bool given) {
  json.key(name);
  if (given) {
    json.number(static_cast<std::int64_t>(number));
  } else {
    json.null();
  }
}

void write_limit(JsonWriter& json, const core::CallLimit& limit, bool has_rate) {
  write_number(json, "rate", limit.rate, has_rate);
  write_number(json, "burst", limit.burst, has_rate);
  write_number(json, "in_flight", limit.in_flight, limit.in_flight != 0);
}

/// As PUT takes it.
void write_limits(JsonWriter& json, const core::TenantLimits& limits) {
  write_limit(json, limits.all, limits.own_rate);
  json.field("weight", limits.weight);
  json.key("classes");
  json.begin_object();
  for (std::size_t i = 0; i < core::rate_classes; ++i) {
    if (limits.classes[i].any()) {
      json.key(core::rate_class_names[i]);
      json.begin_object();
      write_limit(json, limits.classes[i], limits.classes[i].rate != 0);
      json.end_object();
    }
  }
  json.end_object();
}

/// 850000 → 0.85.
void write_share(JsonWriter& json, std::string_view name, limits::Millionths share) {
  std::string digits = std::to_string(share % limits::all_of_it);
  digits.insert(0, 6 - digits.size(), '0');
  digits.erase(digits.find_last_not_of('0') + 1);
  json.key(name);
  json.whole(std::to_string(share / limits::all_of_it) + (digits.empty() ? "" : '.' + digits));
}

void write_state(JsonWriter& json, const limits::Admissions::State& state) {
  write_share(json, "factor", state.factor);
  write_share(json, "load", state.load);
  write_share(json, "error_rate", state.error_rate);
  json.key("remaining");
  json.begin_object();
  const auto write = [&json](std::string_view name, const std::optional<std::uint64_t>& left) {
    if (left) {
      json.field(name, *left);
    }
  };
  write("global", state.remaining.global);
  write("tenant", state.remaining.tenant);
  json.key("classes");
  json.begin_object();
  for (std::size_t i = 0; i < core::rate_classes; ++i) {
    write(core::rate_class_names[i], state.remaining.classes[i]);
  }
  json.end_object();
  json.end_object();
}

}  // namespace

void get_limits(const Services& services, Call& call) {
  const std::optional<core::Tenant> stored = find_tenant(services.submitter, call.param);
  const auto tenant = stored ? services.tenants.find(stored->id) : nullptr;
  if (!tenant) {
    call.answer.refuse(Error{ErrorKind::not_found, "no tenant has the id " + call.param});
    return;
  }
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  write_limits(json, tenant->limits);
  write_state(json, services.admissions.state(call.answer.begun_at(), *tenant));
  json.end_object();
  call.answer(std::move(response));
}

/// The next request of the tenant is measured by them, on every thread.
Write set_limits(const Services& services, Call& call) {
  const std::optional<core::Tenant> stored = find_tenant(services.submitter, call.param);
  if (!stored) {
    return Error{ErrorKind::not_found, "no tenant has the id " + call.param};
  }
  Result<core::TenantLimits> limits = read_limits(call.request.body);
  if (!limits) {
    return limits.error();
  }
  core::SetTenantLimits command{stored->id, *limits};
  return Planned{.command = std::move(command),
                 .tell =
                     [limits = std::move(*limits)](const core::Reply& /*reply*/) {
                       http::Response response;
                       JsonWriter json(response.body);
                       json.begin_object();
                       write_limits(json, limits);
                       json.end_object();
                       return response;
                     },
                 .done = when_done([name = stored->name] {
                   observe::log(observe::Level::info, "tenant.limits_changed", {{"tenant", name}});
                 })};
}

}  // namespace hk::api::admin
