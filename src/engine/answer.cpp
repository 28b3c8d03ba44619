#include "engine/answer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/assert.h"

namespace hk::engine {

void answer(std::vector<Submission>& submissions, std::vector<core::Reply> replies) {
  HK_ASSERT(submissions.size() == replies.size());
  // Few mailboxes (one per I/O thread): a flat list beats a map.
  std::vector<std::pair<Mailbox*, std::vector<Finished>>> by_mailbox;
  for (std::size_t i = 0; i < submissions.size(); ++i) {
    if (!submissions[i].done) {
      continue;
    }
    Mailbox* mailbox = submissions[i].mailbox;
    HK_ASSERT(mailbox != nullptr);
    auto found = std::find_if(by_mailbox.begin(), by_mailbox.end(),
                              [mailbox](const auto& row) { return row.first == mailbox; });
    if (found == by_mailbox.end()) {
      by_mailbox.emplace_back(mailbox, std::vector<Finished>{});
      found = std::prev(by_mailbox.end());
      found->second.reserve(submissions.size());
    }
    found->second.push_back({std::move(submissions[i].done), std::move(replies[i])});
  }
  for (auto& [mailbox, finished] : by_mailbox) {
    mailbox->deliver(std::move(finished));
  }
}

void answer_all(std::vector<Submission>& submissions, const Error& error) {
  answer(submissions, std::vector<core::Reply>(submissions.size(), std::unexpected(error)));
}

}  // namespace hk::engine
