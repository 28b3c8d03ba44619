// Who makes topics of SNS, subscribes to them and publishes to them.
#include <algorithm>

#include "sim/known_filters.h"
#include "sim/simulation.h"

namespace hk::sim {

/// Few ids, so that the same subscription is there with other settings.
std::vector<core::Subscription> Simulation::draw_subscriptions() {
  std::vector<core::Subscription> all;
  for (std::uint64_t i = 0; i < 6; ++i) {
    if (!chance(400)) {
      continue;
    }
    core::Subscription one{.id = "s" + std::to_string(i)};
    if (config_.pull_queues > 0 && chance(700)) {
      one.protocol = "sqs";
      one.queue = chance(50)
                      ? "nowhere"
                      : pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)));
    } else {
      const std::string& host = config_.hosts[rng_.below(config_.hosts.size())].name;
      one.protocol = "http";
      one.url = host + "/sns";
      one.host = host;
      if (chance(500)) {
        one.retries = core::RetryPolicy{static_cast<std::uint32_t>(rng_.below(3)),
                                        core::TableDelay{{up_to(config_.retry_delay_max)}}};
      }
    }
    one.raw = chance(500);
    one.confirmed = chance(850);
    const KnownFilter& filter = known_filters[rng_.below(known_filters.size())];
    one.filter = filter.text;
    one.filter_scope = filter.scope;
    if (config_.pull_queues > 0 && chance(500)) {
      one.dead_letters_to = pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)));
    }
    all.push_back(std::move(one));
  }
  return all;
}

void Simulation::change_topic(const Named& topic, bool fifo) {
  const auto known = model_.topics().find({topic.first, core::sns_mark + topic.second});
  if (known != model_.topics().end() && chance(150)) {
    submit({.kind = Op::Kind::delete_topic, .tenant = topic.first, .name = topic.second});
    return;
  }
  auto changed = std::make_shared<core::Topic>();
  if (known != model_.topics().end()) {
    *changed = known->second;
    changed->version += chance(30) ? 1 : 0;  // somebody was faster
  } else {
    changed->tenant = chance(config_.bad_requests) ? core::TenantId{99} : topic.first;
    changed->kind = core::TopicKind::sns;
    changed->name = topic.second;
    changed->incarnation = "i" + std::to_string(next_op_);
    changed->fifo = fifo;
    changed->retries = core::RetryPolicy{static_cast<std::uint32_t>(rng_.below(2)),
                                         core::TableDelay{{up_to(config_.retry_delay_max)}}};
  }
  changed->dedup_by_group = fifo && chance(300);
  changed->subscriptions = draw_subscriptions();
  Op op{.kind = Op::Kind::put_topic, .tenant = changed->tenant, .name = topic.second};
  op.topic = std::move(changed);
  submit(std::move(op));
}

void Simulation::topic_acts() {
  const auto number = static_cast<std::uint32_t>(rng_.below(config_.topics));
  const bool fifo = ((config_.topic_fifo >> number) & 1U) != 0;
  const Named topic{core::TenantId{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))},
                    "t" + std::to_string(number) + (fifo ? ".fifo" : "")};
  const bool there = model_.topics().contains({topic.first, core::sns_mark + topic.second});
  if (chance(there ? 200 : 800)) {
    change_topic(topic, fifo);
    return;
  }
  Op op{.kind = Op::Kind::publish_to_topic, .tenant = topic.first, .name = topic.second};
  auto text = std::make_shared<TopicText>();
  text->looked_at.n = rng_.below(4);
  text->looked_at.a = chance(300) ? "" : chance(500) ? "x" : "y";
  text->number = next_op_;
  if (fifo || chance(300)) {
    text->group = "g" + std::to_string(rng_.below(3));
  }
  if (fifo) {
    text->dedup_id = chance(config_.bad_requests) ? "" : "d" + std::to_string(rng_.below(50));
  }
  text->enveloped = !chance(100);
  text->body_read = !chance(100);
  text->timeout = Millis{1} + up_to(config_.timeout_max);
  op.text = std::move(text);
  submit(std::move(op));
}

}  // namespace hk::sim
