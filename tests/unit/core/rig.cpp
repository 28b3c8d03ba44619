#include "unit/core/rig.h"

#include <variant>

namespace hk::core::testing {

Ran::Ran() = default;
Ran::Ran(Ran&&) noexcept = default;
Ran& Ran::operator=(Ran&&) noexcept = default;
Ran::~Ran() = default;

std::vector<std::uint64_t> Ran::started() const {
  std::vector<std::uint64_t> seqs;
  for (const StartAttempt& start : starts) {
    seqs.push_back(start.id.seq.value());
  }
  return seqs;
}

Rig::Rig(const Limits& given) : limits(given) {
  static_cast<void>(open());
  run(UpsertTenant{.tenant = {.name = "one"}});
}

Rig::~Rig() = default;

Result<void> Rig::open(const Term& term) {
  machine = std::make_unique<Machine>(
      limits, rng, zones, PartitionId{},
      [forbidden = forbidden_url](const Queue& queue) -> Result<std::string> {
        const std::string& url = queue.pull->push.url;
        if (url == forbidden) {
          return fail(ErrorKind::invalid_argument, "forbidden");
        }
        return url.substr(0, url.find('/', url.find("//") + 2));
      });
  if (auto recovered = machine->recover(reader, now, term); !recovered) {
    return recovered;
  }
  for (const Mutation& mutation : machine->take().mutations) {
    reader.apply(mutation);
  }
  return {};
}

void Rig::begin() { machine->begin(now, reader); }

void Rig::execute(Command command) { replies_.push_back(machine->execute(std::move(command))); }

Ran Rig::end() {
  machine->advance();
  auto output = machine->take();
  for (const Mutation& mutation : output.mutations) {
    reader.apply(mutation);
  }
  Ran ran;
  ran.replies = std::exchange(replies_, {});
  for (const Reply& reply : ran.replies) {
    if (const auto* received = reply ? reply->get_if<Received>() : nullptr) {
      ran.handed_out.push_back(*received);
    }
  }
  for (Batch::Late& late : output.late) {
    const bool received = late.reply && late.reply->is<Received>();
    if (!received) {
      ran.late.emplace_back(late.receiver, late.reply);
    }
    if (received) {
      EXPECT_EQ(late.reply->get<Received>().receiver, late.receiver);
      ran.handed_out.push_back(std::move(late.reply->get<Received>()));
    } else if (!late.reply) {
      ran.sent_away.push_back(late.reply.error());
    }
  }
  for (Effect& effect : output.effects) {
    if (auto* start = std::get_if<StartAttempt>(&effect)) {
      ran.starts.push_back(std::move(*start));
    }
  }
  ran.mutations = std::move(output.mutations);
  return ran;
}

MessageId Rig::publish(Message message) {
  return run(publishing(std::move(message))).only<Published>().id;
}

Publish Rig::publishing(Message message, Millis window) {
  return {.message = std::make_unique<Message>(std::move(message)), .dedup_window = window};
}

CompleteAttempt Rig::outcome(const StartAttempt& start, bool delivered) {
  return {.id = start.id,
          .fence = start.fence,
          .attempt = {.response_status = delivered ? 200 : 500},
          .delivered = delivered};
}

Counters Rig::counts() const { return machine->counters().at(tenant_one); }

Message message_to(std::string host, std::vector<Millis> waits) {
  Message message;
  message.tenant = tenant_one;
  message.url = host + "/hook";
  message.host = std::move(host);
  message.body = "hello";
  message.timeout = Millis{1000};
  message.retry.retries_max = static_cast<std::uint32_t>(waits.size());
  message.retry.delay = TableDelay{std::move(waits)};
  return message;
}

Message queued(std::string queue, std::string group, std::vector<Millis> waits) {
  Message message = message_to("http://a.example:80", std::move(waits));
  message.queue = std::move(queue);
  message.group = std::move(group);
  return message;
}

}  // namespace hk::core::testing
