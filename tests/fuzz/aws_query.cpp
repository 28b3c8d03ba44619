// Forms, routes and parameters of arbitrary requests: what is read stands in the fields, and every
// reading ends in a value or in a refusal that can be told.
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "api/aws/errors.h"
#include "api/aws/names.h"
#include "api/aws/route.h"
#include "base/assert.h"
#include "base/json_string.h"
#include "fuzz/request_text.h"

using namespace hk;
using namespace hk::api::aws;

namespace {

void check_form(std::string_view text) {
  const Checked<QueryForm> form = QueryForm::parse(text);
  const auto pairs = http::parse_query(text);
  if (!form || !pairs) {
    return;
  }
  HK_ASSERT(form->size() == pairs->size());
  std::set<std::string> lists;
  for (const auto& [name, value] : *pairs) {
    HK_ASSERT(form->value(name).has_value() && form->given(name));
    lists.insert(name.substr(0, name.find('.')));
  }
  for (const std::string& list : lists) {
    for (const std::string& item : form->items(list)) {
      HK_ASSERT(item.starts_with(list) && form->given(item));
    }
  }
}

void read_everything(Input& input, int depth) {
  for (const std::string_view name :
       {"QueueUrl", "Id", "Attributes", "Tags", "AttributeNames", "MessageAttributes", "Entries",
        "PublishBatchRequestEntries", "DelaySeconds"}) {
    (void)input.given(name);
    (void)input.text(name);
    (void)input.integer(name, 0, 900);
    (void)input.boolean(name);
    (void)input.texts(name);
    (void)input.map(name);
    const MessageAttributes attributes = input.attributes(name);
    if (check_attributes(attributes)) {
      HK_ASSERT(md5_of_attributes(attributes).has_value() == !attributes.empty());
    }
    if (depth < 3) {
      for (Input& entry : input.entries(name)) {
        read_everything(entry, depth + 1);
      }
    }
  }
}

void check_told(Dialect dialect, const Refusal& refusal) {
  const http::Response response = error_response(dialect, refusal, "id");
  HK_ASSERT(response.status >= 400 && !response.body.empty() && valid_utf8(response.body));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const http::Request request = fuzz::read_request({reinterpret_cast<const char*>(data), size});
  check_form(request.body);
  check_form(request.query());
  (void)parse_queue_url(request.target);
  (void)parse_arn(request.body);

  Checked<Routed> routed = route(request);
  if (!routed) {
    check_told(dialect_of(request), routed.error());
    return 0;
  }
  const Dialect dialect = routed->dialect;
  HK_ASSERT(!routed->action.empty());
  Checked<Input> input = input_of(*routed, request);
  if (!input) {
    check_told(dialect, input.error());
    return 0;
  }
  read_everything(*input, 0);
  for (const Refusal* const refusal : {input->malformed(), input->invalid()}) {
    if (refusal != nullptr) {
      check_told(dialect, *refusal);
    }
  }
  return 0;
}
