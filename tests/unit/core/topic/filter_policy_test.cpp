#include "core/topic/filter_policy.h"

#include <gtest/gtest.h>

namespace hk::core {
namespace HK_TEST_FILE {

using Attributes = std::vector<Attribute>;

Attribute text(std::string value) { return {"a", "String", std::move(value)}; }
Attribute number(std::string value) { return {"a", "Number", std::move(value)}; }
Attribute list(std::string value) { return {"a", "String.Array", std::move(value)}; }
Attribute bytes() { return {"a", "Binary", "x"}; }

bool wanted(std::string_view policy, const Attributes& attributes) {
  const auto parsed = FilterPolicy::parse(policy, FilterScope::message_attributes);
  EXPECT_TRUE(parsed) << policy << ": " << (parsed ? "" : parsed.error().message);
  FilterSubject message;
  EXPECT_TRUE(message.read_attributes(attributes) && message.read_body("ignored"));
  return parsed && parsed->matches(message).value();
}
bool wanted_body(std::string_view policy, std::string_view body) {
  const auto parsed = FilterPolicy::parse(policy, FilterScope::message_body);
  EXPECT_TRUE(parsed) << policy << ": " << (parsed ? "" : parsed.error().message);
  FilterSubject message;
  EXPECT_TRUE(message.read_attributes({}) && message.read_body(body));
  return parsed && parsed->matches(message).value();
}

TEST(FilterPolicy, EachOperatorOnAttributes) {
  struct Row {
    std::string_view policy;
    Attribute attribute;
    bool matches;
  };
  const Row rows[] = {
      // equal
      {R"({"a":["x"]})", text("x"), true},
      {R"({"a":["x"]})", text("X"), false},
      {R"({"a":["x","y"]})", text("y"), true},
      {R"({"a":[5]})", number("5"), true},
      {R"({"a":[5]})", number("5.0"), true},
      {R"({"a":[5]})", number("+5"), true},
      {R"({"a":[0.5]})", number("5e-1"), true},
      {R"({"a":[5]})", number("6"), false},
      {R"({"a":[5]})", text("5"), false},
      {R"({"a":["5"]})", number("5"), false},
      {R"({"a":[true]})", text("true"), false},
      {R"({"a":[null]})", text("null"), false},
      // texts
      {R"({"a":[{"prefix":"ab"}]})", text("abc"), true},
      {R"({"a":[{"prefix":"ab"}]})", text("xab"), false},
      {R"({"a":[{"prefix":"5"}]})", number("55"), false},
      {R"({"a":[{"suffix":"bc"}]})", text("abc"), true},
      {R"({"a":[{"suffix":"bc"}]})", text("bca"), false},
      {R"({"a":[{"equals-ignore-case":"AbC"}]})", text("aBc"), true},
      {R"({"a":[{"equals-ignore-case":"AbC"}]})", text("aBcd"), false},
      // anything-but
      {R"({"a":[{"anything-but":"x"}]})", text("y"), true},
      {R"({"a":[{"anything-but":"x"}]})", text("x"), false},
      {R"({"a":[{"anything-but":["x","y"]}]})", text("y"), false},
      {R"({"a":[{"anything-but":["x","y"]}]})", text("z"), true},
      {R"({"a":[{"anything-but":5}]})", number("5.0"), false},
      {R"({"a":[{"anything-but":[5,6]}]})", number("7"), true},
      {R"({"a":[{"anything-but":5}]})", text("5"), true},
      {R"({"a":[{"anything-but":{"prefix":"ab"}}]})", text("abc"), false},
      {R"({"a":[{"anything-but":{"prefix":"ab"}}]})", text("cab"), true},
      {R"({"a":[{"anything-but":{"suffix":"ab"}}]})", text("cab"), false},
      {R"({"a":[{"anything-but":{"equals-ignore-case":"ab"}}]})", text("AB"), false},
      // numeric
      {R"({"a":[{"numeric":["=",5]}]})", number("5"), true},
      {R"({"a":[{"numeric":["=",5]}]})", number("4"), false},
      {R"({"a":[{"numeric":["<",5]}]})", number("4.9"), true},
      {R"({"a":[{"numeric":["<",5]}]})", number("5"), false},
      {R"({"a":[{"numeric":["<=",5]}]})", number("5"), true},
      {R"({"a":[{"numeric":[">",5]}]})", number("5"), false},
      {R"({"a":[{"numeric":[">",5]}]})", number("5.1"), true},
      {R"({"a":[{"numeric":[">=",5]}]})", number("5"), true},
      {R"({"a":[{"numeric":[">",0,"<=",150]}]})", number("0"), false},
      {R"({"a":[{"numeric":[">",0,"<=",150]}]})", number("150"), true},
      {R"({"a":[{"numeric":[">",0,"<=",150]}]})", number("150.1"), false},
      {R"({"a":[{"numeric":[">=",0,"<",150]}]})", number("0"), true},
      {R"({"a":[{"numeric":[">=",0,"<",150]}]})", number("150"), false},
      {R"({"a":[{"numeric":["<",5]}]})", text("4"), false},
      // exists
      {R"({"a":[{"exists":true}]})", text("x"), true},
      {R"({"a":[{"exists":true}]})", bytes(), true},
      {R"({"a":[{"exists":false}]})", text("x"), false},
      {R"({"b":[{"exists":true}]})", text("x"), false},
      {R"({"b":[{"exists":false}]})", text("x"), true},
      // addresses
      {R"({"a":[{"cidr":"10.0.0.0/8"}]})", text("10.255.1.2"), true},
      {R"({"a":[{"cidr":"10.0.0.0/8"}]})", text("11.0.0.1"), false},
      {R"({"a":[{"cidr":"10.1.2.64/26"}]})", text("10.1.2.127"), true},
      {R"({"a":[{"cidr":"10.1.2.64/26"}]})", text("10.1.2.128"), false},
      {R"({"a":[{"cidr":"10.1.2.3/32"}]})", text("10.1.2.3"), true},
      {R"({"a":[{"cidr":"0.0.0.0/0"}]})", text("1.2.3.4"), true},
      {R"({"a":[{"cidr":"0.0.0.0/0"}]})", text("::1"), false},
      {R"({"a":[{"cidr":"2001:db8::/33"}]})", text("2001:db8:7fff::1"), true},
      {R"({"a":[{"cidr":"2001:db8::/33"}]})", text("2001:db8:8000::1"), false},
      {R"({"a":[{"cidr":"10.0.0.0/8"}]})", text("ten"), false},
      // arrays
      {R"({"a":["x"]})", list(R"(["w","x"])"), true},
      {R"({"a":["x"]})", list(R"(["w"])"), false},
      {R"({"a":[5]})", list("[4,5]"), true},
      {R"({"a":[true]})", list("[true]"), true},
      {R"({"a":[false]})", list("[true]"), false},
      {R"({"a":[null]})", list("[null]"), true},
      {R"({"a":[{"anything-but":"x"}]})", list(R"(["x"])"), false},
      {R"({"a":[{"anything-but":"x"}]})", list(R"(["x","y"])"), true},
      {R"({"a":[{"exists":true}]})", list("[]"), true},
      {R"({"a":["x"]})", list("x"), false},
      // binary only exists
      {R"({"a":["x"]})", bytes(), false},
      {R"({"a":[{"anything-but":"y"}]})", bytes(), false},
      // absent
      {R"({"b":[{"anything-but":"x"}]})", text("y"), false},
      {R"({"b":["x"]})", text("x"), false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.policy) + " on " + row.attribute.value);
    EXPECT_EQ(wanted(row.policy, {row.attribute}), row.matches);
  }
}

TEST(FilterPolicy, KeysAreAndConditionsAreOr) {
  const Attributes message = {text("x"), {"b", "Number", "5"}};
  struct Row {
    std::string_view policy;
    bool matches;
  };
  const Row rows[] = {
      {"{}", true},
      {R"({"a":["x"],"b":[5]})", true},
      {R"({"a":["x"],"b":[6]})", false},
      {R"({"a":["y",{"prefix":"x"}],"b":[{"numeric":["<",0]},5]})", true},
      {R"({"$or":[{"a":["y"]},{"b":[5]}]})", true},
      {R"({"$or":[{"a":["y"]},{"b":[6]}]})", false},
      {R"({"a":["x"],"$or":[{"b":[5]},{"c":["z"]}]})", true},
      {R"({"a":["y"],"$or":[{"b":[5]},{"c":["z"]}]})", false},
      {R"({"$or":[{"a":["x"],"b":[6]},{"c":[{"exists":true}]}]})", false},
      {R"({"$or":[{"$or":[{"a":["y"]},{"a":["x"]}]},{"b":[6]}]})", true},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.policy);
    EXPECT_EQ(wanted(row.policy, message), row.matches);
  }
}

