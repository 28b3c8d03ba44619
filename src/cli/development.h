/// The public credentials of development, and how a data directory is known that is for nothing
/// else. Used at the start, by `convert` and by the commands' flag --dev.
#pragma once

#include "base/error.h"
#include "base/secret.h"
#include "core/record.h"
#include "security/credentials.h"

namespace hk::cli {

/// Public constants of the QStash SDK's development mode.
Secret dev_token();
Secret dev_current_key();
Secret dev_next_key();
/// The access key that AWS clients use for development; its secret is the same word.
inline constexpr const char* dev_access_key = "test";

/// Is it made by `serve --dev`, or does it hold a public token or key, as earlier versions stored
/// them? corruption: its keys cannot be opened with this master key.
Result<bool> of_development(const core::Tenant& tenant, const security::MasterKey& master_key);

/// Whether the text is one of the public credentials.
bool is_public(const Secret& secret);

}  // namespace hk::cli
