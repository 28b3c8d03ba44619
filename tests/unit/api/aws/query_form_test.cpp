#include "api/aws/query_form.h"

#include <gtest/gtest.h>

namespace hk::api::aws {
namespace HK_TEST_FILE {

using Texts = std::vector<std::string>;

TEST(QueryForm, DecodesFieldsAndKeepsTheFirstOfAName) {
  const auto form = QueryForm::parse("b=2+x%20y%2B&a=1&b=3&e=&only&u=%C3%A9");

  ASSERT_TRUE(form);
  EXPECT_EQ(form->value("a"), "1");
  EXPECT_EQ(form->value("b"), "2 x y+");
  EXPECT_EQ(form->value("e"), "");
  EXPECT_EQ(form->value("only"), "");
  EXPECT_EQ(form->value("u"), "\xc3\xa9");
  EXPECT_FALSE(form->value("c"));
  EXPECT_EQ(form->size(), 6U);
}

TEST(QueryForm, KeepsTheFirstOfManyFieldsOfAName) {
  std::string text = "a=first";
  for (int i = 0; i < 1'000; ++i) {
    text += "&b=" + std::to_string(i) + "&a=" + std::to_string(i);
  }

  const auto form = QueryForm::parse(text);

  ASSERT_TRUE(form);
  EXPECT_EQ(form->value("a"), "first");
  EXPECT_EQ(form->value("b"), "0");
}

TEST(QueryForm, TheBodyCountsBeforeTheQueryString) {
  auto form = QueryForm::parse("a=body", "a=query&b=query");

  ASSERT_TRUE(form);
  EXPECT_EQ(form->value("a"), "body");
  EXPECT_EQ(form->value("b"), "query");
  form->add("a", "added");
  form->add("c", "added");
  EXPECT_EQ(form->value("a"), "body");
  EXPECT_EQ(form->value("c"), "added");
}

TEST(QueryForm, ListsAreReadInTheOrderOfTheirNumbers) {
  struct Row {
    std::string_view name;
    std::string_view form;
    std::string_view list;
    Texts items;
  };
  const Row rows[] = {
      {"absent", "a=1", "L", {}},
      {"numbered", "L.1=a&L.2=b", "L", {"L.1", "L.2"}},
      {"by number, not by text", "L.10=j&L.9=i&L.1=a", "L", {"L.1", "L.9", "L.10"}},
      {"gaps", "L.3=c&L.7=g", "L", {"L.3", "L.7"}},
      {"from zero", "L.0=a&L.1=b", "L", {"L.0", "L.1"}},
      {"unnumbered", "L=All", "L", {"L"}},
      {"unnumbered map", "L.Name=a&L.Value=b", "L", {"L"}},
      {"empty list", "L=", "L", {}},
      {"empty list beside items", "L=&L.1=a", "L", {"L.1"}},
      {"structures", "L.1.Name=a&L.1.Value=b&L.2.Name=c", "L", {"L.1", "L.2"}},
      {"fields of one item apart", "L.1=a&L.1-=x&L.1.b=c", "L", {"L", "L.1"}},
      {"another name with the same beginning", "LX.1=a&L-.1=b&L.1=c", "L", {"L.1"}},
      {"nested", "E.1.A.1.N=x&E.1.A.2.N=y&E.2.A.1.N=z", "E.1.A", {"E.1.A.1", "E.1.A.2"}},
      {"SNS list", "L.member.1=a&L.member.2=b", "L.member", {"L.member.1", "L.member.2"}},
      {"SNS map", "M.entry.1.key=a&M.entry.1.value=b", "M.entry", {"M.entry.1"}},
      {"a number beyond reason", "L.9999999999=a", "L", {"L"}},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto form = QueryForm::parse(row.form);
    ASSERT_TRUE(form);
    EXPECT_EQ(form->items(row.list), row.items);
  }
}

TEST(QueryForm, SaysWhetherAnythingOfANameWasGiven) {
  const auto form = QueryForm::parse("A=&B.1=x&C.1.D=y&EX=z");

  ASSERT_TRUE(form);
  EXPECT_TRUE(form->given("A"));
  EXPECT_TRUE(form->given("B"));
  EXPECT_TRUE(form->given("C.1"));
  EXPECT_FALSE(form->given("D"));
  EXPECT_FALSE(form->given("E"));
}

TEST(QueryForm, RefusesWhatIsBeyondItsBounds) {
  struct Row {
    std::string_view name;
    std::string body;
    std::string query;
    bool good;
  };
  const Row rows[] = {
      {"as many as allowed", "a&b&c", "", true},
      {"in two parts", "a&b", "c", true},
      {"one more", "a&b&c&d", "", false},
      {"one more in two parts", "a&b&c", "d", false},
      {"separators count", "&&&", "", false},
      {"as large as allowed", std::string(20, 'x'), "", true},
      {"larger", std::string(20, 'x'), "y", false},
      {"broken encoding", "a=%4", "", false},
      {"broken encoding in the query", "", "a=%zz", false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    const auto form =
        QueryForm::parse(row.body, row.query, FormBounds{.fields_max = 3, .bytes_max = 20});
    EXPECT_EQ(form.has_value(), row.good);
    if (!row.good && !form) {
      EXPECT_EQ(form.error().code, ErrorCode::serialization);
    }
  }
}

TEST(QueryForm, HoldsALargeFormWithoutQuadraticWork) {
  std::string text;
  for (int i = 4'000; i > 0; --i) {
    text += "L." + std::to_string(i) + ".Name=v" + std::to_string(i) + (i == 1 ? "" : "&");
  }

  const auto form = QueryForm::parse(text);

  ASSERT_TRUE(form);
  const auto items = form->items("L");
  ASSERT_EQ(items.size(), 4'000U);
  EXPECT_EQ(form->value(items.front() + ".Name"), "v1");
  EXPECT_EQ(form->value(items.back() + ".Name"), "v4000");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::aws