TEST(FilterPolicy, AMessageWithoutAttributesIsWantedOnlyWithoutAPolicy) {
  EXPECT_TRUE(wanted("{}", {}));
  EXPECT_FALSE(wanted(R"({"a":[{"exists":false}]})", {}));
  EXPECT_FALSE(wanted(R"({"$or":[{"a":[{"exists":false}]},{"b":["x"]}]})", {}));
  EXPECT_TRUE(wanted(R"({"a":[{"exists":false}]})", {{"b", "String", "x"}}));
}

TEST(FilterPolicy, LooksIntoBodies) {
  struct Row {
    std::string_view policy;
    std::string_view body;
    bool matches;
  };
  const Row rows[] = {
      {R"({"a":["x"]})", R"({"a":"x","b":1})", true},
      {R"({"a":["x"]})", R"({"a":"y"})", false},
      {R"({"a":["x"]})", R"(["x"])", false},
      {R"({"a":["x"]})", "x", false},
      {R"({"a":["x"]})", "", false},
      {R"({"a":[{"exists":false}]})", "not JSON", false},
      {R"({"a":[{"exists":false}]})", "{}", true},
      {R"({"a":[null]})", R"({"a":null})", true},
      {R"({"a":[{"exists":true}]})", R"({"a":null})", true},
      {R"({"a":[true]})", R"({"a":true})", true},
      {R"({"a":[3]})", R"({"a":3.0})", true},
      {R"({"a":["3"]})", R"({"a":3})", false},
      {R"({"a":[{"numeric":[">",2]}]})", R"({"a":3})", true},
      {R"({"a":[{"numeric":[">",2]}]})", R"({"a":"3"})", false},
      {R"({"a":["x"]})", R"({"a":["w","x"]})", true},
      {R"({"a":["x"]})", R"({"a":[["w"],["x"]]})", true},
      {R"({"a":[{"anything-but":"x"}]})", R"({"a":[{"b":1}]})", false},
      {R"({"a":[{"anything-but":"x"}]})", R"({"a":{"b":1}})", false},
      {R"({"a":{"b":["x"]}})", R"({"a":{"b":"x"}})", true},
      {R"({"a":{"b":["x"]}})", R"({"a":{"b":"y"}})", false},
      {R"({"a":{"b":["x"]}})", R"({"a":"x"})", false},
      {R"({"a":{"b":["x"]}})", R"({"a":[{"b":"w"},{"b":"x"}]})", true},
      {R"({"a":{"b":["x"],"c":["y"]}})", R"({"a":[{"b":"x","c":"y"}]})", true},
      {R"({"a":{"b":["x"],"c":["y"]}})", R"({"a":[{"b":"x"},{"c":"y"}]})", false},
      {R"({"a":{"b":[{"exists":false}]}})", R"({"c":1})", true},
      {R"({"a":{"b":[{"exists":false}]}})", R"({"a":{"b":1}})", false},
      {R"({"a":{"b":[{"exists":true}]}})", R"({"a":{"b":0}})", true},
      {R"({"a":[{"exists":true}]})", R"({"a":{"b":0}})", false},
      {R"({"a":{"$or":[{"b":["x"]},{"c":["y"]}]}})", R"({"a":{"c":"y"}})", true},
      {R"({"a.b":["x"]})", R"({"a":{"b":"x"}})", false},
      {R"({"a.b":["x"]})", R"({"a.b":"x"})", true},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.policy) + " on " + std::string(row.body));
    EXPECT_EQ(wanted_body(row.policy, row.body), row.matches);
  }
}

