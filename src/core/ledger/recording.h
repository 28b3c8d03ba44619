/// Ledger::record() for a payload of any kind. For .cpp files of the ledger.
#pragma once

#include "core/ledger/ledger.h"

namespace hk::core::ledger {

template <class One>
std::uint64_t Ledger::record(HotBook& book, const One& payload) {
  std::string bytes;
  if constexpr (std::is_same_v<One, TransactionMade>) {
    bytes.reserve(192);
    encode(payload, bytes);
    return record(book, "transaction", std::move(bytes), payload.recorded_at);
  } else {
    const Payload any(payload);
    encode(any, bytes);
    return record(book, kind_of(any), std::move(bytes), payload.recorded_at);
  }
}

}  // namespace hk::core::ledger
