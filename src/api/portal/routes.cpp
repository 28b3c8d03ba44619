// The customers' portal: a page and what belongs to it. It brings no rights: what it shows and
// does, it asks of the API of webhooks with the token of its link.
#include <array>

#include "api/pages/serve.h"
#include "api/route.h"

namespace hk::api::portal {

namespace {

void serve(const Services& services, Call& call, std::string_view name) {
  pages::serve(call, pages::portal(), name, services.options.portal_frame_ancestors);
}

void get_page(const Services& services, Call& call) { serve(services, call, "index.html"); }
void get_script(const Services& services, Call& call) { serve(services, call, "portal.js"); }
void get_icon(const Services& services, Call& call) { serve(services, call, "icon.svg"); }
void get_style(const Services& services, Call& call) { serve(services, call, "portal.css"); }

// clang-format off
constexpr std::array portal_routes = {
    Route{"GET", "/portal/", Access::open, get_page,
          {.tag = "portal", .summary = "The page on which a customer looks after webhook endpoints"}},
    Route{"GET", "/portal/portal.js", Access::open, get_script,
          {.tag = "portal", .summary = "The script of that page", .query = "v"}},
    Route{"GET", "/portal/portal.css", Access::open, get_style,
          {.tag = "portal", .summary = "The style of that page", .query = "v"}},
    Route{"GET", "/portal/icon.svg", Access::open, get_icon,
          {.tag = "portal", .summary = "The icon of that page", .query = "v"}},
};
// clang-format on

}  // namespace

RouteTable routes() { return {Surface::own, portal_routes}; }

}  // namespace hk::api::portal
