#include "api/sources/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <initializer_list>
#include <span>

#include "api/text.h"
#include "base/ascii.h"
#include "base/json.h"

namespace hk::api::sources {

namespace {

using Json = ExactJson;

constexpr std::int64_t window_max = 315'360'000;  // ten years
constexpr std::int64_t tolerance_max = 86'400;
constexpr std::int64_t body_bytes_limit = 10 * (std::int64_t{1} << 20U);
constexpr std::int64_t rate_max = 100'000;
constexpr std::size_t name_bytes_max = 63;
constexpr std::size_t forwarded_max = 64;
constexpr std::size_t text_bytes_max = 256;
constexpr std::size_t url_bytes_max = 8192;

bool is_token_text(std::string_view text) {
  return !text.empty() && text.size() <= text_bytes_max && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || std::string_view("!#$%&'*+-.^_`|~").contains(c);
  });
}

/// Reads the members of one object, and notes all that is wrong with them.
class Fields {
 public:
  Fields(const Json* object, std::string at, WrongFields& wrong)
      : object_(object), at_(std::move(at)), wrong_(wrong) {
    if (object_ != nullptr && object_->kind == Json::Kind::null) {
      object_ = nullptr;
    }
    if (object_ != nullptr && object_->kind != Json::Kind::object) {
      note("", "must be an object");
      object_ = nullptr;
    }
  }

  void note(std::string_view name, std::string detail) {
    std::string pointer = at_;
    if (!name.empty()) {
      pointer += '/';
      for (const char c : name) {
        pointer += c == '~' ? std::string("~0") : c == '/' ? std::string("~1") : std::string(1, c);
      }
    }
    wrong_.push_back({std::move(pointer), std::move(detail)});
  }

  void only(std::initializer_list<std::string_view> names) {
    only(std::span(names.begin(), names.size()));
  }
  void only(std::span<const std::string_view> names) {
    if (object_ == nullptr) {
      return;
    }
    for (const auto& [name, value] : object_->members) {
      if (std::ranges::find(names, std::string_view(name)) == names.end()) {
        std::string known;
        for (const std::string_view one : names) {
          known += (known.empty() ? "" : ", ") + std::string(one);
        }
        note(name, "is not known here; there are " + known);
      }
    }
  }

  /// Null: it is absent or null.
  [[nodiscard]] const Json* find(std::string_view name) const {
    const Json* const value = object_ == nullptr ? nullptr : object_->member(name);
    return value == nullptr || value->kind == Json::Kind::null ? nullptr : value;
  }
  [[nodiscard]] Fields object(std::string_view name) {
    return {find(name), at_ + '/' + std::string(name), wrong_};
  }

  std::optional<std::string> text(std::string_view name, std::size_t bytes_max = text_bytes_max) {
    const Json* const value = find(name);
    if (value == nullptr) {
      return std::nullopt;
    }
    if (value->kind != Json::Kind::string || value->text.empty() ||
        value->text.size() > bytes_max) {
      note(name, "must be a text of 1 to " + std::to_string(bytes_max) + " bytes");
      return std::nullopt;
    }
    return value->text;
  }
  bool truth(std::string_view name, bool otherwise) {
    const Json* const value = find(name);
    if (value == nullptr) {
      return otherwise;
    }
    if (value->kind != Json::Kind::boolean) {
      note(name, "must be true or false");
      return otherwise;
    }
    return value->truth;
  }
  std::optional<std::int64_t> number(std::string_view name, std::int64_t least, std::int64_t most) {
    const Json* const value = find(name);
    if (value == nullptr) {
      return std::nullopt;
    }
    std::int64_t number = 0;
    const char* const end = value->text.data() + value->text.size();
    const auto [at, error] = std::from_chars(value->text.data(), end, number);
    if (value->kind != Json::Kind::number || error != std::errc{} || at != end || number < least ||
        number > most) {
      note(name,
           "must be a whole number from " + std::to_string(least) + " to " + std::to_string(most));
      return std::nullopt;
    }
    return number;
  }
  /// Its place among the names; 0 if it is absent or wrong.
  template <std::size_t N>
  std::size_t one_of(std::string_view name, const std::array<std::string_view, N>& names) {
    const Json* const value = find(name);
    if (value == nullptr) {
      return 0;
    }
    const auto found = std::ranges::find(names, std::string_view(value->text));
    if (value->kind != Json::Kind::string || found == names.end()) {
      std::string known;
      for (const std::string_view one : names) {
        known += (known.empty() ? "" : ", ") + std::string(one);
      }
      note(name, "must be one of " + known);
      return 0;
    }
    return static_cast<std::size_t>(found - names.begin());
  }
  std::string header_name(std::string_view name) {
    auto given = text(name);
    if (given && !is_token_text(*given)) {
      note(name, "must be the name of a header");
      return {};
    }
    return given.value_or("");
  }

