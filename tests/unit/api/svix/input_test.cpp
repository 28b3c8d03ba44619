#include "api/svix/input.h"

#include <gtest/gtest.h>

#include "api/svix/fields.h"
#include "api/svix/rules.h"

namespace hk::api::svix {
namespace HK_TEST_FILE {

std::string wrong_in(const FieldErrors& errors) {
  std::string text;
  for (const FieldError& one : errors.all()) {
    text += text.empty() ? "" : " ";
    for (std::size_t i = 0; i < one.loc.size(); ++i) {
      text += (i == 0 ? "" : ".") + one.loc[i];
    }
    text += one.type == decode_error ? ":decode" : "";
  }
  return text;
}

TEST(SvixInput, KeepsTheExactBytesOfAValue) {
  struct Row {
    std::string body;
    std::string raw;
  };
  const Row rows[] = {
      {R"({"payload":{"a" : 1.0,  "b":[ ]}})", R"({"a" : 1.0,  "b":[ ]})"},
      {R"({"later":[{"payload":{"no":1}}], "payload" : { "x":"\u00e9\/" } ,"z":1})",
       R"({ "x":"\u00e9\/" })"},
      {"{\"payload\":{\n\t\"a\": \"}\\\"{\"\r\n}}", "{\n\t\"a\": \"}\\\"{\"\r\n}"},
      {R"({"payload":{"a":1},"payload":{"a":2}})", R"({"a":2})"},
      {R"({"pay\u006coad":{"n":12345678901234567890}})", R"({"n":12345678901234567890})"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    FieldErrors errors;
    const Input in(row.body, errors);

    EXPECT_EQ(in.raw("payload"), row.raw);
    EXPECT_FALSE(errors.any());
  }
}

TEST(SvixInput, SaysOfTextThatIsNoObjectThatTheBodyIsWrong) {
  for (const std::string& body :
       {std::string("{"), std::string("[]"), std::string(), std::string("null"),
        std::string(R"({"a":1}x)"), std::string("{\"a\":\"\xff\"}"),
        "{\"a\":" + std::string(200, '[') + std::string(200, ']') + "}"}) {
    SCOPED_TRACE(body);
    FieldErrors errors;
    const Input in(body, errors);

    EXPECT_EQ(wrong_in(errors), "body:decode");
  }
}

TEST(SvixInput, TakesAnEmptyBodyWhereItIsAsGoodAsAnObject) {
  FieldErrors errors;
  Input in("", errors, Input::Empty::object);

  EXPECT_FALSE(in.text("key"));
  EXPECT_FALSE(errors.any());
}

TEST(SvixInput, CollectsEverythingThatIsWrongInTheOrderOfTheFields) {
  struct Row {
    std::string_view body;
    std::string_view wrong;
  };
  const Row rows[] = {
      {R"({})", "body.name:decode"},
      {R"({"name":null})", "body.name:decode"},
      {R"({"name":7})", "body.name:decode"},
      {R"({"name":""})", "body.name"},
      {R"({"name":"a\u0000b"})", "body.name"},
      {R"({"name":"x","uid":""})", "body.uid"},
      {R"({"name":"x","uid":"app_mine"})", "body.uid"},
      {R"({"name":"x","uid":null})", ""},
      {R"({"name":"x","throttleRate":0})", "body.throttleRate"},
      {R"({"name":"x","throttleRate":65536})", "body.throttleRate"},
      {R"({"name":"x","throttleRate":1.5})", "body.throttleRate"},
      {R"({"name":"x","throttleRate":"5"})", "body.throttleRate:decode"},
      {R"({"name":"x","rateLimit":65535})", ""},
      {R"({"name":"x","metadata":[]})", "body.metadata:decode"},
      {R"({"name":"x","metadata":{"k":1}})", "body.metadata.k:decode"},
      {R"({"throttleRate":0,"uid":"a b","name":""})", "body.name body.uid body.throttleRate"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.body);
    FieldErrors errors;
    Input in(row.body, errors);
    read_application(in);

    EXPECT_EQ(wrong_in(errors), row.wrong);
  }
}

TEST(SvixInput, NamesTheItemsOfAListThatAreWrong) {
  struct Row {
    std::string_view list;
    std::string_view wrong;
  };
  const Row rows[] = {
      {R"(["a","b"])", ""},
      {R"("a")", "body.channels:decode"},
      {R"([])", "body.channels"},
      {R"(["a","b c",7,"a"])", "body.channels.[1] body.channels.[2]:decode body.channels.[3]"},
      {R"(["1","2","3","4","5"])", "body.channels"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.list);
    const std::string body = "{\"channels\":" + std::string(row.list) + "}";
    FieldErrors errors;
    Input in(body, errors);
    in.texts("channels", {check_channel, 1, 4});

    EXPECT_EQ(wrong_in(errors), row.wrong);
  }
}

TEST(SvixInput, OfAPatchWhatIsAbsentStaysAndNullUnsets) {
  FieldErrors errors;
  Input in(R"({"uid":null,"throttleRate":null})", errors);
  const auto changes = read_application_changes(in, Method::patch, true);

  EXPECT_FALSE(changes.name);
  EXPECT_EQ(changes.uid, "");
  EXPECT_EQ(changes.rate, 0U);
  EXPECT_FALSE(changes.metadata);
  EXPECT_FALSE(errors.any());

  Input wrong(R"({"name":null})", errors);
  read_application_changes(wrong, Method::patch, true);
  EXPECT_EQ(wrong_in(errors), "body.name:decode");
}

TEST(SvixInput, OfAPutWhatIsAbsentIsTheDefaultButTheNameInThePathStays) {
  FieldErrors errors;
  Input in(R"({"name":"x"})", errors);

  const auto by_uid = read_application_changes(in, Method::put, false);
  EXPECT_FALSE(by_uid.uid);
  EXPECT_EQ(by_uid.rate, 0U);
  EXPECT_EQ(by_uid.metadata, webhook::Metadata{});
  EXPECT_EQ(read_application_changes(in, Method::put, true).uid, "");
}

TEST(SvixInput, RefusesHeadersThatAreOursOrNone) {
  struct Row {
    std::string_view headers;
    std::string_view wrong;
  };
  const Row rows[] = {
      {R"({"X-One":"1"})", ""},
      {R"({"Content-Type":"a/b"})", "body.headers.Content-Type"},
      {R"({"svix-id":"1"})", "body.headers.svix-id"},
      {R"({"WEBHOOK-a":"1"})", "body.headers.WEBHOOK-a"},
      {R"({"a b":"1"})", "body.headers.a b"},
      {R"({"X":"a\nb"})", "body.headers.X"},
      {R"({"X":null})", "body.headers.X:decode"},
      {R"({"X":"1","x":"2"})", "body.headers.x"},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.headers);
    const std::string body = "{\"headers\":" + std::string(row.headers) + "}";
    FieldErrors errors;
    Input in(body, errors);
    read_headers(in, "headers", false);

    EXPECT_EQ(wrong_in(errors), row.wrong);
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::svix
