// Queues: made, found, listed, changed, emptied, deleted.
#include <algorithm>

#include "api/aws/names.h"
#include "api/aws/tags.h"
#include "api/reply.h"
#include "api/sqs/change_settings.h"
#include "api/sqs/exchange.h"
#include "api/sqs/extra_settings.h"
#include "api/sqs/queue_attributes.h"
#include "api/text.h"
#include "base/encoding.h"

namespace hk::api::sqs {

namespace {

using aws::ErrorCode;

constexpr std::int64_t page_max = 1000;
constexpr Millis purge_pause{60'000};

bool shown(const core::Queue& queue) { return queue.pull && !queue.deleted; }

/// Every attribute that is given must be as it is.
std::optional<std::string> different(const Exchange& exchange, const core::Queue& queue,
                                     const aws::TextMap& given) {
  for (const auto& [name, value] : given) {
    if (!has_attribute(exchange, queue, name, value)) {
      return name;
    }
  }
  return std::nullopt;
}

/// False: they have been refused.
bool good_tags(Exchange& exchange, const aws::TextMap& tags) {
  const Result<void> good = aws::check_tags(tags);
  if (!good) {
    exchange.refuse({ErrorCode::invalid_parameter_value,
                     "The parameter Tags is invalid. Reason: " + good.error().message + "."});
  }
  return good.has_value();
}

bool is_true(const std::string& value) { return parse_bool(value).value_or(false); }

void send_page(Exchange& exchange, std::string_view list, const std::vector<core::Queue>& queues,
               std::optional<std::int64_t> max) {
  std::vector<std::string> urls;
  std::optional<std::string> next;
  const auto limit = static_cast<std::size_t>(max.value_or(page_max));
  for (const core::Queue& queue : queues) {
    if (urls.size() == limit) {
      if (max) {
        next = base64(queues[urls.size() - 1].name);
      }
      break;
    }
    urls.push_back(url_of(exchange, queue));
  }
  exchange.succeed([&](aws::Output& out) {
    out.texts(list, urls);
    out.text("NextToken", next);
  });
}

/// The name behind which the page begins; "": at the beginning. nullopt: it has been refused.
std::optional<std::string> page_start(Exchange& exchange, aws::Input& input) {
  const std::string_view token = input.text("NextToken").value_or("");
  auto name = unbase64(token);
  if (!name || (!token.empty() && !aws::valid_queue_name(*name))) {
    exchange.refuse(
        aws::invalid_value("NextToken", token, "it is not one that a page ended with."));
    return std::nullopt;
  }
  return name;
}

/// Names of queues with that prefix behind `after`, in order.
std::vector<core::Queue> queues_after(const Exchange& exchange, std::string_view prefix,
                                      std::string_view after) {
  std::vector<core::Queue> all = exchange.services.submitter.durable_view(exchange.tenant_id())
                                     ->scan(core::Range<core::Queue>::of(exchange.tenant_id()));
  std::erase_if(all, [&](const core::Queue& one) {
    return !shown(one) || !one.name.starts_with(prefix) || one.name <= after;
  });
  std::ranges::sort(all, {}, &core::Queue::name);
  return all;
}

}  // namespace

void change_settings(const ExchangePtr& exchange, const std::string& name,
                     std::function<aws::Checked<void>(core::PullSettings&)> change) {
  auto queue = exchange->services.submitter.durable_view(exchange->tenant_id())
                   ->get<core::Queue>({exchange->tenant_id(), name});
  if (!queue || !shown(*queue)) {
    exchange->refuse(told(Error{ErrorKind::not_found, {}}));
    return;
  }
  core::PullSettings settings = *queue->pull;
  if (auto changed = change(settings); !changed) {
    exchange->refuse(changed.error());
    return;
  }
  exchange->batcher.submit(core::SetPullSettings{exchange->tenant_id(), name, std::move(settings)},
                           [exchange, name, change = std::move(change)](const core::Reply& reply) {
                             if (reply) {
                               exchange->succeed();
                             } else if (reply.error().kind == ErrorKind::conflict) {
                               change_settings(exchange, name, change);
                             } else {
                               exchange->refuse(told(reply.error()));
                             }
                           });
}

void create_queue(const ExchangePtr& exchange, aws::Input& input) {
  const std::string name(input.required_text("QueueName"));
  const aws::TextMap attributes = input.map("Attributes");
  aws::TextMap tags = input.map("tags");
  if (tags.empty()) {
    tags = input.map("Tags");
  }
  if (!well_formed(*exchange, input)) {
    return;
  }
  const auto fifo = attributes.find("FifoQueue");
  const bool wants_fifo = fifo != attributes.end() && is_true(fifo->second);
  if (!aws::valid_queue_name(name) ||
      (fifo != attributes.end() && wants_fifo != aws::is_fifo_name(name)) ||
      (aws::is_fifo_name(name) && !wants_fifo)) {
    if (aws::valid_queue_name(name) && !aws::is_fifo_name(name) && !wants_fifo) {
      exchange->refuse({ErrorCode::invalid_attribute_name, "Unknown Attribute FifoQueue."});
      return;
    }
    exchange->refuse(aws::invalid_value(
        "QueueName", name,
        "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length; the "
        "name of a FIFO queue, and of no other, ends in .fifo"));
    return;
  }
  if (!good_tags(*exchange, tags)) {
    return;
  }
  core::CreatePullQueue command{exchange->tenant_id(), name, {}};
  if (auto read = apply_attributes(*exchange, name, attributes, true, command.settings); !read) {
    exchange->refuse(read.error());
    return;
  }
  set_extra(command.settings, "Region", exchange->region);
  for (const auto& [key, value] : tags) {
    command.settings.tags.push_back({key, value});
  }
  exchange->batcher.submit(std::move(command), [exchange, attributes](const core::Reply& reply) {
    if (!reply) {
      exchange->refuse(told(reply.error()));
      return;
    }
    const auto& made = answer_of<core::QueueMade>(reply);
    if (!made.queue.pull) {
      exchange->refuse(
          {ErrorCode::queue_name_exists, "A queue of that name exists whose messages are pushed."});
      return;
    }
    if (made.existed) {
      if (const auto other = different(*exchange, made.queue, attributes)) {
        exchange->refuse({ErrorCode::queue_name_exists,
                          "A queue already exists with the same name and a different value for "
                          "attribute " +
                              *other});
        return;
      }
    }
    exchange->succeed(
        [&](aws::Output& out) { out.text("QueueUrl", url_of(*exchange, made.queue)); });
  });
}

void get_queue_url(const ExchangePtr& exchange, aws::Input& input) {
  const std::string name(input.required_text("QueueName"));
  const auto owner = input.text("QueueOwnerAWSAccountId");
  if (!well_formed(*exchange, input)) {
    return;
  }
  const auto queue = exchange->services.submitter.durable_view(exchange->tenant_id())
                         ->get<core::Queue>({exchange->tenant_id(), name});
  if (!queue || !shown(*queue) || (owner && !owner->empty() && *owner != exchange->account)) {
    exchange->refuse(told(Error{ErrorKind::not_found, {}}));
    return;
  }
  exchange->succeed([&](aws::Output& out) { out.text("QueueUrl", url_of(*exchange, *queue)); });
}

void list_queues(const ExchangePtr& exchange, aws::Input& input) {
  const std::string prefix(input.text("QueueNamePrefix").value_or(""));
  const auto max = input.integer("MaxResults", 1, page_max);
  if (!well_formed(*exchange, input)) {
    return;
  }
  if (const auto after = page_start(*exchange, input)) {
    send_page(*exchange, "QueueUrls", queues_after(*exchange, prefix, *after), max);
  }
}

void list_dead_letter_source_queues(const ExchangePtr& exchange, aws::Input& input) {
  const auto max = input.integer("MaxResults", 1, page_max);
  const auto target = queue_of(*exchange, input);
  if (!target) {
    return;
  }
  const auto after = page_start(*exchange, input);
  if (!after) {
    return;
  }
  std::vector<core::Queue> sources = queues_after(*exchange, "", *after);
  std::erase_if(sources, [&](const core::Queue& one) {
    return one.pull->receives_max == 0 || one.pull->dead_letters_to != target->name;
  });
  send_page(*exchange, "queueUrls", sources, max);
}

void delete_queue(const ExchangePtr& exchange, aws::Input& input) {
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  exchange->batcher.submit(core::DeleteQueueCommand{exchange->tenant_id(), queue->name},
                           [exchange](const core::Reply& reply) {
                             if (!reply) {
                               exchange->refuse(told(reply.error()));
                               return;
                             }
                             exchange->succeed();
                           });
}

void purge_queue(const ExchangePtr& exchange, aws::Input& input) {
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  if (queue->pull->purged_at != Moment{} &&
      queue->pull->purged_at + purge_pause > exchange->services.now()) {
    exchange->refuse(
        {ErrorCode::purge_queue_in_progress,
         "Only one PurgeQueue operation on " + queue->name + " is allowed every 60 seconds."});
    return;
  }
  exchange->batcher.submit(core::PurgeQueue{exchange->tenant_id(), queue->name},
                           [exchange](const core::Reply& reply) {
                             if (!reply) {
                               exchange->refuse(told(reply.error()));
                               return;
                             }
                             exchange->succeed();
                           });
}

void get_queue_attributes(const ExchangePtr& exchange, aws::Input& input) {
  std::vector<std::string> names = input.texts("AttributeNames");
  auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  core::CountQueue command{exchange->tenant_id(), queue->name};
  exchange->batcher.submit(
      std::move(command),
      [exchange, queue = std::move(*queue), names = std::move(names)](const core::Reply& reply) {
        if (!reply) {
          exchange->refuse(told(reply.error()));
          return;
        }
        const auto read =
            read_attributes(*exchange, queue, answer_of<core::QueueCounted>(reply), names);
        if (!read) {
          exchange->refuse(read.error());
          return;
        }
        exchange->succeed([&](aws::Output& out) { out.map("Attributes", *read); });
      });
}

void set_queue_attributes(const ExchangePtr& exchange, aws::Input& input) {
  const bool given = input.given("Attributes");
  aws::TextMap attributes = input.map("Attributes");
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  if (!given) {
    exchange->refuse(aws::missing_parameter("Attributes"));
    return;
  }
  const auto fifo = attributes.find("FifoQueue");
  if (fifo != attributes.end() && queue->pull->fifo && is_true(fifo->second)) {
    attributes.erase(fifo);
  }
  if (attributes.empty()) {
    exchange->succeed();
    return;
  }
  change_settings(exchange, queue->name,
                  [exchange, name = queue->name,
                   attributes = std::move(attributes)](core::PullSettings& settings) {
                    return apply_attributes(*exchange, name, attributes, false, settings);
                  });
}

void tag_queue(const ExchangePtr& exchange, aws::Input& input) {
  const aws::TextMap tags = input.map("Tags");
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  if (tags.empty()) {
    exchange->refuse(aws::missing_parameter("Tags"));
    return;
  }
  if (!good_tags(*exchange, tags)) {
    return;
  }
  change_settings(
      exchange, queue->name, [tags](core::PullSettings& settings) -> aws::Checked<void> {
        for (const auto& [key, value] : tags) {
          std::erase_if(settings.tags, [&](const core::Header& one) { return one.name == key; });
          settings.tags.push_back({key, value});
        }
        if (settings.tags.size() > aws::tags_max) {
          return aws::refuse(ErrorCode::invalid_parameter_value, "A queue has at most 50 tags.");
        }
        return {};
      });
}

void untag_queue(const ExchangePtr& exchange, aws::Input& input) {
  const std::vector<std::string> keys = input.texts("TagKeys");
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  if (keys.empty()) {
    exchange->refuse(aws::missing_parameter("TagKeys"));
    return;
  }
  change_settings(exchange, queue->name,
                  [keys](core::PullSettings& settings) -> aws::Checked<void> {
                    std::erase_if(settings.tags, [&](const core::Header& one) {
                      return std::ranges::find(keys, one.name) != keys.end();
                    });
                    return {};
                  });
}

void list_queue_tags(const ExchangePtr& exchange, aws::Input& input) {
  const auto queue = queue_of(*exchange, input);
  if (!queue) {
    return;
  }
  aws::TextMap tags;
  for (const core::Header& one : queue->pull->tags) {
    tags[one.name] = one.value;
  }
  exchange->succeed([&](aws::Output& out) { out.map("Tags", tags); });
}

}  // namespace hk::api::sqs
