/// Parts of a message as the remote commands take them: what is wrong is printed.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "edge/http/message.h"

namespace hk::cli {

/// What the file holds; "-" = standard input. nullopt: it cannot be read.
std::optional<std::string> read_body_file(const std::string& file);

/// "Name: value" becomes "Upstash-Forward-Name: value", added to `fields`. False: it is not one.
bool add_forwarded(std::vector<net::Field>& fields, const std::vector<std::string>& headers);

}  // namespace hk::cli
