#include "cli/webhooks.h"

#include <fmt/core.h>

#include <functional>

#include "cli/exit_code.h"
#include "cli/message_parts.h"
#include "cli/remote_call.h"

namespace hk::cli {

namespace json = boost::json;

namespace {

using Args = WebhookArguments;

std::string app_path(const Args& arguments) { return "/api/v1/app/" + query_escape(arguments.app); }
std::string endpoint_path(const Args& arguments) {
  return app_path(arguments) + "/endpoint/" + query_escape(arguments.id);
}
std::string own_endpoint_path(const Args& arguments) {
  return "/api/v1/webhooks/app/" + query_escape(arguments.app) + "/endpoint/" +
         query_escape(arguments.id);
}

std::string page_query(const Args& arguments) {
  std::string query = "?limit=" + std::to_string(arguments.limit);
  if (!arguments.iterator.empty()) {
    query += "&iterator=" + query_escape(arguments.iterator);
  }
  return query;
}

/// Shows an answer as JSON, or as what `show` prints of it.
using ShowAnswer = std::function<void(const json::value&)>;
int ask(const Args& arguments, const std::string& method, const std::string& path,
        const std::optional<json::object>& body, const ShowAnswer& show = {}) {
  const Connection connection = arguments.remote.connection();
  int code = exit_ok;
  const auto answer = call(connection, method, path, {{"Content-Type", "application/json"}},
                           body ? json::serialize(*body) : std::string(), code);
  if (!answer) {
    return code;
  }
  if (connection.json && !answer->text.empty()) {
    fmt::print("{}\n", answer->text);
  } else if (show) {
    show(answer->value);
  }
  return exit_ok;
}

void show_id(const json::value& value) { fmt::print("{}\n", text_of(value, "id")); }

/// A line for each of a page, and how to go on.
ShowAnswer lines_of(std::vector<std::string> columns) {
  return [columns = std::move(columns)](const json::value& page) {
    for (const json::value& one : page.at("data").as_array()) {
      std::string line;
      for (const std::string& column : columns) {
        line += line.empty() ? "" : "  ";
        const std::string text = text_of(one, column);
        line += text.empty() ? "-" : text;
      }
      fmt::print("{}\n", line);
    }
    if (!page.at("done").as_bool()) {
      fmt::print("more: --iterator {}\n", text_of(page, "iterator"));
    }
  };
}

/// Every member in a line.
void show_members(const json::value& value) {
  for (const json::key_value_pair& one : value.as_object()) {
    const std::string name(one.key());
    const bool plain = one.value().is_string() || one.value().is_number();
    fmt::print("{:<22} {}\n", name, plain ? text_of(value, name) : json::serialize(one.value()));
  }
}

json::array array_of(const std::vector<std::string>& texts) {
  json::array array;
  for (const std::string& one : texts) {
    array.emplace_back(json::string_view(one.data(), one.size()));
  }
  return array;
}

void put_text(json::object& object, std::string_view name, const std::string& text) {
  if (!text.empty()) {
    object[{name.data(), name.size()}] = json::string_view(text.data(), text.size());
  }
}

CLI::App* leaf(CLI::App& parent, Args& arguments, const std::string& name, const std::string& help,
               std::function<int()> run) {
  CLI::App* const command = parent.add_subcommand(name, help);
  arguments.remote.add_to(*command);
  command->callback([&arguments, run = std::move(run)] { *arguments.code = run(); });
  return command;
}

void add_app(CLI::App& command, Args& arguments) {
  add_value(command, "app", arguments.app, "APP", "Id or uid of the application")->required();
}
void add_endpoint(CLI::App& command, Args& arguments) {
  add_app(command, arguments);
  add_value(command, "endpoint", arguments.id, "ENDPOINT", "Id or uid of the endpoint")->required();
}
void add_page(CLI::App& command, Args& arguments) {
  add_value(command, "--limit", arguments.limit, "N", "So many at most (1 to 250)")
      ->capture_default_str();
  add_value(command, "--iterator", arguments.iterator, "ITERATOR", "Go on where a list has ended");
}

int create_application(const Args& arguments) {
  json::object body{{"name", arguments.name}};
  put_text(body, "uid", arguments.uid);
  return ask(arguments, "POST", "/api/v1/app", body, show_id);
}

int create_endpoint(const Args& arguments) {
  json::object body{{"url", arguments.text}};
  put_text(body, "uid", arguments.uid);
  if (!arguments.names.empty()) {
    body["eventTypes"] = array_of(arguments.names);
  }
  if (!arguments.channels.empty()) {
    body["channels"] = array_of(arguments.channels);
  }
  return ask(arguments, "POST", app_path(arguments) + "/endpoint", body, show_id);
}

/// The payload goes out byte for byte, so it is not parsed here.
int send_event(const Args& arguments) {
  const std::optional<std::string> payload =
      arguments.text.empty() ? read_body_file("-") : std::optional(arguments.text);
  if (!payload) {
    return exit_usage;
  }
  json::object others{{"eventType", arguments.name}};
  put_text(others, "eventId", arguments.event_id);
  if (!arguments.channels.empty()) {
    others["channels"] = array_of(arguments.channels);
  }
  std::string body = json::serialize(others);
  body.pop_back();
  body += ",\"payload\":" + *payload + '}';
  const Connection connection = arguments.remote.connection();
  int code = exit_ok;
  const auto answer = call(connection, "POST", app_path(arguments) + "/msg?with_content=false",
                           {{"Content-Type", "application/json"}}, std::move(body), code);
  if (answer) {
    fmt::print("{}\n", connection.json ? answer->text : text_of(answer->value, "id"));
  }
  return code;
}

int replay(const Args& arguments) {
  json::object body{{"app", arguments.app}, {"since", arguments.since}};
  put_text(body, "until", arguments.until);
  if (!arguments.names.empty()) {
    body["endpoints"] = array_of(arguments.names);
  }
  if (!arguments.channels.empty()) {
    body["filter"] = json::object{{"status", array_of(arguments.channels)}};
  }
  if (arguments.rate > 0) {
    body["rate"] = arguments.rate;
  }
  body["dryRun"] = arguments.flag;
  return ask(arguments, "POST", "/api/v1/webhooks/replays", body, show_members);
}

void add_applications(CLI::App& webhooks, Args& arguments) {
  CLI::App* const apps = webhooks.add_subcommand("apps", "Applications: one for each customer");
  apps->require_subcommand(1);
  add_page(*leaf(*apps, arguments, "list", "List applications",
                 [&arguments] {
                   return ask(arguments, "GET", "/api/v1/app" + page_query(arguments), {},
                              lines_of({"id", "uid", "name"}));
                 }),
           arguments);
  CLI::App* const create = leaf(*apps, arguments, "create", "Create an application; prints its id",
                                [&arguments] { return create_application(arguments); });
  add_value(*create, "name", arguments.name, "NAME", "Its name")->required();
  add_value(*create, "--uid", arguments.uid, "UID", "Your own id of this customer");
  add_app(
      *leaf(*apps, arguments, "get", "Show an application",
            [&arguments] { return ask(arguments, "GET", app_path(arguments), {}, show_members); }),
      arguments);
  add_app(*leaf(*apps, arguments, "delete", "Delete an application with its endpoints",
                [&arguments] { return ask(arguments, "DELETE", app_path(arguments), {}); }),
          arguments);
  add_app(*leaf(*apps, arguments, "portal", "Make a link to the portal of an application",
                [&arguments] {
                  return ask(arguments, "POST",
                             "/api/v1/auth/app-portal-access/" + query_escape(arguments.app),
                             json::object{}, [](const json::value& value) {
                               fmt::print("{}\n", text_of(value, "url"));
                             });
                }),
          arguments);
}

void add_endpoints(CLI::App& webhooks, Args& arguments) {
  CLI::App* const endpoints =
      webhooks.add_subcommand("endpoints", "Endpoints: where messages of an application go");
  endpoints->require_subcommand(1);
  CLI::App* const list = leaf(*endpoints, arguments, "list", "List endpoints", [&arguments] {
    return ask(arguments, "GET", app_path(arguments) + "/endpoint" + page_query(arguments), {},
               lines_of({"id", "uid", "url", "disabled"}));
  });
  add_app(*list, arguments);
  add_page(*list, arguments);
  CLI::App* const create =
      leaf(*endpoints, arguments, "create", "Create an endpoint; prints its id",
           [&arguments] { return create_endpoint(arguments); });
  add_app(*create, arguments);
  add_value(*create, "url", arguments.text, "URL", "Where its messages go")->required();
  add_value(*create, "--uid", arguments.uid, "UID", "Your own id of this endpoint");
  add_value(*create, "--event-type", arguments.names, "TYPE", "Only this event type; repeatable");
  add_value(*create, "--channel", arguments.channels, "CHANNEL", "Only this channel; repeatable");
  const auto add = [&](const std::string& name, const std::string& help, std::function<int()> run) {
    add_endpoint(*leaf(*endpoints, arguments, name, help, std::move(run)), arguments);
  };
  add("get", "Show an endpoint",
      [&arguments] { return ask(arguments, "GET", endpoint_path(arguments), {}, show_members); });
  add("delete", "Delete an endpoint; what waits for it is canceled",
      [&arguments] { return ask(arguments, "DELETE", endpoint_path(arguments), {}); });
  add("secret", "Show the secret that signs its messages", [&arguments] {
    return ask(arguments, "GET", endpoint_path(arguments) + "/secret", {},
               [](const json::value& value) { fmt::print("{}\n", text_of(value, "key")); });
  });
  add("state", "Show its health, and what holds its messages", [&arguments] {
    return ask(arguments, "GET", own_endpoint_path(arguments) + "/state", {}, show_members);
  });
  add("pause", "Hold its messages",
      [&arguments] { return ask(arguments, "POST", own_endpoint_path(arguments) + "/pause", {}); });
  CLI::App* const resume =
      leaf(*endpoints, arguments, "resume", "Deliver what is held", [&arguments] {
        return ask(arguments, "POST", own_endpoint_path(arguments) + "/resume",
                   json::object{{"mode", arguments.flag ? "skip" : "deliver"}}, show_members);
      });
  add_endpoint(*resume, arguments);
  resume->add_flag("--skip", arguments.flag, "Cancel what is held instead");
}

void add_event_types(CLI::App& webhooks, Args& arguments) {
  CLI::App* const types = webhooks.add_subcommand("event-types", "The catalogue of event types");
  types->require_subcommand(1);
  add_page(*leaf(*types, arguments, "list", "List event types",
                 [&arguments] {
                   return ask(arguments, "GET", "/api/v1/event-type" + page_query(arguments), {},
                              lines_of({"name", "description"}));
                 }),
           arguments);
  CLI::App* const create = leaf(*types, arguments, "create", "Create an event type", [&arguments] {
    return ask(arguments, "POST", "/api/v1/event-type",
               json::object{{"name", arguments.name}, {"description", arguments.text}});
  });
  add_value(*create, "name", arguments.name, "NAME", "Its name")->required();
  add_value(*create, "--description", arguments.text, "TEXT", "What it is");
  CLI::App* const remove = leaf(*types, arguments, "delete", "Archive an event type", [&arguments] {
    return ask(arguments, "DELETE", "/api/v1/event-type/" + query_escape(arguments.name), {});
  });
  add_value(*remove, "name", arguments.name, "NAME", "Its name")->required();
}

void add_messages(CLI::App& webhooks, Args& arguments) {
  CLI::App* const send = leaf(webhooks, arguments, "send", "Send a message; prints its id",
                              [&arguments] { return send_event(arguments); });
  add_app(*send, arguments);
  add_value(*send, "event-type", arguments.name, "TYPE", "Its event type")->required();
  add_value(*send, "--payload", arguments.text, "JSON",
            "Its payload, an object; without it: from standard input");
  add_value(*send, "--event-id", arguments.event_id, "ID", "Your own id: no second one has it");
  add_value(*send, "--channel", arguments.channels, "CHANNEL", "A channel; repeatable");
  CLI::App* const list =
      leaf(webhooks, arguments, "messages", "List messages, newest first", [&arguments] {
        return ask(arguments, "GET",
                   app_path(arguments) + "/msg" + page_query(arguments) + "&with_content=false", {},
                   lines_of({"id", "timestamp", "eventType"}));
      });
  add_app(*list, arguments);
  add_page(*list, arguments);
  CLI::App* const attempts =
      leaf(webhooks, arguments, "attempts", "List the attempts of a message", [&arguments] {
        return ask(
            arguments, "GET",
            app_path(arguments) + "/attempt/msg/" + query_escape(arguments.id) +
                page_query(arguments),
            {}, lines_of({"timestamp", "statusText", "responseStatusCode", "endpointId", "url"}));
      });
  add_app(*attempts, arguments);
  add_value(*attempts, "message", arguments.id, "MESSAGE", "Id or eventId of the message")
      ->required();
  add_page(*attempts, arguments);
  CLI::App* const again = leaf(webhooks, arguments, "resend", "Make one attempt now", [&arguments] {
    return ask(arguments, "POST",
               app_path(arguments) + "/msg/" + query_escape(arguments.other) + "/endpoint/" +
                   query_escape(arguments.id) + "/resend",
               json::object{});
  });
  add_app(*again, arguments);
  add_value(*again, "message", arguments.other, "MESSAGE", "Id or eventId of the message")
      ->required();
  add_value(*again, "endpoint", arguments.id, "ENDPOINT", "Id or uid of the endpoint")->required();
}

void add_replays(CLI::App& webhooks, Args& arguments) {
  CLI::App* const start = leaf(webhooks, arguments, "replay", "Deliver messages of a time again",
                               [&arguments] { return replay(arguments); });
  add_app(*start, arguments);
  add_value(*start, "--since", arguments.since, "TIME", "RFC 3339: from then on")->required();
  add_value(*start, "--until", arguments.until, "TIME", "RFC 3339: up to then [now]");
  add_value(*start, "--endpoint", arguments.names, "ENDPOINT", "Only this one; repeatable");
  add_value(*start, "--status", arguments.channels, "STATUS",
            "Only success, pending, fail, sending or canceled; repeatable");
  add_value(*start, "--rate", arguments.rate, "N", "Deliveries a second [50]");
  start->add_flag("--dry-run", arguments.flag, "Only count them");
}

}  // namespace

void add_webhooks(CLI::App& app, WebhookArguments& arguments, int& code) {
  arguments.code = &code;
  CLI::App* const webhooks = app.add_subcommand("webhooks", "Webhooks to your customers");
  webhooks->require_subcommand(1);
  add_applications(*webhooks, arguments);
  add_endpoints(*webhooks, arguments);
  add_event_types(*webhooks, arguments);
  add_messages(*webhooks, arguments);
  add_replays(*webhooks, arguments);
}

}  // namespace hk::cli
