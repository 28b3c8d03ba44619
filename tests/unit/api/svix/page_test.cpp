#include "api/svix/page.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace hk::api::svix {
namespace HK_TEST_FILE {

/// Numbers 1 to `count`, as rows behind `last`.
std::vector<int> rows_of(int count, const Page& page, const int* last, std::size_t most) {
  const bool up = page.order() == core::Order::ascending;
  const int from = page.iterator.empty() ? (up ? 0 : count + 1) : std::stoi(page.iterator);
  std::vector<int> rows;
  for (int next = (last != nullptr ? *last : from) + (up ? 1 : -1);
       next >= 1 && next <= count && rows.size() < most; next += up ? 1 : -1) {
    rows.push_back(next);
  }
  return rows;
}

struct Shown {
  std::string data{};
  std::string iterator{};
  std::string before{};
  bool done = false;
};

Shown shown(const Page& page, int count, std::size_t looked_at_max = 1000, int modulo = 1) {
  const auto paged = gather_page<int>(
      page, looked_at_max, 2,
      [&](const int* last, std::size_t most) { return rows_of(count, page, last, most); },
      [modulo](int row) { return row % modulo == 0 ? Kept::yes : Kept::no; });
  const http::Response response = page_response(
      page, paged, [](int row) { return std::to_string(row); },
      [](JsonWriter& json, int row) { json.number(row); });
  const auto value = boost::json::parse(response.body).as_object();
  Shown result{.data = boost::json::serialize(value.at("data")),
               .done = value.at("done").as_bool()};
  if (value.at("iterator").is_string()) {
    result.iterator = value.at("iterator").as_string().c_str();
  }
  if (value.contains("prevIterator")) {
    result.before = value.at("prevIterator").as_string().c_str();
  }
  return result;
}

TEST(SvixPage, GoesInBothDirectionsAndIsShownInTheOrderOfItsList) {
  struct Row {
    std::string_view name;
    Page page;
    std::string_view data;
    std::string_view iterator;
    std::string_view before;
    bool done;
  };
  const Row rows[] = {
      {"first", {.limit = 3}, "[1,2,3]", "3", "-1", false},
      {"next", {.limit = 3, .iterator = "3"}, "[4,5,6]", "6", "-4", false},
      {"last", {.limit = 3, .iterator = "6"}, "[7]", "7", "-7", true},
      {"exactly the rest", {.limit = 1, .iterator = "6"}, "[7]", "7", "-7", true},
      {"behind the end", {.limit = 3, .iterator = "7"}, "[]", "", "", true},
      {"back", {.limit = 2, .iterator = "4", .back = true}, "[2,3]", "3", "-2", false},
      {"back to the start",
       {.limit = 9, .iterator = "4", .back = true},
       "[1,2,3]",
       "3",
       "-1",
       true},
      {"descending", {.limit = 3, .descending = true}, "[7,6,5]", "5", "-7", false},
      {"descending, back",
       {.limit = 2, .iterator = "4", .back = true, .descending = true},
       "[6,5]",
       "5",
       "-6",
       false},
      {"the oldest, newest first",
       {.limit = 2, .back = true, .descending = true},
       "[2,1]",
       "1",
       "-2",
       false},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const Shown got = shown(row.page, 7);

    EXPECT_EQ(got.data, row.data);
    EXPECT_EQ(got.iterator, row.iterator);
    EXPECT_EQ(got.before, row.before);
    EXPECT_EQ(got.done, row.done);
  }
}

TEST(SvixPage, ThatHasLookedAtEnoughSaysWhereItGoesOn) {
  const Shown got = shown({.limit = 5}, 100, 10, 7);

  EXPECT_EQ(got.data, "[7]");
  EXPECT_EQ(got.iterator, "10");
  EXPECT_FALSE(got.done);
}

TEST(SvixPage, ReadsItsParametersOrSaysWhichAreWrong) {
  struct Row {
    std::string_view query;
    std::string_view wrong;
  };
  const Row rows[] = {
      {"limit=1", ""},       {"limit=250&order=descending", ""},
      {"limit=0", "limit"},  {"limit=251", "limit"},
      {"limit=x", "limit"},  {"limit=-1", "limit"},
      {"order=up", "order"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.query);
    FieldErrors errors;
    Query query(row.query, errors);
    read_page(query, false, true);

    EXPECT_EQ(errors.any() ? errors.all().front().loc.back() : "", row.wrong);
  }
}

TEST(SvixQuery, TakesListsWithCommasAndRepeated) {
  FieldErrors errors;
  Query query("event_types=a,b&event_types=c&channel=x", errors);

  EXPECT_EQ(query.list("event_types"), (std::vector<std::string>{"a", "b", "c"}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::svix
