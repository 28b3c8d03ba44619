#include "api/sqs/batch_shape.h"

#include <set>

#include "api/aws/names.h"

namespace hk::api::sqs {

std::optional<std::vector<std::string>> batch_ids(Exchange& exchange, aws::Input& input,
                                                  std::vector<aws::Input>& entries) {
  using aws::ErrorCode;
  std::vector<std::string> ids;
  for (aws::Input& entry : entries) {
    ids.emplace_back(entry.text("Id").value_or(""));
  }
  const auto refused = [&](ErrorCode code, std::string text) {
    exchange.refuse({code, std::move(text)});
    return std::nullopt;
  };
  if (const aws::Refusal* const malformed = input.malformed()) {
    exchange.refuse(*malformed);
    return std::nullopt;
  }
  if (ids.empty()) {
    return refused(ErrorCode::empty_batch_request,
                   "There should be at least one entry in the request.");
  }
  if (ids.size() > 10) {
    return refused(ErrorCode::too_many_entries_in_batch_request,
                   "Maximum number of entries per request are 10. You have sent " +
                       std::to_string(ids.size()) + ".");
  }
  std::set<std::string> seen;
  for (const std::string& id : ids) {
    if (!aws::valid_batch_id(id)) {
      return refused(ErrorCode::invalid_batch_entry_id,
                     "A batch entry id can only contain alphanumeric characters, hyphens and "
                     "underscores. It can be at most 80 letters long.");
    }
    if (!seen.insert(id).second) {
      return refused(ErrorCode::batch_entry_ids_not_distinct, "Id " + id + " repeated.");
    }
  }
  return ids;
}

}  // namespace hk::api::sqs
