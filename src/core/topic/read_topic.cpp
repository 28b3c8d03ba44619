#include "core/topic/read_topic.h"

#include "core/reader.h"
#include "core/topic/delivery_policy.h"

namespace hk::core {

namespace {

std::size_t text_bytes(const std::vector<Header>& headers) {
  std::size_t bytes = 0;
  for (const Header& one : headers) {
    bytes += one.name.size() + one.value.size();
  }
  return bytes;
}

}  // namespace

Result<std::shared_ptr<const ReadTopic>> ReadTopic::read(Topic topic) {
  auto read = std::make_shared<ReadTopic>();
  read->filters.reserve(topic.subscriptions.size());
  for (const Subscription& one : topic.subscriptions) {
    std::optional<FilterPolicy>& filter = read->filters.emplace_back();
    if (one.filter.empty()) {
      continue;
    }
    auto parsed = FilterPolicy::parse(one.filter, one.filter_scope, PolicyFrom::store);
    if (!parsed) {
      return fail(ErrorKind::invalid_argument, "topic " + topic.name + ", subscription " + one.id +
                                                   ": " + parsed.error().message);
    }
    filter = std::move(*parsed);
  }
  read->topic = std::move(topic);
  return read;
}

std::shared_ptr<const ReadTopic> ReadTopic::read_stored(Topic topic) {
  auto read = ReadTopic::read(std::move(topic));
  if (!read) {
    throw CorruptRecord(read.error().message);
  }
  return std::move(*read);
}

std::size_t bytes_of(const Subscription& one) {
  return one.id.size() + one.url.size() + one.host.size() + one.queue.size() + one.protocol.size() +
         one.filter.size() + one.dead_letters_to.size() + one.token.size() + text_bytes(one.extra);
}

std::size_t bytes_of(const Topic& topic) {
  std::size_t bytes = topic.name.size() + topic.incarnation.size() + text_bytes(topic.options) +
                      text_bytes(topic.tags);
  for (const Subscription& one : topic.subscriptions) {
    bytes += bytes_of(one);
  }
  return bytes;
}

RetryPolicy retries_of(const std::optional<RetryPolicy>& of_topic,
                       const std::optional<RetryPolicy>& own) {
  if (own) {
    return *own;
  }
  return of_topic ? *of_topic : default_retries();
}

}  // namespace hk::core
