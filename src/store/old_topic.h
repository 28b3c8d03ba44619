/// A topic of SNS as adapters kept it before format 3: one document. Pure.
#pragma once

#include "core/document/record.h"
#include "core/topic/record.h"

namespace hk::store {

/// Throws CorruptRecord if it is no topic.
core::Topic old_topic(const core::Document& document);

}  // namespace hk::store