 private:
  const Json* object_;
  std::string at_;
  WrongFields& wrong_;
};

std::string read_source_name(Fields& fields) {
  std::string name = fields.text("name", name_bytes_max).value_or("");
  if (fields.find("name") == nullptr) {
    fields.note("name", "is required: 1 to 63 lower-case letters, digits and '-'");
    return name;
  }
  const bool good = !name.empty() && name.front() != '-' && std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || is_digit(c) || c == '-';
  });
  if (!name.empty() && !good) {
    fields.note("name",
                "must have lower-case letters, digits and '-' only, and not begin with '-'");
  } else if (name == "processors") {
    fields.note("name", "processors is reserved; choose another name");
  }
  return name;
}

Locator read_locator(Fields fields, bool of_id) {
  const std::string text = fields.text("from", 2 * text_bytes_max).value_or("");
  if (text.empty()) {
    return {};
  }
  const auto behind = [&](std::string_view prefix) { return text.substr(prefix.size()); };
  if (text.starts_with("header:") && is_token_text(behind("header:"))) {
    return {.kind = Locator::Kind::header, .text = behind("header:")};
  }
  if (text.starts_with("body:")) {
    if (auto pointer = parse_pointer(behind("body:"))) {
      return {.kind = Locator::Kind::body, .text = behind("body:"), .pointer = *pointer};
    }
  }
  if (text.starts_with("fixed:") && text.size() > 6) {
    return {.kind = Locator::Kind::fixed, .text = behind("fixed:")};
  }
  if (text == "content" && of_id) {
    return {.kind = Locator::Kind::content};
  }
  if (text == "none") {
    return {.kind = Locator::Kind::none};
  }
  fields.note("from", of_id ? "must be header:Name, body:/json/pointer, content, fixed:text or none"
                            : "must be header:Name, body:/json/pointer, fixed:text or none");
  return {};
}

HmacScheme read_hmac(Fields& fields, const Locator& event_id) {
  constexpr std::array<std::string_view, 3> algorithms = {"sha256", "sha1", "sha512"};
  constexpr std::array<security::Hash, 3> hashes = {security::Hash::sha256, security::Hash::sha1,
                                                    security::Hash::sha512};
  constexpr std::array<std::string_view, 3> encodings = {"hex", "base64", "base64url"};
  constexpr std::array<std::string_view, 2> units = {"s", "ms"};
  constexpr std::array<std::string_view, 3> keys = {"utf8", "hex", "base64"};
  HmacScheme hmac;
  hmac.hash = hashes[fields.one_of("algorithm", algorithms)];
  hmac.encoding = static_cast<SignatureText>(fields.one_of("encoding", encodings));
  hmac.header = fields.header_name("header");
  if (fields.find("header") == nullptr) {
    fields.note("header", "is required: the header that has the signature");
  }
  hmac.prefix = fields.text("prefix").value_or("");
  hmac.separator = fields.text("separator").value_or("");
  hmac.timestamp_header = fields.header_name("timestampHeader");
  hmac.milliseconds = fields.one_of("timestampUnit", units) == 1;
  hmac.key = static_cast<KeyText>(fields.one_of("key", keys));
  auto parsed =
      SignedText::parse(fields.text("template", SignedText::text_bytes_max).value_or("{body}"));
  if (!parsed) {
    fields.note("template", parsed.error().message);
    return hmac;
  }
  hmac.signed_text = std::move(*parsed);
  if (hmac.signed_text.has("timestamp") && hmac.timestamp_header.empty()) {
    fields.note("template", "has {timestamp}: say with timestampHeader where it is");
  }
  if (hmac.signed_text.has("id") && event_id.kind != Locator::Kind::header) {
    fields.note("template", "has {id}: say with dedup.from, as header:Name, where it is");
  }
  if (hmac.signed_text.has("url") && fields.find("url") == nullptr) {
    fields.note("template", "has {url}: say with verify.url which one the sender signs");
  }
  return hmac;
}

