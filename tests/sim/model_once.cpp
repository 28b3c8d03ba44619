// Writes that take effect once: equal key and hash have one effect and equal answers, and there is
// neither an effect without its record nor a record without its effect.
#include "sim/model_update.h"
#include "sim/trace.h"

namespace hk::sim {

Expected Model::once(const Op& op) {
  if (!tenants_.contains(op.tenant)) {
    return refused(ErrorKind::not_found);
  }
  const OnceText& text = *op.once;
  const Named name{op.tenant, text.key};
  const auto known = once_.find(name);
  if (known != once_.end() && known->second.expires_at > time_) {
    require(!text.seen->reply, "once", "key " + text.key + " is known, and yet it was executed");
    const core::IdempotencyKey& record = known->second;
    if (record.hash != text.hash) {
      return {.kind = Expected::Kind::once_reused};
    }
    return {.kind = Expected::Kind::once_replayed,
            .key = std::make_shared<core::IdempotencyKey>(record)};
  }
  require(text.seen->reply.has_value(), "once",
          "key " + text.key +
              " is not known, and yet it was "
              "not executed");
  Op plain = op;
  plain.once.reset();
  Expected inner = decide(plain);
  const std::uint32_t status = kept_status(*text.seen->reply);
  if (status == 0) {
    return inner;
  }
  save(once_, name);
  once_[name] = {.tenant = op.tenant,
                 .space = core::api_space,
                 .key = text.key,
                 .state = core::IdempotencyKey::State::completed,
                 .hash = text.hash,
                 .attempt = 1,
                 .kept_for = text.kept_for,
                 .created_at = time_,
                 .ended_at = time_,
                 .expires_at = time_ + text.kept_for,
                 .answer = text.seen->body,
                 .head = {.status = status, .content_type = "text/plain"}};
  changed_once_.insert(name);
  Expected expected{.kind = Expected::Kind::once_executed,
                    .key = std::make_shared<core::IdempotencyKey>(once_[name])};
  expected.parts.push_back(std::move(inner));
  return expected;
}

/// It is not stored any more.
void Model::forget_once(const Named& name) {
  const auto known = once_.find(name);
  if (known == once_.end()) {
    return;
  }
  require(known->second.expires_at <= time_, "once", name.second + " is forgotten too early");
  save(once_, name);
  once_.erase(name);
}

void Model::compare_once() const {
  for (const Named& name : changed_once_) {
    require(
        written_->keys.contains({name.first, core::idempotency_id(core::api_space, name.second)}),
        "once", "the answer under key " + name.second + " is not stored with its effect");
  }
  for (const auto& [id, stored] : written_->keys) {
    const auto name = once_name(id.second);
    if (!name) {
      continue;
    }
    const auto want = once_.find({id.first, *name});
    require(stored.has_value() == (want != once_.end()) && (!stored || *stored == want->second),
            "once", "key " + *name + " is stored differently");
  }
}

}  // namespace hk::sim
