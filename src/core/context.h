/// What every component of the machine works with: the bounds, randomness, the batch that is being
/// decided (with its time, its mutations and its effects), and what only grows. One per Machine.
#pragma once

#include "base/random.h"
#include "core/batch.h"
#include "core/ledger/sealing.h"
#include "core/limits.h"
#include "core/progress.h"
#include "core/pull/push_hosts.h"

namespace hk::core {

struct Context {
  const Limits limits;
  const PartitionId partition;
  Rng& rng;
  const PushHosts push_hosts;
  const Sealing sealing{};
  Batch batch{};
  Progress progress{};
  bool starting = true;  ///< false: a drain. Nothing new starts or is handed out
};

}  // namespace hk::core
