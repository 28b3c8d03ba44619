// How many messages a queue that is pulled from has, by what they wait for. Whoever asks often pays
// nothing for the backlog: what is out is in memory, and what is delayed is counted by due time.
#include <algorithm>
#include <charconv>

#include "base/assert.h"
#include "core/machine.h"
#include "core/pull/documents.h"
#include "core/pull/no_queue.h"

namespace hk::core {

namespace {

constexpr const char* counts_field = "counts";
constexpr std::size_t second_digits = 12;

std::string name_of(const std::string& queue, std::int64_t second) {
  std::string digits = std::to_string(second);
  digits.insert(0, second_digits - std::min(second_digits, digits.size()), '0');
  return queue + '/' + digits;
}

}  // namespace

Reply Machine::decide(const CountQueue& command) {
  const Queue* const queue = find_pull_queue(command.tenant, command.name);
  if (queue == nullptr) {
    return no_queue(command.name);
  }
  QueueCounted counted;
  if (const PullQueue* pull = scheduler_.find_pull_queue(command.tenant, command.name)) {
    // While it is swept nothing is handed out: what is out is among the doomed.
    counted.in_flight = queue->sweep_up_to == Seq{} ? pull->in_flight : 0;
    if (!pull->live.empty()) {
      const auto oldest = batch_.message(pull->live.begin()->first);
      HK_ASSERT(oldest != nullptr && oldest->pull);
      counted.oldest = oldest->pull->sent_at;
    }
  }
  if (const auto found = delayed_.find({command.tenant, command.name}); found != delayed_.end()) {
    counted.delayed = found->second.count(batch_.now());
  }
  const std::uint64_t hidden = counted.in_flight + counted.delayed + queue->doomed;
  counted.visible = queue->lag > hidden ? queue->lag - hidden : 0;
  return counted;
}

void Machine::now_delayed(const Message& message) {
  if (message.not_before <= batch_.now()) {
    return;
  }
  change_delayed({message.tenant, message.queue}, Moment{}, message.not_before);
}

/// One that was due then is due at another time; what is due now or was so is not counted.
void Machine::change_delayed(const QueueKey& queue, Moment before, Moment due) {
  if (before > batch_.now()) {
    const auto found = delayed_.find(queue);
    if (found != delayed_.end() && found->second.remove(before)) {
      dirty_delayed_.insert({queue, Delayed::second_of(before)});
    }
  }
  if (due > batch_.now()) {
    delayed_[queue].add(due);
    dirty_delayed_.insert({queue, Delayed::second_of(due)});
  }
}

/// It ends. What was never due was never received, either.
void Machine::no_longer_delayed(Seq seq, const LaneKey& lane) {
  if (delayed_.empty()) {
    return;
  }
  const auto found = delayed_.find({lane.tenant, lane.queue});
  if (found == delayed_.end() || seq <= queues_.at(found->first).sweep_up_to) {
    return;
  }
  Moment due{};
  if (const Live* live = find_live(seq)) {
    due = live->attempts == 0 ? live->not_before : Moment{};
  } else {
    const auto message = batch_.message(seq);
    HK_ASSERT(message != nullptr);
    const auto entry = find_entry(*message);  // the queue's delay may have changed since
    due = entry ? entry->not_before : message->not_before;
  }
  change_delayed(found->first, due, Moment{});
}

/// Now and then, so that a queue does not remember all the seconds that there were.
void Machine::forget_delayed() {
  if (batch_.now() < next_delayed_check_) {
    return;
  }
  next_delayed_check_ = batch_.now() + std::chrono::seconds{1};
  for (auto at = delayed_.begin(); at != delayed_.end();) {
    for (const std::int64_t second : at->second.forget(batch_.now())) {
      dirty_delayed_.insert({at->first, second});
    }
    at = at->second.empty() ? delayed_.erase(at) : std::next(at);
  }
}

/// What it has is doomed, and counts no more.
void Machine::forget_delayed_of(const QueueKey& queue) {
  const auto found = delayed_.find(queue);
  if (found == delayed_.end()) {
    return;
  }
  for (const std::int64_t second : found->second.forget(never)) {
    dirty_delayed_.insert({queue, second});
  }
  delayed_.erase(found);
}

void Machine::write_delayed() {
  for (const auto& [key, second] : dirty_delayed_) {
    const auto& [tenant, queue] = key;
    const auto found = delayed_.find(key);
    std::string text = found == delayed_.end() ? std::string{} : found->second.text(second);
    std::string name = name_of(queue, second);
    if (text.empty()) {
      batch_.put(DeleteDocument{tenant, Delayed::kind, std::move(name)});
      continue;
    }
    batch_.put(PutDocument{{.tenant = tenant,
                            .kind = Delayed::kind,
                            .name = std::move(name),
                            .fields = {{counts_field, std::move(text)}},
                            .created_at = batch_.now()}});
  }
  dirty_delayed_.clear();
}

/// One document for each second in which something becomes due.
void Machine::recover_delayed(TenantId tenant) {
  for_each_document(batch_.reader(), tenant, Delayed::kind, [&](const Document& document) {
    const std::size_t slash = document.name.rfind('/');
    const std::string queue = document.name.substr(0, slash);
    std::int64_t second = 0;
    std::from_chars(document.name.data() + slash + 1, document.name.data() + document.name.size(),
                    second);
    if (slash == std::string::npos || document.fields.size() != 1 ||
        document.name != name_of(queue, second) || second < 0 ||
        second >= Delayed::second_of(never)) {
      throw CorruptRecord("counts of delayed messages " + document.name);
    }
    const QueueKey key{tenant, queue};
    if (!delayed_[key].read(second, document.fields.front().value)) {
      throw CorruptRecord("counts of delayed messages " + document.name);
    }
  });
}

}  // namespace hk::core
