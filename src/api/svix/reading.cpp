#include "api/svix/reading.h"

#include <algorithm>
#include <utility>

namespace hk::api::svix {

Reading::Reading(const Services& services, const Call& call)
    : view(services.submitter.durable_view(call.tenant->id)),
      tenant(call.tenant->id),
      application(webhook::find_application(*view, tenant, call.param)),
      number(application ? application->number : 0),
      now(services.now()) {}

Reading Reading::operational(const Services& services, const Call& call) {
  Reading reading;
  reading.tenant = call.tenant->id;
  reading.view = services.submitter.durable_view(reading.tenant);
  reading.number = webhook::operational;
  reading.now = services.now();
  return reading;
}

std::optional<webhook::Endpoint> Reading::endpoint(std::string_view ref) const {
  return webhook::find_endpoint(reader(), tenant, number, ref);
}

std::optional<webhook::Event> Reading::event(std::string_view ref) const {
  return webhook::find_event(reader(), tenant, number, ref);
}

webhook::Endpoint endpoint_or_gone(const Reading& reading, webhook::Number number) {
  auto endpoint = reading.reader().get<webhook::Endpoint>({reading.tenant, reading.number, number});
  return endpoint ? std::move(*endpoint)
                  : webhook::Endpoint{
                        .tenant = reading.tenant, .application = reading.number, .number = number};
}

http::Response no_application() {
  return error_response(404, "not_found", "Application not found");
}

http::Response wrong_of_application(const Services& services, const Call& call,
                                    const FieldErrors& errors) {
  return Reading(services, call).application ? errors.response() : no_application();
}

http::Response wrong_of_endpoint(const Services& services, const Call& call,
                                 const FieldErrors& errors) {
  const Reading reading(services, call);
  if (!reading.application) {
    return no_application();
  }
  return reading.endpoint(call.more_params.front()) ? errors.response() : not_found();
}

std::optional<webhook::Number> read_number(Query& query, const Page& page,
                                           std::string_view prefix) {
  if (page.iterator.empty()) {
    return std::nullopt;
  }
  const auto number = webhook::number_in(page.iterator, prefix);
  if (!number) {
    query.refuse("iterator", "must be the iterator of an answer to the same list");
  }
  return number;
}

std::size_t rows_at_once(const Page& page) {
  constexpr std::size_t most = 64;
  return std::min(page.limit + 1, most);
}

}  // namespace hk::api::svix
