// POST /api/v1/admin/backup. The copy runs on another thread; the answer waits for it.
#include <atomic>
#include <boost/json.hpp>
#include <memory>

#include "api/admin/handlers.h"
#include "base/json.h"
#include "base/json_input.h"

namespace hk::api::admin {

namespace {

/// Two copies at once would only slow each other (and deliveries) down.
std::atomic<bool> running = false;

Result<std::string> read_directory(const std::string& body) {
  Result<boost::json::object> object = parse_json_object(body);
  if (!object) {
    return std::unexpected(object.error());
  }
  const boost::json::value* const directory = object->if_contains("directory");
  if (object->size() != 1 || directory == nullptr || !directory->is_string() ||
      directory->get_string().empty()) {
    return fail(ErrorKind::invalid_argument,
                R"(the body must be {"directory": "<path on the server>"})");
  }
  return std::string(directory->get_string());
}

http::Response made_response(const std::string& directory) {
  http::Response response;
  JsonWriter json(response.body);
  json.begin_object();
  json.field("directory", directory);
  json.end_object();
  return response;
}

}  // namespace

void backup(const Services& services, Call& call) {
  if (!services.options.backup || !services.options.run_blocking) {
    call.answer.refuse(Error{ErrorKind::unavailable, "this server cannot make backups"});
    return;
  }
  Result<std::string> directory = read_directory(call.request.body);
  if (!directory) {
    call.answer.refuse(directory.error());
    return;
  }
  if (running.exchange(true)) {
    call.answer.refuse(Error{ErrorKind::conflict, "a backup is being made; ask again later"});
    return;
  }
  services.options.run_blocking([&services, io = &call.batcher.io(),
                                 directory = std::move(*directory),
                                 answer = std::move(call.answer)]() mutable {
    Result<void> made = services.options.backup(directory);
    running.store(false);
    io->post([made = std::move(made), directory = std::move(directory),
              answer = std::move(answer)]() mutable {
      if (!made) {
        answer.refuse(made.error());
        return;
      }
      answer(made_response(directory));
    });
  });
}

}  // namespace hk::api::admin
