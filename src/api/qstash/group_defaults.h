/// The option headers that a URL group gives to what is published to it, read from the durable
/// view: each group once per request. Made by a handler, used on its I/O thread.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "api/qstash/publish_options.h"
#include "core/reader.h"
#include "engine/submitter.h"

namespace hk::api::qstash {

class GroupDefaults {
 public:
  GroupDefaults(engine::Submitter& submitter, core::TenantId tenant)
      : submitter_(submitter), tenant_(tenant) {}

  /// Adds to `fields` what neither they nor `query` give. A group that is not there has none.
  void add_to(std::vector<net::Field>& fields, const QueryOptions& query, const std::string& group);

 private:
  engine::Submitter& submitter_;
  const core::TenantId tenant_;
  std::shared_ptr<core::Reader> view_{};
  std::map<std::string, std::vector<core::Header>> known_;
};

}  // namespace hk::api::qstash
