#include "api/sources/event_message.h"

#include <algorithm>
#include <array>
#include <utility>

#include "api/aws/message_attributes.h"
#include "api/options.h"
#include "api/text.h"
#include "base/ascii.h"
#include "base/date.h"
#include "base/encoding.h"

namespace hk::api::sources {

namespace {

/// Of one connection, of the person behind a browser, or carried in another way.
bool never_forwarded(std::string_view name) {
  constexpr std::array<std::string_view, 17> names = {
      "authorization",       "cookie",           "host",         "content-length",
      "connection",          "keep-alive",       "te",           "trailer",
      "transfer-encoding",   "upgrade",          "expect",       "proxy-authenticate",
      "proxy-authorization", "proxy-connection", "content-type", "traceparent",
      "tracestate",
  };
  return starts_with_ignoring_case(name, "hikyaku-") ||  // only ours say what they say
         std::ranges::any_of(names,
                             [&](std::string_view one) { return equals_ignoring_case(one, name); });
}

std::vector<std::string> connection_fields(const std::vector<net::Field>& fields) {
  std::vector<std::string> names;
  for (const net::Field& field : fields) {
    if (equals_ignoring_case(field.name, "connection")) {
      for (std::string& name : split_commas(field.value)) {
        names.push_back(std::move(name));
      }
    }
  }
  return names;
}

bool is_wanted(const Settings& settings, std::string_view name) {
  const auto is_name = [name](const std::string& one) { return equals_ignoring_case(one, name); };
  if (settings.forward_all) {
    return !never_forwarded(name) && !equals_ignoring_case(name, settings.scheme.header);
  }
  return !never_forwarded(name) && std::ranges::any_of(settings.forwarded, is_name);
}

/// What a delivery may have, and no more: the rest stays here.
void forward(const Options& options, const Settings& settings, std::vector<net::Field>&& fields,
             std::vector<core::Header>& out) {
  std::size_t bytes = 0;
  for (const core::Header& one : out) {
    bytes += one.name.size() + one.value.size();
  }
  const auto& may_send = options.check_received ? options.check_received : options.check_header;
  const std::vector<std::string> connection = connection_fields(fields);
  for (net::Field& field : fields) {
    const bool of_connection = std::ranges::any_of(
        connection, [&](const std::string& one) { return equals_ignoring_case(one, field.name); });
    const std::size_t more = field.name.size() + field.value.size();
    if (of_connection || !is_wanted(settings, field.name) || !may_send(field.name, field.value) ||
        out.size() >= options.forward_fields_max || bytes + more > options.forward_bytes_max) {
      continue;
    }
    bytes += more;
    out.push_back({std::move(field.name), std::move(field.value)});
  }
}

struct SaidEvent {
  std::string_view name;
  std::string value;
};

std::vector<SaidEvent> what_is_said(const OpenSource& source, const EventContent& content) {
  std::vector<SaidEvent> said = {{"Hikyaku-Source", source.settings.name},
                                 {"Hikyaku-Event-Id", header_text(content.names.id)},
                                 {"Hikyaku-Event-Type", header_text(content.names.type)},
                                 {"Hikyaku-Received-At", rfc3339(content.received_at)}};
  if (content.unverified) {
    said.push_back({"Hikyaku-Unverified", "true"});
  }
  std::erase_if(said, [](const SaidEvent& one) { return one.value.empty(); });
  return said;
}

}  // namespace

std::string header_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c > ' ' && c < 0x7f && c != '%') {
      out.push_back(c);
    } else {
      out.push_back('%');
      append_hex(out, std::string_view(&c, 1));
    }
  }
  return out;
}

core::InboundEvent make_event(const Options& options, const OpenSource& source,
                              EventContent content) {
  core::InboundEvent event{.bytes = content.body.size()};
  core::Publish& publish = event.publish;
  publish.message = std::make_unique<core::Message>(*source.to_send);
  publish.flow = source.flow;
  publish.delay = source.delay;
  core::Message& message = *publish.message;
  message.trace = content.trace;
  message.caller_ip = std::move(content.remote);
  std::vector<SaidEvent> said = what_is_said(source, content);
  if (message.pull) {
    for (SaidEvent& one : said) {
      message.pull->attributes.push_back({std::string(one.name), "String", std::move(one.value)});
    }
    if (aws::check_body(content.body)) {
      message.body = std::move(content.body);
    } else {
      message.pull->attributes.push_back({"encoding", "String", "base64"});
      message.body = base64(content.body);
    }
  } else {
    const auto type = std::ranges::find_if(content.fields, [](const net::Field& one) {
      return equals_ignoring_case(one.name, "content-type");
    });
    if (type != content.fields.end() && options.check_header("Content-Type", type->value)) {
      message.headers.push_back({"Content-Type", type->value});
    }
    for (SaidEvent& one : said) {
      message.headers.push_back({std::string(one.name), std::move(one.value)});
    }
    forward(options, source.settings, std::move(content.fields), message.headers);
    message.body = std::move(content.body);
  }
  event.id = std::move(content.names.id);
  event.type = std::move(content.names.type);
  return event;
}

}  // namespace hk::api::sources