void read_verify(Fields fields, Scheme& scheme) {
  switch (scheme.preset) {
    case Preset::hmac:
      fields.only({"algorithm", "encoding", "header", "prefix", "separator", "template",
                   "timestampHeader", "timestampUnit", "key", "url"});
      scheme.hmac = read_hmac(fields, scheme.event_id);
      scheme.url = fields.text("url", url_bytes_max).value_or("");
      return;
    case Preset::qstash:
      fields.only({"url"});
      scheme.url = fields.text("url", url_bytes_max).value_or("");
      return;
    case Preset::basic:
      fields.only({"username"});
      scheme.username = fields.text("username").value_or("");
      if (fields.find("username") == nullptr) {
        fields.note("username", "is required");
      }
      return;
    case Preset::apikey:
      fields.only({"header", "query"});
      scheme.header = fields.header_name("header");
      scheme.query = fields.text("query").value_or("");
      if ((fields.find("header") == nullptr) == (fields.find("query") == nullptr)) {
        fields.note("", "must have header or query: where the key is");
      }
      return;
    case Preset::meta:
      fields.only({"verifyToken"});
      scheme.verify_token = fields.text("verifyToken").value_or("");
      return;
    case Preset::stripe:
    case Preset::github:
    case Preset::shopify:
    case Preset::slack:
    case Preset::standard:
    case Preset::twitter:
    case Preset::msgraph:
    case Preset::none: fields.only({}); return;
  }
}

/// "retryDelay" is "retry-delay".
std::string option_name(std::string_view name) {
  std::string out;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      out += '-';
    }
    out += lower_case(std::string_view(&c, 1));
  }
  return out;
}

Target read_target(Fields fields) {
  Target target;
  if (fields.find("app") != nullptr) {
    fields.note("app",
                "this server cannot deliver to a webhook application yet; use url, urlGroup "
                "or queue");
    return target;
  }
  fields.only({"url", "options", "urlGroup", "queue"});
  target.url = fields.text("url", url_bytes_max).value_or("");
  target.url_group = fields.text("urlGroup").value_or("");
  target.queue = fields.text("queue").value_or("");
  const int given = (fields.find("url") != nullptr ? 1 : 0) +
                    (fields.find("urlGroup") != nullptr ? 1 : 0) +
                    (fields.find("queue") != nullptr ? 1 : 0);
  if (given != 1) {
    fields.note("", "must have exactly one of url, urlGroup and queue");
  }
  if (fields.find("options") == nullptr) {
    return target;
  }
  if (fields.find("url") == nullptr) {
    fields.note("options", "belong to a url");
  }
  Fields options = fields.object("options");
  constexpr std::array<std::string_view, 10> names = {
      "retries",         "retryDelay",     "timeout",          "delay", "callback",
      "failureCallback", "flowControlKey", "flowControlValue", "label", "redactFields"};
  options.only(std::span(names));
  for (const std::string_view name : names) {
    const Json* const value = options.find(name);
    if (value == nullptr) {
      continue;
    }
    if ((value->kind != Json::Kind::string && value->kind != Json::Kind::number) ||
        value->text.empty() || value->text.size() > url_bytes_max) {
      options.note(name, "must be a text or a number");
      continue;
    }
    target.options.emplace_back(option_name(name), value->text);
  }
  return target;
}

void read_forwarded(Fields& fields, Settings& settings) {
  const Json* const value = fields.find("forwardHeaders");
  if (value == nullptr || (value->kind == Json::Kind::string && value->text == "*")) {
    return;
  }
  settings.forward_all = false;
  const bool list = value->kind == Json::Kind::array && value->items.size() <= forwarded_max;
  if (!list || !std::ranges::all_of(value->items, [](const Json& one) {
        return one.kind == Json::Kind::string && is_token_text(one.text);
      })) {
    fields.note("forwardHeaders", "must be \"*\", or a list of at most 64 names of headers");
    return;
  }
  for (const Json& one : value->items) {
    settings.forwarded.push_back(one.text);
  }
}

void write_given(JsonWriter& json, std::string_view name, const Json& object,
                 std::string_view otherwise) {
  const Json* const value = object.member(name);
  json.key(name);
  json.whole(value == nullptr || value->kind == Json::Kind::null ? std::string(otherwise)
                                                                 : value->to_text());
}

void write_locator(JsonWriter& json, const Json& object, std::string_view name) {
  const Json* const outer = object.member(name);
  const Json* const from = outer == nullptr ? nullptr : outer->member("from");
  json.key("from");
  json.whole(from == nullptr ? "null" : from->to_text());
}

