/// Rows of one table that the batch has changed so far, on top of what the reader shows. They can
/// be taken back to a mark: a group of operations is all or nothing, and the batch is not.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "core/batch.h"

namespace hk::core::ledger {

template <class R>
class Overlay {
 public:
  explicit Overlay(Batch& batch) : batch_(batch) {}
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  std::optional<R> get(const KeyOf<R>& key) {
    const auto found = changed_.find(key);
    return found != changed_.end() ? found->second : batch_.reader().get<R>(key);
  }
  void put(R row) {
    KeyOf<R> key = own_key(row);
    change(std::move(key), std::move(row));
  }
  void erase(const KeyOf<R>& key) { change(key, std::nullopt); }

  /// Rows of the range as they are now, in order.
  std::vector<R> scan(const Range<R>& range, std::size_t limit = all_rows) {
    std::map<KeyOf<R>, R> rows;
    // As many more as could be erased.
    std::size_t erased = 0;
    for (const auto& [key, row] : changed_) {
      erased += row ? 0 : 1;
    }
    for (R& row :
         batch_.reader().template scan<R>(range, limit == all_rows ? all_rows : limit + erased)) {
      KeyOf<R> key = own_key(row);
      rows.insert_or_assign(std::move(key), std::move(row));
    }
    for (const auto& [key, row] : changed_) {
      if (range.begin().is_behind(key) || !range.end().is_behind(key)) {
        continue;
      }
      if (row) {
        rows.insert_or_assign(key, *row);
      } else {
        rows.erase(key);
      }
    }
    std::vector<R> out;
    for (auto& [key, row] : rows) {
      if (out.size() == limit) {
        break;
      }
      out.push_back(std::move(row));
    }
    return out;
  }

  [[nodiscard]] std::size_t mark() const { return undo_.size(); }
  void back_to(std::size_t mark) {
    for (; undo_.size() > mark; undo_.pop_back()) {
      Undo& last = undo_.back();
      if (last.before) {
        changed_[last.key] = std::move(*last.before);
      } else {
        changed_.erase(last.key);
      }
    }
  }
  /// What was changed so far stays.
  void settle() { undo_.clear(); }

  void flush() {
    for (auto& [key, row] : changed_) {
      if (row) {
        batch_.put(Put<R>{std::move(*row)});
      } else {
        batch_.put(Erase<R>(key));
      }
    }
    changed_.clear();
    undo_.clear();
  }

 private:
  struct Undo {
    KeyOf<R> key{};
    std::optional<std::optional<R>> before{};  ///< none: it was not changed yet
  };

  void change(KeyOf<R> key, std::optional<R> row) {
    auto [at, fresh] = changed_.try_emplace(key);
    Undo undo{.key = std::move(key)};
    if (!fresh) {
      undo.before.emplace(std::move(at->second));
    }
    undo_.push_back(std::move(undo));
    at->second = std::move(row);
  }

  Batch& batch_;
  std::map<KeyOf<R>, std::optional<R>> changed_;
  std::vector<Undo> undo_;
};

}  // namespace hk::core::ledger
