/// Room that tenants share for what somebody else decides how long it stays: answers that clients
/// have not read yet, long answers of receivers. One tenant may hold so many times what is left, as
/// with attempts, so that others find some at once. From any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>

#include "core/message.h"

namespace hk::engine {

class TenantRoom {
 public:
  explicit TenantRoom(std::size_t size) : size_(size) {}

  /// So much of it, for as long as it is held; null: there is none for this tenant. In an empty
  /// room there is always enough.
  static std::shared_ptr<const void> take(const std::shared_ptr<TenantRoom>& room,
                                          core::TenantId tenant, std::size_t amount = 1);
  [[nodiscard]] std::size_t taken() const;
  /// How often there was none.
  [[nodiscard]] std::uint64_t refused() const;

 private:
  struct Part;
  void leave(core::TenantId tenant, std::size_t amount);

  const std::size_t size_;
  mutable std::mutex mutex_;
  std::size_t taken_ = 0;
  std::uint64_t refused_ = 0;
  std::map<core::TenantId, std::size_t> by_tenant_;
};

}  // namespace hk::engine
