/// A topic of SNS as adapters kept it before the core did: one document. Such directories are
/// opened, and what they have of it becomes a topic. Pure.
#pragma once

#include "core/document/record.h"
#include "core/topic/record.h"

namespace hk::core {

inline constexpr const char* old_topic_kind = "sns_topic";  ///< of the document

/// Throws CorruptRecord if it is no topic.
Topic topic_of(const Document& document);

}  // namespace hk::core
