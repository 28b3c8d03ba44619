/// What one batch has decided so far: the mutations, in order, and the view of them that later
/// commands of the same batch need (the store shows only earlier batches). Events, expiries and
/// counters are gathered and written once per batch, not once per message.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/command.h"
#include "core/effect.h"
#include "core/mutation.h"
#include "core/reader.h"

namespace hk::core {

class Batch {
 public:
  /// A new batch begins. The reader shows every earlier one.
  void begin(Moment now, std::uint64_t number, Reader& reader);

  [[nodiscard]] Moment now() const { return now_; }

  // ---- what is true at this point of the batch ----
  template <class R>
  Maybe<R> get(const KeyOf<R>& key) {
    if (const auto found = changes<R>().find(key); found != changes<R>().end()) {
      return found->second ? seen<R>(mutations_[*found->second]) : Maybe<R>{};
    }
    return reader_->get<R>(key);
  }
  Reader& reader() { return *reader_; }

  // ---- what is decided ----
  template <class R>
  void put(Put<R> row) {
    if constexpr (TableOf<R>::seen == Seen::read_back) {
      note<R>(row.key(), mutations_.size());
    }
    mutations_.emplace_back(std::in_place_type<Put<R>>, std::move(row));
  }
  template <class R>
  void put(Erase<R> row) {
    if constexpr (TableOf<R>::seen == Seen::read_back) {
      note<R>(row.key, std::nullopt);
    }
    mutations_.emplace_back(std::in_place_type<Erase<R>>, std::move(row));
  }
  /// REQUIRES: nothing later in the batch asks for one of them.
  template <class R>
  void put(EraseRange<R> rows) {
    static_assert(TableOf<R>::seen == Seen::written);
    mutations_.emplace_back(std::in_place_type<EraseRange<R>>, std::move(rows));
  }
  template <class R, class... Parts>
  void erase(Parts&&... key) {
    put(Erase<R>(std::forward<Parts>(key)...));
  }
  /// Counts its body.
  void put_message(std::shared_ptr<const Message> message);
  /// The message, its state and its attempts are gone.
  void purge_message(Seq seq, bool has_attempts);
  void event(TenantId tenant, Seq seq, EventKind kind, std::uint32_t attempt = 0);
  void expire_message(Moment at, Seq seq);
  void expire_dedup(Moment at, TenantId tenant, const std::string& id);
  void expire_key(Moment at, TenantId tenant, std::string id);
  void expire_event(Moment at, TenantId tenant, std::uint64_t application, std::uint64_t number);
  void effect(Effect effect) { effects_.push_back(std::move(effect)); }
  /// Of a Receive that was answered with Later, in this batch or before.
  void answer(ReceiverId receiver, Reply reply) { late_.push_back({receiver, std::move(reply)}); }

  /// Of the messages that it writes.
  [[nodiscard]] std::size_t body_bytes() const { return body_bytes_; }
  /// Grows with what is decided: equal before and after a decision that changed nothing.
  [[nodiscard]] std::size_t decided() const { return mutations_.size() + effects_.size(); }
  [[nodiscard]] bool has_mutations() const { return !mutations_.empty() || !events_.empty(); }

  struct Late {
    ReceiverId receiver{};
    Reply reply{};
  };
  struct Output {
    std::vector<Mutation> mutations{};
    std::vector<Effect> effects{};
    std::vector<Late> late{};
  };
  /// Ends the batch.
  Output take();

 private:
  /// Which of the mutations puts a row; none: it was erased.
  using Which = std::optional<std::size_t>;
  struct Nothing {
    void clear() {}
  };
  template <class R>
  using ByKey = std::conditional_t<std::is_same_v<KeyOf<R>, Seq>, std::unordered_map<Seq, Which>,
                                   std::map<KeyOf<R>, Which>>;
  template <class R>
  struct Changes : std::conditional_t<TableOf<R>::seen == Seen::read_back, ByKey<R>, Nothing> {};

  template <class R>
  Changes<R>& changes() {
    static_assert(TableOf<R>::seen == Seen::read_back, "its row in tables.def says: written");
    return std::get<Changes<R>>(changes_);
  }
  template <class R, class Key>
  void note(const Key& key, Which which) {
    if constexpr (std::is_same_v<Key, KeyOf<R>>) {
      changes<R>()[key] = which;
    } else {
      changes<R>()[KeyOf<R>(key)] = which;
    }
  }
  template <class R>
  static Maybe<R> seen(const Mutation& mutation) {
    const Put<R>& put = std::get<Put<R>>(mutation);
    if constexpr (std::is_same_v<Maybe<R>, Row<R>>) {
      return put.row;
    } else {
      return put.record();
    }
  }
  Expiry& expiry(Moment at);

  Moment now_{};
  std::uint64_t number_ = 0;
  Reader* reader_ = nullptr;
  std::vector<Mutation> mutations_;
  std::vector<Effect> effects_;
  std::vector<Late> late_;
  std::map<TenantId, std::vector<EventRef>> events_;
  std::map<Moment, Expiry> expiries_;
  AllRecords<std::tuple, Changes> changes_;
  std::size_t body_bytes_ = 0;
};

}  // namespace hk::core