std::string write_document(const Json& object, const Settings& settings) {
  std::string document;
  JsonWriter json(document);
  json.begin_object();
  json.field("name", settings.name);
  json.field("preset", name_of(settings.scheme.preset));
  json.field("enabled", settings.enabled);
  write_given(json, "verify", object, "{}");
  json.field("toleranceSeconds", settings.scheme.tolerance.count());
  json.key("dedup");
  json.begin_object();
  write_locator(json, object, "dedup");
  json.field("windowSeconds", settings.dedup_window);
  json.end_object();
  json.key("eventType");
  json.begin_object();
  write_locator(json, object, "eventType");
  json.end_object();
  write_given(json, "deliverTo", object, "{}");
  write_given(json, "forwardHeaders", object, "\"*\"");
  json.field("onInvalid", settings.quarantine ? "quarantine" : "reject");
  json.field("maxBodyBytes", settings.body_bytes_max);
  json.key("ratePerSecond");
  if (settings.per_second == 0) {
    json.null();
  } else {
    json.number(settings.per_second);
  }
  json.end_object();
  return document;
}

}  // namespace

std::optional<Preset> preset_of(std::string_view name) {
  const auto found = std::ranges::find(preset_names, name);
  return found == preset_names.end()
             ? std::nullopt
             : std::optional(static_cast<Preset>(found - preset_names.begin()));
}

std::expected<ReadSettings, WrongFields> read_settings(const ExactJson& object) {
  constexpr std::array<std::string_view, 2> on_invalid = {"quarantine", "reject"};
  WrongFields wrong;
  Fields fields(&object, "", wrong);
  fields.only({"name", "preset", "enabled", "secrets", "verify", "toleranceSeconds", "dedup",
               "eventType", "deliverTo", "forwardHeaders", "onInvalid", "maxBodyBytes",
               "ratePerSecond"});
  ReadSettings read;
  Settings& settings = read.settings;
  Scheme& scheme = settings.scheme;
  settings.name = read_source_name(fields);
  if (fields.find("preset") == nullptr) {
    fields.note("preset", "is required: who signs the requests, and how");
  }
  scheme.preset = static_cast<Preset>(fields.one_of("preset", preset_names));
  settings.enabled = fields.truth("enabled", true);
  scheme.tolerance =
      std::chrono::seconds(fields.number("toleranceSeconds", 1, tolerance_max).value_or(300));
  Fields dedup = fields.object("dedup");
  dedup.only({"from", "windowSeconds"});
  scheme.event_id = read_locator(dedup, true);
  settings.dedup_window =
      dedup.number("windowSeconds", -1, window_max).value_or(Settings::window_default);
  Fields type = fields.object("eventType");
  type.only({"from"});
  scheme.event_type = read_locator(type, false);
  read_verify(fields.object("verify"), scheme);
  if (fields.find("deliverTo") == nullptr) {
    fields.note("deliverTo", "is required: {\"url\"}, {\"urlGroup\"} or {\"queue\"}");
  } else {
    settings.target = read_target(fields.object("deliverTo"));
  }
  read_forwarded(fields, settings);
  settings.quarantine = fields.one_of("onInvalid", on_invalid) == 0;
  settings.body_bytes_max = static_cast<std::size_t>(
      fields.number("maxBodyBytes", 1, body_bytes_limit).value_or(Settings::body_bytes_default));
  settings.per_second =
      static_cast<std::uint32_t>(fields.number("ratePerSecond", 1, rate_max).value_or(0));
  if (!wrong.empty()) {
    return std::unexpected(std::move(wrong));
  }
  read.document = write_document(object, settings);
  return read;
}

void merge_patch(ExactJson& into, const ExactJson& patch) {
  for (const auto& [name, value] : patch.members) {
    const auto found = std::ranges::find(into.members, name, &std::pair<std::string, Json>::first);
    if (value.kind == Json::Kind::null) {
      if (found != into.members.end()) {
        into.members.erase(found);
      }
      continue;
    }
    Json* place = nullptr;
    if (found != into.members.end()) {
      place = &found->second;
    } else {
      into.members.emplace_back(name, Json{});
      place = &into.members.back().second;
    }
    if (value.kind != Json::Kind::object) {
      *place = value;
      continue;
    }
    if (place->kind != Json::Kind::object) {
      *place = Json{.kind = Json::Kind::object};
    }
    merge_patch(*place, value);
  }
}

}  // namespace hk::api::sources
