#include "core/pull/delayed_counts.h"

#include <algorithm>
#include <charconv>

#include "core/pull/documents.h"

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

std::uint64_t DelayedCounts::count(const QueueKey& queue, Moment now) const {
  const auto found = delayed_.find(queue);
  return found == delayed_.end() ? 0 : found->second.count(now);
}

void DelayedCounts::change(const QueueKey& queue, Moment before, Moment due, Moment now) {
  if (before > now) {
    const auto found = delayed_.find(queue);
    if (found != delayed_.end() && found->second.remove(before)) {
      dirty_.insert({queue, Delayed::second_of(before)});
    }
  }
  if (due > now) {
    delayed_[queue].add(due);
    dirty_.insert({queue, Delayed::second_of(due)});
  }
}

void DelayedCounts::forget_past(Moment now) {
  if (now < next_check_) {
    return;
  }
  next_check_ = now + std::chrono::seconds{1};
  for (auto at = delayed_.begin(); at != delayed_.end();) {
    for (const std::int64_t second : at->second.forget(now)) {
      dirty_.insert({at->first, second});
    }
    at = at->second.empty() ? delayed_.erase(at) : std::next(at);
  }
}

void DelayedCounts::forget(const QueueKey& queue) {
  const auto found = delayed_.find(queue);
  if (found == delayed_.end()) {
    return;
  }
  for (const std::int64_t second : found->second.forget(never)) {
    dirty_.insert({queue, second});
  }
  delayed_.erase(found);
}

void DelayedCounts::flush(Batch& batch) {
  for (const auto& [key, second] : dirty_) {
    const auto& [tenant, queue] = key;
    const auto found = delayed_.find(key);
    std::string text = found == delayed_.end() ? std::string{} : found->second.text(second);
    std::string name = name_of(queue, second);
    if (text.empty()) {
      batch.put(Erase<Document>{tenant, Delayed::kind, std::move(name)});
      continue;
    }
    batch.put(Put<Document>{{.tenant = tenant,
                             .kind = Delayed::kind,
                             .name = std::move(name),
                             .fields = {{counts_field, std::move(text)}},
                             .created_at = batch.now()}});
  }
  dirty_.clear();
}

void DelayedCounts::recover(Reader& reader, TenantId tenant) {
  for_each_document(reader, tenant, Delayed::kind, [&](const Document& document) {
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
