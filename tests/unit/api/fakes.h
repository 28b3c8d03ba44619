/// Stand-ins for everything around the adapters: a reader over maps, a submitter that answers as
/// told, one I/O thread that runs when asked to, and a connection that keeps its answer.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/reader.h"
#include "edge/http/responder.h"
#include "edge/http/server.h"
#include "engine/submitter.h"

namespace hk::api::testing {

class FakeReader final : public core::Reader {
 public:
  std::map<core::Seq, std::shared_ptr<const core::Message>> messages;
  std::map<core::Seq, core::MessageState> states;
  std::map<core::Seq, std::vector<core::Attempt>> earlier;
  std::set<core::DeadLetterKey> letters;
  std::map<std::tuple<core::TenantId, Moment, std::uint64_t>, core::AppendEvents> log;
  std::vector<core::FlowKey> flows;
  bool broken = false;  ///< every record is corrupt
  std::map<core::LaneKey, std::vector<core::LaneEntry>> lanes;
  core::Seq indexed_up_to{};  ///< messages beyond it are found without their lanes
  std::vector<core::Tenant> tenant_list;
  std::vector<core::UrlGroup> groups;
  std::vector<core::Queue> queue_list;
  std::vector<core::Schedule> schedule_list;  ///< in the order of their ids
  std::size_t schedules_read = 0;
  std::optional<core::ScheduleState> state_of_schedules;
  std::vector<core::Document> document_list;  ///< in the order of their names

  template <class T, class Fits>
  static std::optional<T> found(const std::vector<T>& all, Fits fits) {
    const auto at = std::ranges::find_if(all, fits);
    return at == all.end() ? std::nullopt : std::optional<T>(*at);
  }

  std::shared_ptr<const core::Message> message(core::Seq seq) override {
    if (broken) {
      throw core::CorruptRecord("the secret place where it broke");
    }
    const auto found = messages.find(seq);
    return found == messages.end() ? nullptr : found->second;
  }
  std::optional<core::MessageState> state(core::Seq seq) override {
    const auto found = states.find(seq);
    return found == states.end() ? std::nullopt : std::optional(found->second);
  }
  std::vector<core::Attempt> attempts(core::Seq seq) override { return earlier[seq]; }
  std::optional<core::Dedup> dedup(core::TenantId, std::string_view) override { return {}; }
  bool has_dead_letter(const core::DeadLetterKey& key) override { return letters.contains(key); }
  std::vector<core::LaneEntry> lane_entries(const core::LaneKey& lane,
                                            std::optional<core::LanePlace> after,
                                            std::size_t limit) override {
    std::vector<core::LaneEntry> some;
    for (const core::LaneEntry& entry : lanes[lane]) {
      if (some.size() < limit && (!after || *after < entry.place)) {
        some.push_back(entry);
      }
    }
    return some;
  }
  std::vector<core::LaneRow> lane_rows(const std::optional<core::LaneKey>& after,
                                       std::size_t limit) override {
    std::vector<core::LaneRow> some;
    for (const auto& [key, entries] : lanes) {
      for (const core::LaneEntry& entry : entries) {
        if (some.size() < limit && (!after || *after < key)) {
          some.push_back({key, entry});
        }
      }
    }
    return some;
  }
  std::vector<std::shared_ptr<const core::Message>> messages_after(core::Seq after,
                                                                   std::size_t limit) override {
    std::vector<std::shared_ptr<const core::Message>> some;
    for (auto at = messages.upper_bound(after); at != messages.end() && some.size() < limit; ++at) {
      some.push_back(at->second);
    }
    return some;
  }
  core::Seq last_seq() override { return core::Seq{messages.size()}; }
  std::vector<core::PutExpiry> expiries_until(Moment, std::size_t) override { return {}; }
  std::optional<core::Meta> meta() override { return core::Meta{.indexed_up_to = indexed_up_to}; }
  std::vector<core::Tenant> tenants() override { return tenant_list; }
  std::vector<core::Queue> queues() override { return {}; }
  std::vector<core::FlowKey> flow_keys() override { return flows; }
  std::vector<std::pair<core::TenantId, core::Counters>> counters() override { return {}; }
  std::vector<core::UrlGroup> url_groups() override { return groups; }
  std::optional<core::Schedule> schedule(core::TenantId, std::string_view id) override {
    return found(schedule_list, [id](const core::Schedule& one) { return one.id == id; });
  }
  std::optional<core::ScheduleState> schedule_state(core::TenantId, std::string_view) override {
    return state_of_schedules;
  }
  std::vector<core::ScheduleDue> next_schedules(std::size_t) override { return {}; }
  std::vector<core::UrlGroup> url_groups(core::TenantId) override { return groups; }
  std::optional<core::UrlGroup> url_group(core::TenantId, std::string_view name) override {
    return found(groups, [name](const core::UrlGroup& one) { return one.name == name; });
  }
  std::vector<core::Queue> queues(core::TenantId) override { return queue_list; }
  std::optional<core::Queue> queue(core::TenantId, std::string_view name) override {
    return found(queue_list, [name](const core::Queue& one) { return one.name == name; });
  }
  std::optional<core::FlowKey> flow_key(core::TenantId, std::string_view key) override {
    return found(flows, [key](const core::FlowKey& one) { return one.key == key; });
  }
  std::optional<core::Document> document(core::TenantId, std::string_view kind,
                                         std::string_view name) override {
    return found(document_list, [kind, name](const core::Document& one) {
      return one.kind == kind && one.name == name;
    });
  }
  std::vector<core::Document> documents(core::TenantId, std::string_view kind,
                                        std::string_view after, std::size_t limit) override {
    std::vector<core::Document> out;
    for (const core::Document& one : document_list) {
      if (one.kind == kind && one.name > after && out.size() < limit) {
        out.push_back(one);
      }
    }
    return out;
  }
  std::vector<core::Schedule> schedules(core::TenantId, std::string_view after,
                                        std::size_t limit) override {
    std::vector<core::Schedule> some;
    for (const core::Schedule& one : schedule_list) {
      if (one.id > after && some.size() < limit) {
        some.push_back(one);
        ++schedules_read;
      }
    }
    return some;
  }

