#include "api/pages/serve.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/ascii.h"

namespace hk::api::pages {

namespace {

/// One coding of Accept-Encoding: "gzip;q=0.5", but not "gzip;q=0".
bool accepts_gzip(std::string_view one) {
  const std::string_view coding = trim(one.substr(0, one.find(';')), white_space);
  if (!equals_ignoring_case(coding, "gzip") && coding != "*") {
    return false;
  }
  const std::size_t weight = one.find("q=");
  return weight == std::string_view::npos ||
         one.find_first_of("123456789", weight) != std::string_view::npos;
}

bool takes_gzip(const http::Request& request) {
  for (std::string_view left = request.header("Accept-Encoding").value_or(""); !left.empty();) {
    const std::string_view one = left.substr(0, left.find(','));
    if (accepts_gzip(one)) {
      return true;
    }
    left.remove_prefix(std::min(left.size(), one.size() + 1));
  }
  return false;
}

bool has_already(const http::Request& request, std::string_view etag) {
  return request.header("If-None-Match").value_or("").find(etag) != std::string_view::npos;
}

void redirect_to_folder(Call& call) {
  const std::string_view path = call.request.path();
  std::string location(path.substr(path.rfind('/') + 1));
  location += '/';
  if (const std::string_view query = call.request.query(); !query.empty()) {
    location.append("?").append(query);
  }
  http::Response response;
  response.status = 308;
  response.content_type = "";
  response.fields.push_back({"Location", std::move(location)});
  call.answer(std::move(response));
}

}  // namespace

std::string security_policy(std::string_view frame_ancestors) {
  std::string policy =
      "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'none'; "
      "require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors ";
  return policy.append(frame_ancestors);
}

void serve(Call& call, std::span<const Asset> page, std::string_view name,
           std::string_view frame_ancestors) {
  const auto asset = std::ranges::find(page, name, &Asset::name);
  if (asset == page.end()) {
    call.answer.refuse(404,
                       "this server was built without its web pages: build it on a machine that "
                       "has esbuild, node-react and node-react-dom");
    return;
  }
  const bool is_document = name == "index.html";
  if (is_document && !call.request.path().ends_with('/')) {
    redirect_to_folder(call);
    return;
  }
  const bool compressed = takes_gzip(call.request);
  const std::string etag = '"' + std::string(asset->version) + (compressed ? "-gzip" : "") + '"';
  // Asked for by its version, as the page does, it is the same for ever.
  const bool for_ever = !is_document && call.request.query() == "v=" + std::string(asset->version);
  http::Response response;
  response.page = std::make_shared<const http::PageHeaders>(http::PageHeaders{
      .security_policy = security_policy(frame_ancestors),
      .cache_control = for_ever ? "public, max-age=31536000, immutable" : "no-cache"});
  response.content_type = asset->type;
  response.fields.push_back({"ETag", etag});
  response.fields.push_back({"Vary", "Accept-Encoding"});
  if (has_already(call.request, etag)) {
    response.status = 304;
  } else {
    response.body = compressed ? asset->gzip : asset->plain;
    if (compressed) {
      response.fields.push_back({"Content-Encoding", "gzip"});
    }
  }
  call.answer(std::move(response));
}

}  // namespace hk::api::pages
