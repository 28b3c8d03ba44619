/// How a GET below an application is answered: from the durable view, on the I/O thread. What the
/// path names is looked up here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/call.h"
#include "api/svix/errors.h"
#include "api/svix/page.h"
#include "core/webhook/read.h"

namespace hk::api::svix {

namespace webhook = core::webhook;

/// The application that is the first parameter of the path. Throws what reads throw.
struct Reading {
  Reading(const Services& services, const Call& call);
  /// Of the hidden application, whose endpoints get operational webhooks.
  static Reading operational(const Services& services, const Call& call);

  [[nodiscard]] core::Reader& reader() const { return *view; }
  [[nodiscard]] std::optional<webhook::Endpoint> endpoint(std::string_view ref) const;
  [[nodiscard]] std::optional<webhook::Event> event(std::string_view ref) const;

  std::shared_ptr<core::Reader> view{};
  core::TenantId tenant{};
  std::optional<webhook::Application> application{};  ///< nothing: there is none of that name
  webhook::Number number = 0;                         ///< its
  Moment now{};

 private:
  Reading() = default;
};

/// Also one that is there no more: with what is still known of it.
webhook::Endpoint endpoint_or_gone(const Reading& reading, webhook::Number number);

/// 404.
http::Response no_application();
/// What is wrong with a body; but what the path names is looked for first.
http::Response wrong_of_application(const Services& services, const Call& call,
                                    const FieldErrors& errors);
http::Response wrong_of_endpoint(const Services& services, const Call& call,
                                 const FieldErrors& errors);

/// Answers with what `show` makes of the endpoint that the path names as its second parameter.
template <class Show>
void with_endpoint(const Services& services, Call& call, Show&& show) {
  const Reading reading(services, call);
  if (!reading.application) {
    call.answer(no_application());
    return;
  }
  const auto endpoint = reading.endpoint(call.more_params.front());
  call.answer(endpoint ? show(reading, *endpoint) : not_found());
}
/// The same of a message.
template <class Show>
void with_event(const Services& services, Call& call, Show&& show) {
  const Reading reading(services, call);
  if (!reading.application) {
    call.answer(no_application());
    return;
  }
  const auto event = reading.event(call.more_params.front());
  call.answer(event ? show(reading, *event) : not_found());
}

/// The place that the iterator of a page is, of things with such ids; wrong: it is told.
std::optional<webhook::Number> read_number(Query& query, const Page& page, std::string_view prefix);
/// How many rows are read at a time for it.
std::size_t rows_at_once(const Page& page);

}  // namespace hk::api::svix
