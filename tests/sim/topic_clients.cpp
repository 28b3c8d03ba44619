// Who makes topics of SNS, subscribes to them and publishes to them.
#include <algorithm>

#include "sim/known_filters.h"
#include "sim/simulation.h"

namespace hk::sim {

/// What is set of it.
void Simulation::draw_settings(core::Subscription& one) {
  if (one.queue.empty()) {
    one.retries.reset();
    if (chance(500)) {
      one.retries = core::RetryPolicy{static_cast<std::uint32_t>(rng_.below(3)),
                                      core::TableDelay{{up_to(config_.retry_delay_max)}}};
    }
  }
  one.raw = chance(500);
  const KnownFilter& filter = known_filters[rng_.below(known_filters.size())];
  one.filter = filter.text;
  one.filter_scope = filter.scope;
  one.dead_letters_to = config_.pull_queues > 0 && chance(500)
                            ? pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)))
                            : "";
}

/// Few destinations, so that the same one is subscribed again.
core::Subscription Simulation::draw_subscription() {
  core::Subscription one{.id = "s" + std::to_string(next_op_)};
  if (config_.pull_queues > 0 && chance(700)) {
    one.protocol = "sqs";
    one.queue = chance(50) ? "nowhere"
                           : pull_name(static_cast<std::uint32_t>(rng_.below(config_.pull_queues)));
  } else {
    const std::string& host = config_.hosts[rng_.below(config_.hosts.size())].name;
    one.protocol = "http";
    one.url = host + "/sns" + std::to_string(rng_.below(2));
    one.host = host;
    one.token = "k" + std::to_string(next_op_);
  }
  draw_settings(one);
  return one;
}

void Simulation::create_topic(const Named& name, bool fifo) {
  auto topic = std::make_shared<core::Topic>();
  topic->tenant = chance(config_.bad_requests) ? core::TenantId{99} : name.first;
  topic->kind = core::TopicKind::sns;
  topic->name = name.second;
  topic->incarnation = "i" + std::to_string(next_op_);
  topic->fifo = fifo;
  topic->dedup_by_group = fifo && chance(300);
  topic->retries = core::RetryPolicy{static_cast<std::uint32_t>(rng_.below(2)),
                                     core::TableDelay{{up_to(config_.retry_delay_max)}}};
  Op op{.kind = Op::Kind::create_topic, .tenant = topic->tenant, .name = name.second};
  op.topic = std::move(topic);
  submit(std::move(op));
}

void Simulation::subscribe(const core::Topic& topic) {
  core::Subscription wanted = draw_subscription();
  const auto same = std::ranges::find_if(topic.subscriptions, [&wanted](const auto& one) {
    return core::same_destination(one, wanted);
  });
  if (same != topic.subscriptions.end() && chance(850)) {  // they have looked
    wanted = *same;
  }
  Op op{.kind = Op::Kind::subscribe, .tenant = topic.tenant, .name = topic.name};
  op.subscription = std::make_shared<core::Subscription>(std::move(wanted));
  op.invited = !chance(50);
  submit(std::move(op));
}

void Simulation::change_topic(const core::Topic& topic) {
  Op op{.tenant = topic.tenant, .name = topic.name};
  auto known = std::make_shared<core::Topic>(topic);
  known->version += chance(30) ? 1 : 0;  // somebody was faster
  core::Subscription one{.id = "none", .token = "none"};
  if (!topic.subscriptions.empty() && !chance(50)) {
    one = topic.subscriptions[rng_.below(topic.subscriptions.size())];
  }
  const std::uint64_t what = rng_.below(1000);
  op.by_owner = chance(500);
  op.owner_ends_it = chance(500);
  if (what < 40) {
    op.kind = Op::Kind::delete_topic;
  } else if (what < 200) {
    op.kind = Op::Kind::set_topic;
    known->dedup_by_group = known->fifo && chance(300);
    known->retries = core::RetryPolicy{static_cast<std::uint32_t>(rng_.below(2)),
                                       core::TableDelay{{up_to(config_.retry_delay_max)}}};
    known->options = {{"o", std::to_string(next_op_)}};
    known->tags = {{"t", std::to_string(next_op_)}};
    known->subscriptions.clear();  // those stay
  } else if (what < 500) {
    op.kind = Op::Kind::confirm_subscription;
  } else if (what < 750) {
    op.kind = Op::Kind::unsubscribe;
  } else {
    op.kind = Op::Kind::set_subscription;
    draw_settings(one);
  }
  op.topic = std::move(known);
  op.subscription = std::make_shared<core::Subscription>(std::move(one));
  submit(std::move(op));
}

void Simulation::topic_acts() {
  const auto number = static_cast<std::uint32_t>(rng_.below(config_.topics));
  const bool fifo = ((config_.topic_fifo >> number) & 1U) != 0;
  const Named topic{core::TenantId{static_cast<std::uint32_t>(1 + rng_.below(config_.tenants))},
                    "t" + std::to_string(number) + (fifo ? ".fifo" : "")};
  const auto known = model_.topics().find({topic.first, core::sns_mark + topic.second});
  if (chance(known == model_.topics().end() ? 800 : 10)) {
    create_topic(topic, fifo);
    return;
  }
  if (known != model_.topics().end() && chance(300)) {
    if (chance(500)) {
      subscribe(known->second);
    } else {
      change_topic(known->second);
    }
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
    text->dedup_id = chance(config_.bad_requests) ? "" : "d" + std::to_string(rng_.below(20));
  }
  text->enveloped = !chance(100);
  text->body_read = !chance(100);
  text->timeout = Millis{1} + up_to(config_.timeout_max);
  op.text = std::move(text);
  submit(std::move(op));
}

}  // namespace hk::sim