TEST(FilterPolicy, SeesADeepBody) {
  std::string body;
  for (int i = 0; i < 100; ++i) body += R"({"d":)";
  body += "1" + std::string(100, '}');
  body.insert(1, R"("a":"x",)");

  EXPECT_TRUE(wanted_body(R"({"a":["x"]})", body));
}

TEST(FilterPolicy, RefusesWhatItCannotRead) {
  struct Row {
    std::string_view policy;
    std::string_view reason;  ///< a part of it
    bool in_bodies_too = true;
  };
  const Row rows[] = {
      {"", "parse JSON"},
      {"{", "parse JSON"},
      {"[]", "parse JSON"},
      {R"("x")", "parse JSON"},
      {R"({"a":"x"})", "must be an object or an array"},
      {R"({"a":5})", "must be an object or an array"},
      {R"({"a":[]})", "empty arrays"},
      {R"({"a":[["x"]]})", "match value"},
      {R"({"a":{"b":["x"]}})", "does not support nested", false},
      {R"({"a":[{}]})", "exactly one"},
      {R"({"a":[{"prefix":"x","suffix":"y"}]})", "exactly one"},
      {R"({"a":[{"like":"x"}]})", "unrecognized match type like"},
      {R"({"a":[{"prefix":5}]})", "must be a string"},
      {R"({"a":[{"suffix":["x"]}]})", "must be a string"},
      {R"({"a":[{"equals-ignore-case":null}]})", "must be a string"},
      {R"({"a":[{"exists":"true"}]})", "true or false"},
      {R"({"a":[{"anything-but":[]}]})", "must not be empty"},
      {R"({"a":[{"anything-but":[["x"]]}]})", "anything-but"},
      {R"({"a":[{"anything-but":null}]})", "anything-but"},
      {R"({"a":[{"anything-but":{"exists":true}}]})", "anything-but"},
      {R"({"a":[{"anything-but":{"prefix":1}}]})", "must be a string"},
      {R"({"a":[{"anything-but":{}}]})", "anything-but"},
      {R"({"a":[{"numeric":5}]})", "numeric"},
      {R"({"a":[{"numeric":[]}]})", "numeric"},
      {R"({"a":[{"numeric":["="]}]})", "numeric"},
      {R"({"a":[{"numeric":["=",1,"<"]}]})", "numeric"},
      {R"({"a":[{"numeric":["=","1"]}]})", "must be numeric"},
      {R"({"a":[{"numeric":[1,"="]}]})", "must be a string"},
      {R"({"a":[{"numeric":["!=",1]}]})", "unrecognized numeric"},
      {R"({"a":[{"numeric":["<",1,">",0]}]})", "unrecognized numeric"},
      {R"({"a":[{"numeric":["=",1,"<",2]}]})", "unrecognized numeric"},
      {R"({"a":[{"numeric":[">",0,"=",2]}]})", "unrecognized numeric"},
      {R"({"a":[{"numeric":[">",2,"<",1]}]})", "less than"},
      {R"({"a":[{"numeric":[">=",2,"<=",2]}]})", "less than"},
      {R"({"a":[{"cidr":"10.0.0.0"}]})", "cidr"},
      {R"({"a":[{"cidr":"10.0.0.0/33"}]})", "cidr"},
      {R"({"a":[{"cidr":"10.0.0/8"}]})", "cidr"},
      {R"({"a":[{"cidr":"::/129"}]})", "cidr"},
      {R"({"a":[{"cidr":8}]})", "cidr"},
      {R"({"$or":[]})", "two or more"},
      {R"({"$or":[{"a":["x"]}]})", "two or more"},
      {R"({"$or":{"a":["x"]}})", "two or more"},
      {R"({"$or":[{"a":["x"]},"y"]})", "objects"},
      {R"({"$or":[{"a":["x"]},{}]})", "objects"},
      {R"({"$or":[{"a":["x"]},{"b":[]}]})", "empty arrays"},
      {R"({"a":["1"],"b":["1"],"c":["1"],"d":["1"],"e":["1"],"f":["1"]})", "more than 5 keys"},
      {R"({"$or":[{"a":["1"],"b":["1"],"c":["1"]},{"d":["1"],"e":["1"],"f":["1"]}]})",
       "more than 5 keys"},
      {R"({"a":[1,2,3,4,5,6],"b":[1,2,3,4,5],"c":[1,2,3,4,5,6]})", "too complex"},
  };

  for (const Row& row : rows) {
    for (const FilterScope scope : {FilterScope::message_attributes, FilterScope::message_body}) {
      if (scope == FilterScope::message_body && !row.in_bodies_too) continue;
      SCOPED_TRACE(row.policy);
      const auto parsed = FilterPolicy::parse(row.policy, scope);
      ASSERT_FALSE(parsed);
      EXPECT_EQ(parsed.error().kind, ErrorKind::invalid_argument);
      EXPECT_NE(parsed.error().message.find(row.reason), std::string::npos)
          << parsed.error().message;
    }
  }
  EXPECT_FALSE(FilterPolicy::parse(R"({"a":{}})", FilterScope::message_body));
}

