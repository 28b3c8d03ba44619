#include "api/qstash/given_options.h"

#include <algorithm>

#include "api/text.h"
#include "base/ascii.h"

namespace hk::api::qstash {

namespace {

constexpr std::string_view forward_prefix = "forward-";

constexpr std::array<std::string_view, option_count> option_names = {
    "Method",
    "Delay",
    "Not-Before",
    "Retries",
    "Retry-Delay",
    "Timeout",
    "Callback",
    "Failure-Callback",
    "Deduplication-Id",
    "Content-Based-Deduplication",
    "Label",
    "Flow-Control-Key",
    "Flow-Control-Value",
    "Redact-Fields",
    "Cron",
    "Header-Forward",
    "Queue-Name",
    "Schedule-Id",
    "Message-Group-Id",
};

/// `suffix` is what follows "Upstash-". Few names share a length, so at most three are compared.
Option option_of(std::string_view suffix) {
  for (std::size_t i = 0; i < option_count; ++i) {
    if (option_names[i].size() == suffix.size() && equals_ignoring_case(option_names[i], suffix)) {
      return static_cast<Option>(i);
    }
  }
  return Option::none;
}

/// Which section an option is of; its prefix is taken off. `suffix` is what follows "Upstash-".
Section& section_of(Given& given, std::string_view& suffix) {
  for (Section* const section : {&given.callback, &given.failure_callback}) {
    if (starts_with_ignoring_case(suffix, section->prefix)) {
      suffix.remove_prefix(section->prefix.size());
      return *section;
    }
  }
  return given;
}

/// Of one connection, or answered by us: never passed on by Upstash-Header-Forward.
bool stays_here(std::string_view name) {
  constexpr std::array<std::string_view, 16> names = {
      "authorization",
      "host",
      "content-length",
      "connection",
      "keep-alive",
      "proxy-authenticate",
      "proxy-authorization",
      "proxy-connection",
      "te",
      "trailer",
      "transfer-encoding",
      "upgrade",
      "expect",
      "content-type",
      "traceparent",
      "tracestate",
  };
  return std::ranges::any_of(names,
                             [&](std::string_view one) { return equals_ignoring_case(one, name); });
}

/// Framing and connection control of the publisher's own request: `headers: request.headers` sends
/// them along. They mean nothing to the destination, so they are left out instead of refused.
bool of_the_connection(std::string_view name) {
  constexpr std::array<std::string_view, 10> names = {
      "host", "connection", "content-length", "transfer-encoding", "keep-alive",
      "te",   "expect",     "upgrade",        "trailer",           "proxy-connection",
  };
  return std::ranges::any_of(names,
                             [&](std::string_view one) { return equals_ignoring_case(one, name); });
}

}  // namespace

std::unexpected<Error> Section::refused(Option option, std::string_view why) const {
  return fail(ErrorKind::invalid_argument,
              "Upstash-" + std::string(prefix) +
                  std::string(option_names[std::to_underlying(option)]) + ": " + std::string(why));
}

std::unexpected<Error> refused(Option option, std::string_view why) {
  return Section{}.refused(option, why);
}

Result<void> collect_fields(std::vector<net::Field>& fields, Given& given) {
  for (net::Field& field : fields) {
    switch (field.name.empty() ? '\0' : field.name.front()) {
      case 'u':
      case 'U': {
        if (!starts_with_ignoring_case(field.name, option_prefix)) {
          break;
        }
        std::string_view suffix = std::string_view(field.name).substr(option_prefix.size());
        Section& section = section_of(given, suffix);
        if (starts_with_ignoring_case(suffix, forward_prefix)) {
          const std::string_view name = suffix.substr(forward_prefix.size());
          if (!of_the_connection(name)) {
            section.forwards.push_back({std::string(name), std::move(field.value)});
          }
          break;
        }
        const Option option = option_of(suffix);
        if (option == Option::none) {
          break;
        }
        std::string*& slot = section.values[std::to_underlying(option)];
        if (slot != nullptr) {
          return section.refused(option, "the header is given twice; send it once");
        }
        slot = &field.value;
        break;
      }
      case 'c':
      case 'C':
        if (given.content_type == nullptr && equals_ignoring_case(field.name, "content-type")) {
          given.content_type = &field.value;
        }
        break;
      default: break;
    }
  }
  return {};
}

void collect_query(QueryOptions& query, Given& given) {
  // What the headers forward; the same name in the query does not come on top of it.
  const std::array<std::size_t, 3> from_headers = {given.forwards.size(),
                                                   given.callback.forwards.size(),
                                                   given.failure_callback.forwards.size()};
  for (auto& [name, value] : query) {
    std::string_view suffix = name;
    Section& section = section_of(given, suffix);
    if (suffix.starts_with(forward_prefix)) {
      const std::string_view forwarded = suffix.substr(forward_prefix.size());
      const std::size_t count = &section == &given.callback           ? from_headers[1]
                                : &section == &given.failure_callback ? from_headers[2]
                                                                      : from_headers[0];
      const bool in_headers = std::any_of(
          section.forwards.begin(), section.forwards.begin() + static_cast<std::ptrdiff_t>(count),
          [&](const core::Header& one) { return equals_ignoring_case(one.name, forwarded); });
      if (!in_headers && !of_the_connection(forwarded)) {
        section.forwards.push_back({std::string(forwarded), std::move(value)});
      }
      continue;
    }
    const Option option = option_of(suffix);
    if (option != Option::none && section[option] == nullptr) {
      section.values[std::to_underlying(option)] = &value;
    }
  }
}

void forward_all(const Options& options, const std::vector<net::Field>& fields, Given& given) {
  std::vector<std::string> connection;
  for (const net::Field& field : fields) {
    if (equals_ignoring_case(field.name, "connection")) {
      for (std::string& name : split_commas(field.value)) {
        connection.push_back(std::move(name));
      }
    }
  }
  for (const net::Field& field : fields) {
    const bool of_connection = std::ranges::any_of(
        connection, [&](const std::string& one) { return equals_ignoring_case(one, field.name); });
    if (!of_connection && !stays_here(field.name) &&
        !starts_with_ignoring_case(field.name, option_prefix) &&
        options.check_header(field.name, field.value)) {
      given.forwards.push_back({field.name, field.value});
    }
  }
}

bool is_option_header(std::string_view name) {
  if (!starts_with_ignoring_case(name, option_prefix)) {
    return false;
  }
  std::string_view suffix = name.substr(option_prefix.size());
  Given given;
  section_of(given, suffix);
  return starts_with_ignoring_case(suffix, forward_prefix) || option_of(suffix) != Option::none;
}

}  // namespace hk::api::qstash
