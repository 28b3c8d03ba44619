// POST /v2/batch: many publishes in one request and one atomic accept. An item that is wrong is
// told in its place and does not stop the others.
#include <algorithm>
#include <optional>
#include <utility>

#include "api/qstash/errors.h"
#include "api/qstash/handlers.h"
#include "api/qstash/header_map.h"
#include "api/qstash/publish.h"
#include "api/qstash/pulled.h"
#include "api/reply.h"
#include "api/text.h"
#include "base/json.h"
#include "observe/metrics.h"

namespace hk::api::qstash {

namespace {

std::unexpected<Error> wrong_shape(std::string_view what) {
  return fail(ErrorKind::invalid_argument, std::string(what));
}

/// What is told of an item: why it was not submitted, or else the URL it goes to.
struct Told {
  std::optional<std::string> error{};
  std::string url_json{};
};

void append_error(std::string& out, std::string_view text) {
  out += "{\"error\":";
  append_json_string(out, text);
  out += '}';
}

/// `submitted` holds the answers of those items that have no error, in order.
http::Response answer_items(const Services& services, const std::vector<Told>& items,
                            const core::BatchPublished& submitted) {
  http::Response response;
  response.fields.push_back({"Hikyaku-Durability", services.options.durability});
  std::string& out = response.body;
  out += '[';
  auto next = submitted.items.begin();
  for (const Told& item : items) {
    if (&item != &items.front()) {
      out += ',';
    }
    if (item.error) {
      append_error(out, *item.error);
      continue;
    }
    const auto& result = *next++;
    if (!result) {
      services.metrics.publish_refused("by_core");
      append_error(out, result.error().message);
    } else if (const auto* all = std::get_if<core::FannedOut>(&*result)) {
      count_published(services, *all);
      append_fanned_out(out, *all);
    } else {
      const auto& published = std::get<core::Published>(*result);
      services.metrics.published(published.deduplicated);
      append_published(out, published, item.url_json);
    }
  }
  out += ']';
  return response;
}

/// invalid_argument: not an array, or one that is too long.
Result<boost::json::array> read_items(const Services& services, const Call& call) {
  Result<boost::json::array> items = parse_json_array(call.request.body);
  if (items && items->size() > services.options.batch_items_max) {
    return wrong_shape("a batch has at most " + std::to_string(services.options.batch_items_max) +
                       " items; this one has " + std::to_string(items->size()));
  }
  return items;
}

}  // namespace

Result<core::Publish> read_item(const Services& services, Call& call, GroupDefaults& defaults,
                                const boost::json::value& given) {
  if (!given.is_object()) {
    return wrong_shape("an item must be an object with a destination");
  }
  const boost::json::object& item = given.get_object();
  const Result<std::string> destination = text_member(item, "destination");
  if (!destination) {
    return std::unexpected(destination.error());
  }
  Result<std::string> queue = text_member(item, "queue");
  if (!queue) {
    return std::unexpected(queue.error());
  }
  if (!queue->empty() && !valid_new_queue_name(*queue)) {
    return std::unexpected(invalid_queue_name());
  }
  Result<std::string> body = text_member(item, "body");
  if (!body) {
    return std::unexpected(body.error());
  }
  if (body->size() > services.options.body_bytes_max) {
    return std::unexpected(body_too_large(services));
  }
  Result<std::vector<net::Field>> fields = read_header_map(member(item, "headers"));
  if (!fields) {
    return std::unexpected(fields.error());
  }
  if (destination->empty() && !queue->empty()) {
    return read_pulled(services, call,
                       {.queue = std::move(*queue), .fields = *fields, .body = std::move(*body)});
  }
  Result<Destination> parsed = parse_given_destination(*destination);
  if (!parsed) {
    return std::unexpected(parsed.error());
  }
  return read_publish(services, call, defaults,
                      {.destination = std::move(*parsed),
                       .queue = std::move(*queue),
                       .fields = *fields,
                       .body = std::move(*body)});
}

void publish_batch(const Services& services, Call& call) {
  if (refused_for_now(services, call)) {
    return;
  }
  if (call.request.body.size() > services.options.batch_bytes_max) {
    services.metrics.publish_refused("too_large");
    call.answer(error_response(
        413,
        "the batch is larger than " + std::to_string(services.options.batch_bytes_max) + " bytes"));
    return;
  }
  const Result<boost::json::array> given = read_items(services, call);
  if (!given) {
    services.metrics.publish_refused("invalid");
    call.answer(error_response(given.error()));
    return;
  }
  if (!call.answer.costs(std::max<std::size_t>(1, given->size()))) {
    services.metrics.publish_refused("rate_limited");
    return;
  }

  GroupDefaults defaults(services.submitter, call.tenant->id);
  core::PublishBatch command;
  std::vector<Told> items;
  command.items.reserve(given->size());
  items.reserve(given->size());
  for (const boost::json::value& one : *given) {
    Result<core::Publish> publish = read_item(services, call, defaults, one);
    if (!publish) {
      services.metrics.publish_refused("invalid");
      items.push_back({.error = std::move(publish.error().message)});
      continue;
    }
    std::string& url_json = items.emplace_back().url_json;
    if (!publish->message->pull) {
      append_json_string(url_json, publish->message->url);
    }
    command.items.push_back(std::move(*publish));
  }
  if (command.items.empty()) {
    call.answer(answer_items(services, items, {}));
    return;
  }
  call.batcher.submit(std::move(command), [&services, answer = std::move(call.answer),
                                           items = std::move(items)](core::Reply reply) mutable {
    if (!reply) {
      services.metrics.publish_refused(refused_as(reply.error()));
      answer(error_response(reply.error()));
      return;
    }
    answer(answer_items(services, items, answer_of<core::BatchPublished>(reply)));
  });
}

}  // namespace hk::api::qstash
