// GET …/balances: sums of balances over the accounts of a prefix, as a whole or by groups.
#include "api/ledger/aside.h"
#include "api/ledger/handlers.h"
#include "api/ledger/question.h"
#include "api/text.h"
#include "core/ledger/json.h"

namespace hk::api::ledger {

namespace {

using core::ledger::Book;

void write_sums(JsonWriter& json, const Book& book, const Sums& sums, const std::string* group) {
  for (const auto& [code, sum] : by_code(book, sums)) {
    json.begin_object();
    if (group != nullptr) {
      json.field("group", *group);
    }
    json.field("currency", code);
    core::ledger::write_counters(json, sum->counters, sum->normal);
    json.field("accounts", sum->accounts);
    json.end_object();
  }
}

/// "path:2": 2. Not there: 0.
std::size_t read_group_by(Query& query) {
  constexpr std::string_view by_path = "path:";
  constexpr std::uint64_t segments_max = 128;
  const auto given = query.text("group_by");
  if (!given) {
    return 0;
  }
  const auto segments =
      given->starts_with(by_path) ? parse_unsigned(given->substr(by_path.size())) : std::nullopt;
  if (!segments || *segments == 0 || *segments > segments_max) {
    query.refuse("group_by", "must be path:n, with a number of segments from 1 to 128");
    return 0;
  }
  return static_cast<std::size_t>(*segments);
}

}  // namespace

void aggregate(const Services& services, Call& call) {
  constexpr std::string_view listing = "groups";
  Query query(call.request.query(), {"prefix", "group_by", "limit", "cursor", "as_of_effective",
                                     "as_of_recorded", "as_of_seq"});
  const std::string prefix = query.text("prefix").value_or("");
  const std::size_t segments = read_group_by(query);
  const std::size_t limit = query.limit();
  const auto cursor = read_place_text(query, listing, 1);
  const AsOfIn as_of_in = AsOfIn::read(query);
  if (segments == 0 && cursor) {
    query.refuse("cursor", "is for sums with group_by");
  }
  const auto question = question_of(services, call, query);
  if (!question) {
    return;
  }
  answer_aside(
      services, call,
      [question = *question, prefix, segments, limit, after = cursor ? cursor->front() : "",
       as_of = question->resolve(as_of_in)]() -> Result<Made> {
        http::Response response;
        JsonWriter json(response.body);
        json.begin_object();
        json.key("balances");
        json.begin_array();
        std::string next;
        if (segments == 0) {
          const auto kept = as_of.effective || as_of.seq
                                ? std::nullopt
                                : kept_sums(*question.reader, question.place(), prefix);
          const auto sums =
              kept ? *kept : sums_under(*question.reader, question.place(), prefix, as_of);
          if (!sums) {
            return std::unexpected(sums.error());
          }
          write_sums(json, *question.book, *sums, nullptr);
        } else {
          const auto page = groups_under(*question.reader, question.place(), prefix, segments,
                                         after, as_of, limit);
          if (!page) {
            return std::unexpected(page.error());
          }
          for (const Group& group : page->groups) {
            write_sums(json, *question.book, group.sums, &group.name);
          }
          next = page->more ? page->groups.back().after : "";
        }
        json.end_array();
        if (!next.empty()) {
          json.field("cursor", place_text(listing, std::array{next}));
        }
        json.end_object();
        return Made{std::move(response)};
      });
}

}  // namespace hk::api::ledger
