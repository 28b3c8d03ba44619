#include "api/ledger/aside.h"

#include <exception>
#include <map>
#include <mutex>

namespace hk::api::ledger {

namespace {

/// What is under way, by tenant.
class UnderWay {
 public:
  bool begin(core::TenantId tenant) {
    const std::lock_guard lock(mutex_);
    if (all_ == aside_max || of_tenant_[tenant] == aside_of_tenant_max) {
      return false;
    }
    ++all_;
    ++of_tenant_[tenant];
    return true;
  }
  void end(core::TenantId tenant) {
    const std::lock_guard lock(mutex_);
    --all_;
    if (--of_tenant_[tenant] == 0) {
      of_tenant_.erase(tenant);
    }
  }

 private:
  std::mutex mutex_;
  std::size_t all_ = 0;
  std::map<core::TenantId, std::size_t> of_tenant_;
};

UnderWay& under_way() {
  static UnderWay all;
  return all;
}

/// A place among those that are under way, for as long as it lives.
class Turn {
 public:
  explicit Turn(core::TenantId tenant) : tenant_(tenant), taken_(under_way().begin(tenant)) {}
  Turn(Turn&& other) noexcept
      : tenant_(other.tenant_), taken_(std::exchange(other.taken_, false)) {}
  Turn& operator=(Turn&&) = delete;
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;
  ~Turn() {
    if (taken_) {
      under_way().end(tenant_);
    }
  }
  [[nodiscard]] bool taken() const { return taken_; }

 private:
  core::TenantId tenant_;
  bool taken_;
};

struct MadeOrThrown {
  Result<Made> made{};
  std::exception_ptr thrown{};
};

MadeOrThrown make_now(MakeAnswer& make) {
  try {
    return {.made = make()};
  } catch (const std::exception&) {
    return {.thrown = std::current_exception()};
  }
}

void tell_made(Answer& answer, Batcher& batcher, MadeOrThrown outcome) {
  answering(answer, [&] {
    if (outcome.thrown) {
      std::rethrow_exception(outcome.thrown);
    }
    if (!outcome.made) {
      answer.refuse(outcome.made.error());
    } else if (!outcome.made->command) {
      answer(std::move(outcome.made->response));
    } else {
      batcher.submit(std::move(*outcome.made->command),
                     [answer = std::move(answer), response = std::move(outcome.made->response)](
                         const core::Reply& reply) mutable {
                       reply ? answer(std::move(response)) : answer.refuse(reply.error());
                     });
    }
  });
}

}  // namespace

void answer_aside(const Services& services, Call& call, MakeAnswer make) {
  Turn turn(call.tenant->id);
  if (!turn.taken()) {
    call.answer.refuse(Error{ErrorKind::unavailable,
                             "too many reports are being made: wait for those that you have asked "
                             "for, then try again"});
    return;
  }
  if (!services.options.run_blocking) {
    tell_made(call.answer, call.batcher, make_now(make));
    return;
  }
  services.options.run_blocking([batcher = &call.batcher, turn = std::move(turn),
                                 make = std::move(make),
                                 answer = std::move(call.answer)]() mutable {
    MadeOrThrown outcome = make_now(make);
    make = nullptr;  // the snapshot it holds is let go
    batcher->io().post([batcher, outcome = std::move(outcome), turn = std::move(turn),
                        answer = std::move(answer)]() mutable {
      tell_made(answer, *batcher, std::move(outcome));
    });
  });
}

}  // namespace hk::api::ledger
