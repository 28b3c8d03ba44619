/// The history of accounts as the batch has left it so far. For the ledger's own .cpp files.
#pragma once

#include <vector>

#include "core/ledger/ledger.h"

namespace hk::core::ledger {

class Ledger::Fresh : public Sight {
 public:
  Fresh(Ledger& ledger, Reader& reader) : Sight(reader), ledger_(ledger) {}
  std::optional<Late> late(const KeyOf<Late>& key) override { return ledger_.late_.get(key); }

 protected:
  std::vector<Block> fresh_blocks(const Account& account, CurrencyNumber currency) override {
    std::vector<Block> out;
    for (auto one = ledger_.sealed_.rbegin(); one != ledger_.sealed_.rend(); ++one) {
      if (one->tenant == account.tenant && one->book == account.book &&
          one->account == account.number && one->currency == currency) {
        out.push_back(*one);
      }
    }
    return out;
  }

 private:
  Ledger& ledger_;
};

}  // namespace hk::core::ledger
