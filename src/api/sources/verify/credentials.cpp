// Services that show a secret instead of signing: Microsoft Graph, Basic, API keys.
#include <algorithm>

#include "api/sources/verify/verify.h"
#include "base/encoding.h"
#include "base/json_reader.h"
#include "edge/http/message.h"

namespace hk::api::sources {

namespace {

/// All are compared, so that the time says nothing about which one it was.
bool equals_a_live_key(std::span<const Key> keys, Moment at, std::string_view given) {
  bool found = false;
  for (const Key& key : keys) {
    if (key.live(at)) {
      found = security::constant_time_equal(key.bytes.reveal(), given) || found;
    }
  }
  return found;
}

/// The clientState of each notification; nullopt: it is not JSON. One that is none is "".
std::optional<std::vector<std::string>> client_states(std::string_view body) {
  constexpr std::size_t notifications_max = 10'000;
  std::vector<std::string> states;
  JsonReader reader(body, 128);
  if (reader.kind() != JsonReader::Kind::object) {
    reader.skip();
    reader.end();
    return reader.failed() ? std::nullopt : std::optional(std::move(states));
  }
  reader.begin_object();
  std::string_view name;
  while (reader.next_member(name)) {
    if (name != "value" || reader.kind() != JsonReader::Kind::array) {
      reader.skip();
      continue;
    }
    reader.begin_array();
    while (reader.next_item()) {
      std::string state;
      if (reader.kind() != JsonReader::Kind::object) {
        reader.skip();
      } else {
        reader.begin_object();
        std::string_view member;
        while (reader.next_member(member)) {
          if (member == "clientState" && reader.kind() == JsonReader::Kind::string) {
            state = std::string(reader.string());
          } else {
            reader.skip();
          }
        }
      }
      if (states.size() < notifications_max) {
        states.push_back(std::move(state));
      } else {
        states.front().clear();  // too many to believe
      }
    }
  }
  reader.end();
  return reader.failed() ? std::nullopt : std::optional(std::move(states));
}

}  // namespace

Verified verify_msgraph(std::span<const Key> keys, const Received& request) {
  const auto states = client_states(request.body);
  if (!states) {
    return not_json("/value");
  }
  const bool all = std::ranges::all_of(*states, [&](const std::string& state) {
    return equals_a_live_key(keys, request.at, state);
  });
  return all && !states->empty() ? Verified{} : Verified(credentials_mismatch(keys, request));
}

Verified verify_basic(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  constexpr std::string_view word = "Basic ";
  const std::string_view given = request.header("Authorization").value_or("");
  if (starts_with_ignoring_case(given, word)) {
    if (const auto decoded = unbase64(trim(given.substr(word.size())))) {
      const std::string_view both = *decoded;
      const std::size_t colon = both.find(':');
      if (colon != std::string_view::npos) {
        const bool user = security::constant_time_equal(both.substr(0, colon), scheme.username);
        if (equals_a_live_key(keys, request.at, both.substr(colon + 1)) && user) {
          return {};
        }
      }
    }
  }
  return credentials_mismatch(keys, request);
}

Verified verify_apikey(const Scheme& scheme, std::span<const Key> keys, const Received& request) {
  if (!scheme.header.empty()) {
    const auto given = request.header(scheme.header);
    return given && equals_a_live_key(keys, request.at, *given)
               ? Verified{}
               : Verified(credentials_mismatch(keys, request));
  }
  const auto pairs = http::parse_query(request.query());
  const bool found =
      pairs && std::ranges::any_of(*pairs, [&](const auto& pair) {
        return pair.first == scheme.query && equals_a_live_key(keys, request.at, pair.second);
      });
  return found ? Verified{} : Verified(credentials_mismatch(keys, request));
}

}  // namespace hk::api::sources