/// {"<key>":[{"anything-but":[0,1,...]}]
std::string but_list(std::string_view key, int values) {
  std::string list = "0";
  for (int i = 1; i < values; ++i) {
    list += "," + std::to_string(i);
  }
  return "\"" + std::string(key) + R"(":[{"anything-but":[)" + list + "]}]";
}

TEST(FilterPolicy, CountsEachValueOfAnythingButAsACombination) {
  const std::pair<std::string, bool> rows[] = {
      {"{" + but_list("a", 150) + "}", true},
      {"{" + but_list("a", 151) + "}", false},
      {"{" + but_list("a", 5000) + "}", false},
      {"{" + but_list("a", 15) + R"(,"b":[1,2,3,4,5,6,7,8,9,10]})", true},  // 15 x 10
      {"{" + but_list("a", 16) + R"(,"b":[1,2,3,4,5,6,7,8,9,10]})", false},
      {R"({"x":{)" + but_list("a", 75) + "}}", true},  // at depth 2
      {R"({"x":{)" + but_list("a", 76) + "}}", false},
      {R"({"a":[{"anything-but":{"prefix":"x"}},1]})", true},
  };
  for (const auto& [policy, good] : rows) {
    SCOPED_TRACE(policy.substr(0, 100));
    const auto parsed = FilterPolicy::parse(policy, FilterScope::message_body);
    EXPECT_EQ(parsed.has_value(), good);
    EXPECT_TRUE(FilterPolicy::parse(policy, FilterScope::message_body, PolicyFrom::store));
  }
}

