/// Answers with a file of a web page.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "api/call.h"
#include "api/pages/asset.h"

namespace hk::api::pages {

/// What every page of ours needs and no more: its own scripts and styles, calls to its own server,
/// no HTML made from text. frame_ancestors: who may show it in a frame.
std::string security_policy(std::string_view frame_ancestors);

/// The file of that name, or 304 if the client has it; compressed if it takes that. A page that
/// was asked for without the '/' at its end is asked for again with it: what it names is relative.
void serve(Call& call, std::span<const Asset> page, std::string_view name,
           std::string_view frame_ancestors);

}  // namespace hk::api::pages
