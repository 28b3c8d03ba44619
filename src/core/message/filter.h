/// Which messages are meant: several values of one field are OR-ed, different fields AND-ed, none
/// means all. Pure, any thread.
#pragma once

#include <string>
#include <vector>

#include "core/message.h"

namespace hk::core {

struct LaneKey;

/// REQUIRES: the values of each are sorted, hosts in lower case.
struct MessageFilter {
  std::vector<std::string> urls{};
  std::vector<std::string> queues{};
  std::vector<std::string> topics{};
  std::vector<std::string> labels{};
  std::vector<std::string> flow_keys{};
  std::vector<std::string> caller_ips{};
  std::vector<std::string> hosts{};
  std::vector<std::string> paths{};
  std::vector<std::string> schedules{};
  Moment from{};
  Moment to{never};

  /// By all but the times, which mean another moment of a dead letter or of an event.
  [[nodiscard]] bool matches(const Message& message) const;
  /// By when it was accepted as well. Unless queues are named, only what the QStash API made is
  /// meant: queues of SQS and notifications of SNS are left alone.
  [[nodiscard]] bool selects(const Message& message) const;
  /// Could a message of this lane be selected? A queue's lane is of that queue; others have their
  /// flow key in the lane's name.
  [[nodiscard]] bool may_be_in(const LaneKey& lane) const;
  friend bool operator==(const MessageFilter&, const MessageFilter&) = default;
};

}  // namespace hk::core
