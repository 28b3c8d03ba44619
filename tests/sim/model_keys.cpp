// Idempotency keys: of all who claim one, one does the work; who lost it changes nothing.
#include <algorithm>

#include "sim/model_update.h"

namespace hk::sim {

namespace {

using Claim = core::KeyClaimed::Outcome;
using Change = core::KeyChanged::Outcome;
using State = core::IdempotencyKey::State;

}  // namespace

std::optional<std::string> once_name(const std::string& id) {
  const std::string prefix = core::idempotency_id(core::api_space, "");
  return id.starts_with(prefix) ? std::optional(id.substr(prefix.size())) : std::nullopt;
}

bool same_key(core::IdempotencyKey got, const core::IdempotencyKey& want) {
  got.timer_at = want.timer_at;
  return got == want;
}

void Model::put_key(core::IdempotencyKey key) {
  const Named name{key.tenant, key.key};
  save(keys_, name);
  keys_[name] = std::move(key);
  changed_keys_.insert(name);
}

Expected Model::claim_key(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const auto known = keys_.find({op.tenant, op.name});
  const bool there = known != keys_.end() && known->second.expires_at > time_;
  Expected expected{.kind = Expected::Kind::key_claimed};
  core::IdempotencyKey key;
  if (there) {
    key = known->second;
    const bool ended = key.state == State::completed || key.state == State::failed;
    const bool other = !key.hash.empty() && !op.key.hash.empty() && key.hash != op.key.hash;
    if (other || ended || (key.state == State::started && key.lease_until > time_)) {
      expected.claim = other ? Claim::other_request : ended ? Claim::ended : Claim::held;
      expected.key = std::make_shared<core::IdempotencyKey>(key);
      return expected;
    }
    expected.flag = key.state == State::started;
  } else {
    key = {.tenant = op.tenant, .space = key_space, .key = op.name, .created_at = time_};
  }
  undo_.push_back({batch_, [this, before = last_token_] { last_token_ = before; }});
  key.token = ++last_token_;
  key.attempt += 1;
  key.state = State::started;
  key.hash = op.key.hash.empty() ? key.hash : op.key.hash;
  key.lease_until = time_ + op.key.lease;
  key.kept_for = op.key.kept_for;
  key.ended_at = Moment{};
  key.expires_at = key.lease_until + key.kept_for;
  expected.claim = Claim::started;
  expected.key = std::make_shared<core::IdempotencyKey>(key);
  put_key(std::move(key));
  return expected;
}

Expected Model::claim_or_wait(const Op& op) {
  Expected expected = claim_key(op);
  if (expected.kind != Expected::Kind::key_claimed || expected.claim != Claim::held ||
      op.key.wait <= Millis{0} || draining_) {
    return expected;
  }
  key_waiters_[{op.tenant, op.name}].push_back({op, time_ + op.key.wait});
  return {.kind = Expected::Kind::later};
}

Expected Model::stop_claiming(const Op& op) {
  for (auto& [name, line] : key_waiters_) {
    const auto gone =
        std::ranges::find(line, op.receiver, [](const KeyWaiter& one) { return one.op.receiver; });
    if (name.first == op.tenant && gone != line.end()) {
      line.erase(gone);
      late_claims_[op.receiver] = refused(ErrorKind::unavailable);
    }
  }
  return {.kind = Expected::Kind::done};
}

/// Who waits claims again whenever that could have another answer, first come, first served. Which
/// of several keys is first does not matter: their tokens are those that were given next.
void Model::answer_claims() {
  const std::uint64_t before = last_token_;
  std::set<std::uint64_t> given;
  for (auto& [name, line] : key_waiters_) {
    std::vector<KeyWaiter> left;
    for (KeyWaiter& waiter : line) {
      Expected expected = claim_key(waiter.op);
      if (expected.claim == Claim::held && waiter.until > time_ && !draining_) {
        left.push_back(std::move(waiter));
        continue;
      }
      if (expected.claim == Claim::started) {
        const auto stored =
            written_->keys.find({name.first, core::idempotency_id(key_space, name.second)});
        require(stored != written_->keys.end() && stored->second, "keys",
                "nobody who waits gets key " + name.second);
        core::IdempotencyKey& key = keys_.at(name);
        key.token = stored->second->token;
        given.insert(key.token);
        expected.key = std::make_shared<core::IdempotencyKey>(key);
      }
      late_claims_[waiter.op.receiver] = std::move(expected);
    }
    line = std::move(left);
  }
  require(last_token_ == before + given.size() &&
              (given.empty() || (*given.begin() == before + 1 && *given.rbegin() == last_token_)),
          "keys", "waiters get other tokens than the next ones");
}

std::optional<Moment> Model::next_look() const {
  std::optional<Moment> next;
  for (const auto& [name, line] : key_waiters_) {
    for (const KeyWaiter& waiter : line) {
      const Moment at = std::min(waiter.until, keys_.at(name).lease_until);
      next = std::min(next.value_or(at), at);
    }
  }
  return next;
}

/// Who does not have the last token changes nothing; the first end stays the end.
Expected Model::change_key(const Op& op) {
  const auto known = keys_.find({op.tenant, op.name});
  if (known == keys_.end() || known->second.expires_at <= time_) {
    return refused(ErrorKind::not_found);
  }
  core::IdempotencyKey key = known->second;
  Expected expected{.kind = Expected::Kind::key_changed, .change = Change::done};
  if (key.token != op.key.token) {
    expected.change = Change::fenced;
  } else if (key.state != State::started) {
    const bool said_again = op.kind == Op::Kind::end_key
                                ? key.state == (op.key.failed ? State::failed : State::completed) &&
                                      key.answer == op.key.answer
                                : op.kind == Op::Kind::release_key && key.state == State::released;
    expected.change = said_again ? Change::again : Change::over;
  } else if (op.kind == Op::Kind::renew_key) {
    key.lease_until = time_ + op.key.lease;
    key.expires_at = key.lease_until + key.kept_for;
  } else {
    key.ended_at = time_;
    if (op.kind == Op::Kind::release_key) {
      key.state = State::released;
    } else {
      key.state = op.key.failed ? State::failed : State::completed;
      key.answer = op.key.answer;
      key.kept_for = op.key.ends_sooner ? op.key.kept_for : key.kept_for;
    }
    key.expires_at = time_ + key.kept_for;
  }
  expected.key = std::make_shared<core::IdempotencyKey>(key);
  if (expected.change == Change::done) {
    put_key(std::move(key));
  }
  return expected;
}

Expected Model::delete_key(const Op& op) {
  const Named name{op.tenant, op.name};
  if (keys_.contains(name)) {
    save(keys_, name);
    keys_.erase(name);
    changed_keys_.insert(name);
  }
  return {.kind = Expected::Kind::done};
}

/// What the machine has taken out must be over. When, is up to it: the scan asks for a timer.
void Model::forget_keys() {
  for (const auto& [id, stored] : written_->keys) {
    if (const auto name = once_name(id.second)) {
      if (!stored) {
        forget_once({id.first, *name});
      }
      continue;
    }
    const Named name{id.first, id.second.substr(key_space.size() + 1)};
    if (!stored && keys_.contains(name)) {
      require(keys_.at(name).expires_at <= time_, "keys", name.second + " is forgotten too early");
      save(keys_, name);
      keys_.erase(name);
    }
  }
}

void Model::compare_keys() const {
  for (const Named& name : changed_keys_) {
    require(written_->keys.contains({name.first, core::idempotency_id(key_space, name.second)}),
            "keys", "key " + name.second + " is not stored");
  }
  for (const auto& [id, stored] : written_->keys) {
    if (once_name(id.second)) {
      continue;
    }
    const auto want = keys_.find({id.first, id.second.substr(key_space.size() + 1)});
    require(
        stored.has_value() == (want != keys_.end()) && (!stored || same_key(*stored, want->second)),
        "keys", "key " + id.second + " is stored differently");
  }
  for (const core::Timer& timer : written_->timers_gone) {
    require(timer.due <= time_, "keys", "a timer goes before its time");
  }
  require(written_->timers_gone.size() <= limits_.timers_per_batch, "keys", "too many timers");
}

}  // namespace hk::sim