TEST(FilterPolicy, IsAskedOnlyOfWhatWasRead) {
  const auto of_body = [](const char* policy) {
    return *FilterPolicy::parse(policy, FilterScope::message_body);
  };
  const auto of_attributes = [](const char* policy) {
    return *FilterPolicy::parse(policy, FilterScope::message_attributes);
  };
  FilterSubject message;
  EXPECT_EQ(of_body("{}").matches(message), true);
  EXPECT_EQ(of_body(R"({"a":[2]})").matches(message).error().kind, ErrorKind::conflict);
  EXPECT_EQ(of_attributes(R"({"a":[1]})").matches(message).error().kind, ErrorKind::conflict);

  ASSERT_TRUE(message.read_attributes({number("1")}));
  EXPECT_EQ(of_attributes(R"({"a":[1]})").matches(message), true);
  EXPECT_EQ(of_attributes(R"({"a":[2]})").matches(message), false);
  EXPECT_EQ(of_body(R"({"a":[2]})").matches(message).error().kind, ErrorKind::conflict);

  ASSERT_TRUE(message.read_body(R"({"a":2})"));
  EXPECT_EQ(of_body(R"({"a":[2]})").matches(message), true);
  EXPECT_EQ(of_body(R"({"a":[3]})").matches(message), false);
}

TEST(FilterPolicy, CountsCombinationsWithTheirDepth) {
  struct Row {
    std::string_view policy;
    bool good;
  };
  const Row rows[] = {
      {R"({"a":[1,2,3,4,5,6],"b":[1,2,3,4,5],"c":[1,2,3,4,5]})", true},                // 150
      {R"({"a":{"b":[1,2,3,4,5]},"c":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]})", true},  // 10 x 15
      {R"({"a":{"b":[1,2,3,4,5]},"c":[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]})", false},
      {R"({"a":{"b":{"c":[1,2,3,4,5]}},"d":[1,2,3,4,5,6,7,8,9,10]})", true},  // 15 x 10
      {R"({"a":{"b":{"c":[1,2,3,4,5]}},"d":[1,2,3,4,5,6,7,8,9,10,11]})", false},
      {R"({"a":{"b":["x"],"c":["x"],"d":["x"]},"e":["x"],"f":["x"]})", true},  // 5 leaves
      {R"({"a":{"b":["x"],"c":["x"],"d":["x"]},"e":["x"],"f":["x"],"g":["x"]})", false},
  };

  for (const Row& row : rows) {
    SCOPED_TRACE(row.policy);
    EXPECT_EQ(FilterPolicy::parse(row.policy, FilterScope::message_body).has_value(), row.good);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core
