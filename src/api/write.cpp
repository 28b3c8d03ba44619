#include "api/write.h"

#include <utility>

namespace hk::api {

namespace {

struct ToResponse {
  Surface surface;
  std::string_view request_id;

  http::Response operator()(http::Response& response) const { return std::move(response); }
  http::Response operator()(const Error& error) const {
    return error_for(surface, error, request_id);
  }
  http::Response operator()(Refusal& refusal) const {
    http::Response response =
        refusal.what.code.empty() || surface != Surface::own
            ? error_for(surface, refusal.status, refusal.detail, request_id)
            : problem(refusal.what, refusal.status, refusal.detail, request_id);
    response.fields = std::move(refusal.fields);
    return response;
  }
};

}  // namespace

http::Response to_response(Said said, Surface surface, std::string_view request_id) {
  return std::visit(ToResponse{surface, request_id}, said);
}

}  // namespace hk::api
