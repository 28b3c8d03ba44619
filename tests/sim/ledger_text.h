/// Small things that the files of the ledger's reference share.
#pragma once

#include <string>

#include "sim/model_ledger.h"

namespace hk::sim {

inline bool compares(const Wide& value, ledger::Compare compare, const Wide& bound) {
  switch (compare) {
    case ledger::Compare::gte: return value >= bound;
    case ledger::Compare::gt: return value > bound;
    case ledger::Compare::lte: return value <= bound;
    case ledger::Compare::lt: return value < bound;
    case ledger::Compare::eq: return value == bound;
  }
  return false;
}

inline LedgerItem refused_with(ledger::Code code) { return {.code = code}; }
inline LedgerItem refused_member(std::string member) {
  return {.code = ledger::Code::invalid, .members = {std::move(member)}};
}

}  // namespace hk::sim