  std::vector<core::DeadLetterKey> dead_letters(core::TenantId tenant,
                                                std::optional<core::DeadLetterKey> after,
                                                bool latest_first, std::size_t limit) override {
    std::vector<core::DeadLetterKey> found;
    for (const core::DeadLetterKey& key : letters) {
      const bool behind = !after || (latest_first ? key < *after : *after < key);
      if (key.tenant == tenant && behind) {
        found.push_back(key);
      }
    }
    if (latest_first) {
      std::ranges::reverse(found);
    }
    found.resize(std::min(found.size(), limit));
    return found;
  }

  std::vector<core::AppendEvents> events(core::TenantId tenant, Moment from, Moment to,
                                         std::optional<std::pair<Moment, std::uint64_t>> after,
                                         bool latest_first, std::size_t limit) override {
    std::vector<core::AppendEvents> found;
    for (const auto& [key, batch] : log) {
      const std::pair place{batch.time, batch.batch};
      const bool behind = !after || (latest_first ? place < *after : *after < place);
      if (batch.tenant == tenant && batch.time >= from && batch.time <= to && behind) {
        found.push_back(batch);
      }
    }
    if (latest_first) {
      std::ranges::reverse(found);
    }
    found.resize(std::min(found.size(), limit));
    return found;
  }
};

/// Answers each command with `answer`, at once and in one delivery per submit().
class FakeSubmitter final : public engine::Submitter {
 public:
  std::shared_ptr<FakeReader> reader = std::make_shared<FakeReader>();
  std::function<core::Reply(core::Command&)> answer;
  std::vector<core::Command> taken;
  std::vector<std::size_t> batches;  ///< how many came with each submit()
  std::size_t room = SIZE_MAX;

  void submit(std::vector<engine::Submission>& batch) override {
    batches.push_back(batch.size());
    const std::size_t count = std::min(room, batch.size());
    std::vector<engine::Finished> finished;
    engine::Mailbox* mailbox = nullptr;
    for (std::size_t i = 0; i < count; ++i) {
      core::Reply reply = answer(batch[i].command);
      taken.push_back(std::move(batch[i].command));
      finished.push_back({std::move(batch[i].done), std::move(reply)});
      mailbox = batch[i].mailbox;
    }
    batch.erase(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(count));
    if (mailbox != nullptr) {
      mailbox->deliver(std::move(finished));
    }
  }
  std::shared_ptr<core::Reader> durable_view() override { return reader; }
};

class FakeIoThread final : public http::IoThread {
 public:
  void post(std::move_only_function<void()> work) override { work_.push_back(std::move(work)); }
  void defer(std::move_only_function<void()> work) override { work_.push_back(std::move(work)); }
  void watch_lag(http::LagWatcher told) override { lag_watcher = std::move(told); }
  [[nodiscard]] std::size_t index() const override { return 0; }
  [[nodiscard]] void* io_context() override { return nullptr; }

  void run() {
    while (!work_.empty()) {
      auto next = std::move(work_.front());
      work_.erase(work_.begin());
      next();
    }
  }

  http::LagWatcher lag_watcher{};

 private:
  std::vector<std::move_only_function<void()>> work_;
};

class FakeConnection final : public http::Responder::Target {
 public:
  std::vector<std::optional<http::Response>> responses;
  void respond(std::uint64_t slot, http::Response response) override {
    responses.resize(std::max(responses.size(), static_cast<std::size_t>(slot) + 1));
    responses[slot] = std::move(response);
  }
  void watch(std::uint64_t /*slot*/, std::move_only_function<void()> /*told*/) override {}
};

}  // namespace hk::api::testing
