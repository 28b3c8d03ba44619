/// The one door to the core for adapters and delivery. Commands go in from any thread; a reply
/// comes back on the mailbox's thread, and only after everything the command decided is durable.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "core/command.h"
#include "core/reader.h"
#include "engine/weight.h"

namespace hk::engine {

/// Thrown by reads: the partition that would know is not open here. To be told as `unavailable`.
struct PartitionUnavailable : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Done = std::move_only_function<void(core::Reply)>;

struct Finished {
  Done done{};
  core::Reply reply{};
};

/// Where replies are handed over, many at a time. Called from the sync thread: implementations pass
/// the vector on to their own thread with one wake-up.
class Mailbox {
 public:
  Mailbox() = default;
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;
  virtual ~Mailbox() = default;
  virtual void deliver(std::vector<Finished> finished) = 0;
};

struct Submission {
  core::Command command{};
  Done done{};                         ///< may be empty: nobody waits
  Mailbox* mailbox = nullptr;          ///< outlives the engine; null only if done is empty
  std::size_t writes_more = 0;         ///< bytes that it may make the core write, beyond its own
  std::shared_ptr<const void> held{};  ///< let go once it is durable, or refused
  Weight weight{};                     ///< the inbox's to say: weighing reads all that it carries
};

class Submitter {
 public:
  Submitter() = default;
  Submitter(const Submitter&) = delete;
  Submitter& operator=(const Submitter&) = delete;
  virtual ~Submitter() = default;

  /// Takes all of them in order, or as many as the inbox has room for: those it cannot take are
  /// left in `batch` (nothing of them was done: answer `unavailable` with Retry-After). Never
  /// blocks.
  virtual void submit(std::vector<Submission>& batch) = 0;

  /// A view of what is durable in the tenant's partition, for reads on any thread: contains every
  /// write already acknowledged. Never null. Throws PartitionUnavailable.
  virtual std::shared_ptr<core::Reader> durable_view(core::TenantId tenant) = 0;
  /// The same of every open partition, for reads across tenants. Throws PartitionUnavailable while
  /// one has failed: what it has would seem not to exist.
  virtual std::vector<std::shared_ptr<core::Reader>> durable_views() = 0;
};

}  // namespace hk::engine
