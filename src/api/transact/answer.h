/// What a transact is told as. Pure, any thread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/problem.h"
#include "api/transact/read.h"
#include "core/transact/commands.h"

namespace hk::api::transact {

/// Nothing was done: a problem with members of its own.
struct Refused {
  Problem what{};
  int status = 400;
  std::string detail{};
  ProblemMembers more{};
};

http::Response told_of(const core::Transacted& done, const std::vector<Told>& operations);
/// REQUIRES: it was.
Refused told_of_refusal(const core::TransactRefused& refused, const std::vector<Told>& operations);
/// All of them. REQUIRES: there is one.
Refused told_of_faults(std::vector<Fault> faults);

}  // namespace hk::api::transact
