// What services send to inbound sources. The first line is the settings of a source as JSON, then
// come header lines, an empty line and the body: settings that are accepted are read the same way
// when they are written in full; whatever the headers say, a request is either verified or rejected
// with a reason that is JSON; and what nobody has signed is never verified.
#include <string>
#include <vector>

#include "api/sources/event_message.h"
#include "api/sources/settings.h"
#include "api/sources/verify/hint.h"
#include "api/sources/verify/verify.h"
#include "base/assert.h"
#include "fuzz/text.h"
#include "net/header.h"

using namespace hk;
using namespace hk::api::sources;

namespace {

std::vector<net::Field> take_fields(std::string_view& text) {
  constexpr std::size_t fields_max = 64;
  std::vector<net::Field> fields;
  for (std::size_t i = 0; i < fields_max && !text.empty(); ++i) {
    const std::string_view line = fuzz::take_line(text);
    if (line.empty()) {
      break;
    }
    const std::size_t colon = std::min(line.find(':'), line.size());
    fields.push_back({std::string(line.substr(0, colon)),
                      std::string(trim(line.substr(std::min(colon + 1, line.size()))))});
  }
  return fields;
}

bool is_json_object(const std::string& text) {
  const auto json = ExactJson::parse(text, 16);
  return json && json->kind == ExactJson::Kind::object;
}

void check_request(const Scheme& scheme, const Received& request) {
  // Nobody who makes these inputs knows it.
  const Secret unknown("whsec_dW5rbm93bi11bmtub3duLXVua25vd24tdW5rbm93bg==");
  std::vector<Key> keys;
  if (auto key = make_key(scheme, "sec_1", unknown, never)) {
    keys.push_back(std::move(*key));
  }
  const Verified verified = verify(scheme, keys, request);
  HK_ASSERT(verified.has_value() == (scheme.preset == Preset::none));
  if (!verified) {
    HK_ASSERT(!name_of(verified.error().fault).empty() && !verified.error().message.empty());
    HK_ASSERT(is_json_object(verified.error().details));
    HK_ASSERT(answer_to(verified.error().fault).status >= 400);
    static_cast<void>(find_hint(scheme, keys, request, {}));
  }
  static_cast<void>(handshake(scheme, keys, request));
  static_cast<void>(verified_handshake(scheme, request));
  const auto names = name_event(scheme, request);
  if (names) {
    HK_ASSERT(names->id.size() <= 256 && names->type.size() <= 256);
    HK_ASSERT(names->id.empty() == (scheme.event_id.kind == Locator::Kind::none));
    HK_ASSERT(net::safe_header("X", header_text(names->id)));
    HK_ASSERT(net::safe_header("X", header_text(names->type)));
  } else {
    HK_ASSERT(names.error().fault == Fault::body_not_json);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::as_text(data, size);
  const std::string_view first = fuzz::take_line(text);
  const auto settings = ExactJson::parse(first, 16);
  if (!settings || settings->kind != ExactJson::Kind::object) {
    return 0;
  }
  const auto read = read_settings(*settings);
  if (!read) {
    HK_ASSERT(!read.error().empty() && !read.error().front().detail.empty());
    return 0;
  }
  const auto in_full = ExactJson::parse(read->document, 16);
  HK_ASSERT(in_full.has_value());
  const auto again = read_settings(*in_full);
  HK_ASSERT(again.has_value() && again->document == read->document);
  const std::vector<net::Field> fields = take_fields(text);
  check_request(read->settings.scheme, {.method = "POST",
                                        .target = "/in/s?key=x",
                                        .fields = fields,
                                        .body = text,
                                        .at = moment_from_ms(1'614'265'330'000)});
  return 0;
}
