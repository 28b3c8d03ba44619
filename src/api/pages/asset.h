/// The files of the web pages that are part of the binary: cmake/hk_ui.cmake bundles each page of
/// ui/ and writes the source that has them. Constant, any thread.
#pragma once

#include <span>
#include <string_view>

namespace hk::api::pages {

struct Asset {
  std::string_view name{};  ///< index.html, portal.js, …
  std::string_view type{};  ///< Content-Type
  std::string_view plain{};
  std::string_view gzip{};
  std::string_view version{};  ///< of the whole page: what it names with ?v= never changes
};

/// Empty: this binary was built without its pages (HK_UI).
std::span<const Asset> portal();

}  // namespace hk::api::pages
