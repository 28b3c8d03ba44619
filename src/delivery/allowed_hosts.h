/// The hosts that deliveries may go to, as an operator lists them. On top of the egress guard: a
/// host of the list is still judged by its addresses. Pure; constant after it is made.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>

#include "base/error.h"
#include "net/url.h"

namespace hk::delivery {

class AllowedHosts {
 public:
  /// Every host.
  AllowedHosts() = default;
  /// "hooks.example.com, *.example.org, 192.0.2.1, [2001:db8::1]": hosts as in a URL, and with
  /// "*." everything below one. "": every host. invalid_argument: names the entry.
  static Result<AllowedHosts> parse(std::string_view list);

  [[nodiscard]] bool contains(const net::Url& url) const;

 private:
  std::set<std::string, std::less<>> hosts_{};  ///< ".example.org": all below it. Empty: every host
};

}  // namespace hk::delivery
