/// Signs requests for AWS (Signature Version 4), by header. The day's key is kept. I/O thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/secret.h"
#include "base/time.h"
#include "core/message.h"

namespace hk::outbox {

struct AwsCredentials {
  std::string access_key_id{};
  Secret secret_access_key{};
  Secret session_token{};  ///< "" = they are not temporary
  std::string region{};
  std::string service{};
};

class V4Signer {
 public:
  explicit V4Signer(AwsCredentials credentials) : credentials_(std::move(credentials)) {}

  /// For a POST to the path "/" of `host`, which is the Host field as it will be sent: adds
  /// X-Amz-Date, X-Amz-Security-Token where there is one, and Authorization. Every header that is
  /// there before is signed, too, and must not be changed afterwards.
  void sign(std::string_view host, std::string_view body, Moment now,
            std::vector<core::Header>& headers);

 private:
  const Secret& key_of(std::string_view day);

  const AwsCredentials credentials_;
  std::string day_;
  Secret key_;  ///< for day_
};

}  // namespace hk::outbox
