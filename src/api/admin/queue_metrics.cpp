#include "api/admin/queue_metrics.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "api/gather.h"
#include "api/reply.h"

namespace hk::api::admin {

namespace {

/// A page of metrics stays readable, and a scrape cheap. The first ones by tenant and name.
constexpr std::size_t queues_max = 1000;

constexpr const char* messages_head =
    "# HELP hikyaku_queue_messages Messages in a queue that is pulled from, by state.\n"
    "# TYPE hikyaku_queue_messages gauge\n";
constexpr const char* oldest_head =
    "# HELP hikyaku_queue_oldest_seconds Age of the oldest message in it.\n"
    "# TYPE hikyaku_queue_oldest_seconds gauge\n";

/// REQUIRES: names of queues and tenants have no quotes, no backslashes and no line ends.
std::string labels(const std::string& tenant, const std::string& queue) {
  return "{tenant=\"" + tenant + "\",queue=\"" + queue + '"';
}

}  // namespace

void render_queues(const Services& services, Batcher& batcher,
                   std::move_only_function<void(std::string)> finish) {
  std::vector<core::Queue> queues;
  std::map<core::TenantId, std::string> names;
  for (const auto& view : services.submitter.durable_views()) {
    std::ranges::move(view->scan<core::Queue>(), std::back_inserter(queues));
    for (core::Tenant& tenant : view->scan<core::Tenant>()) {
      names[tenant.id] = std::move(tenant.name);
    }
  }
  std::erase_if(queues, [](const core::Queue& one) { return !one.pull || one.deleted; });
  queues.resize(std::min(queues.size(), queues_max));
  std::vector<core::Command> commands;
  for (const core::Queue& queue : queues) {
    commands.emplace_back(core::CountQueue{queue.tenant, queue.name});
  }
  submit_all(batcher, std::move(commands),
             [now = services.now(), queues = std::move(queues), names = std::move(names),
              finish = std::move(finish)](const std::vector<core::Reply>& replies) mutable {
               std::string messages = messages_head;
               std::string oldest = oldest_head;
               for (std::size_t i = 0; i < replies.size(); ++i) {
                 if (!replies[i]) {
                   continue;  // deleted meanwhile
                 }
                 const auto& counted = answer_of<core::QueueCounted>(replies[i]);
                 const std::string labelled = labels(names[queues[i].tenant], queues[i].name);
                 const auto state = [&](const char* name, std::uint64_t count) {
                   messages += "hikyaku_queue_messages" + labelled + ",state=\"" + name + "\"} " +
                               std::to_string(count) + '\n';
                 };
                 state("visible", counted.visible);
                 state("in_flight", counted.in_flight);
                 state("delayed", counted.delayed);
                 const Millis age = counted.oldest == Moment{} ? Millis{0} : now - counted.oldest;
                 oldest += "hikyaku_queue_oldest_seconds" + labelled + "} " +
                           std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                                              std::max(age, Millis{0}))
                                              .count()) +
                           '\n';
               }
               finish(messages + oldest);
             });
}

}  // namespace hk::api::admin
