/// A change of a queue's settings that depends on what they are. I/O threads.
#pragma once

#include <functional>
#include <string>

#include "api/sqs/exchange.h"

namespace hk::api::sqs {

/// Reads the settings, changes them, stores them and answers; again if somebody else was faster.
void change_settings(const ExchangePtr& exchange, const std::string& name,
                     std::function<aws::Checked<void>(core::PullSettings&)> change);

}  // namespace hk::api::sqs
