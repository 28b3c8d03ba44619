/// Topics: names for several destinations. Publishing to one makes a message for each of its
/// endpoints. A component (component.h).
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>

#include "core/command.h"
#include "core/component.h"

namespace hk::core {

class Messages;
class Tenants;

/// What the fan-outs of one command may become: it is one atomic write, and everybody waits for it.
struct FanOutRoom {
  std::size_t messages = 20'000;
  std::size_t bytes = std::size_t{128} * 1024 * 1024;

  /// invalid_argument: more than there is.
  Result<void> take(const UrlGroup& group, const Message& prototype);
};

class Topics : Component {
 public:
  Topics(Context& context, const Tenants& tenants, Messages& messages)
      : Component(context), tenants_(tenants), messages_(messages) {}

  void recover(Reader& reader);
  Reply execute(TopicCommand&& command);

  [[nodiscard]] bool contains(TenantId tenant, const std::string& topic) const {
    return url_groups_.contains({tenant, topic});
  }
  /// One independent message per endpoint that the topic has now, each with its own dedup decision:
  /// later changes of the topic do not touch them.
  Result<FannedOut> fan_out(const Publish& command, FanOutRoom& room);

 private:
  Reply decide(UpsertEndpoints command);
  Reply decide(const RemoveEndpoints& command);
  Reply decide(SetGroupOptions command);
  Reply decide(const DeleteUrlGroupCommand& command);

  /// In memory and in the batch; nothing else changes either.
  void store(UrlGroup group);
  void remove(TenantId tenant, const std::string& topic);

  const Tenants& tenants_;
  Messages& messages_;

  std::map<std::pair<TenantId, std::string>, UrlGroup> url_groups_;
};

}  // namespace hk::core
