#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "api/sns/actions.h"
#include "api/sns/topic.h"
#include "unit/api/aws/actions.h"

namespace hk::api::sns {
namespace HK_TEST_FILE {

/// Lists that are read page by page, to their end.
struct SnsListings : aws::testing::ActionTest {
  /// Named so that they are in order; each with as many subscriptions, of about 1,000 bytes.
  void add_topics(int count, int subscriptions) {
    for (int i = 0; i < count; ++i) {
      Topic topic{.name = "t" + std::to_string(1000 + i), .region = "eu-central-1"};
      for (int j = 0; j < subscriptions; ++j) {
        const std::string id = "s" + std::to_string(100 + j);
        topic.subscriptions[id] = {
            .id = id,
            .protocol = "https",
            .endpoint = "https://h/" + std::string(900, 'x') + topic.name + id,
            .confirmed = true};
      }
      submitter.reader->put<core::Topic>(to_record(topic, aws::testing::tenant));
    }
  }

  struct Pages {
    std::vector<std::size_t> sizes{};  ///< of each page, in entries
    std::vector<std::string> all{};    ///< what stands in the members of that name
  };
  Pages read_all(aws::ActionHandler action, const std::string& member) {
    Pages pages;
    std::string token;
    do {
      const std::string body =
          ask_by_form(action, token.empty() ? "" : "NextToken=" + token, aws::Dialect::sns_query)
              .body;
      const std::vector<std::string> entries = texts(body, member);
      pages.sizes.push_back(entries.size());
      pages.all.insert(pages.all.end(), entries.begin(), entries.end());
      const auto tokens = texts(body, "NextToken");
      token = tokens.empty() ? "" : tokens.front();
      for (std::size_t at = 0; (at = token.find('+', at)) != std::string::npos;) {
        token.replace(at, 1, "%2B");
      }
    } while (!token.empty() && pages.sizes.size() < 1000);
    return pages;
  }
  static std::vector<std::string> texts(std::string_view xml, const std::string& member) {
    std::vector<std::string> all;
    const std::string open = '<' + member + '>';
    for (std::size_t at = 0; (at = xml.find(open, at)) != std::string_view::npos;) {
      at += open.size();
      all.emplace_back(xml.substr(at, xml.find('<', at) - at));
    }
    return all;
  }
};

TEST_F(SnsListings, OfTopicsHaveAHundredToAPage) {
  add_topics(200, 0);
  EXPECT_EQ(read_all(list_topics, "TopicArn").sizes, (std::vector<std::size_t>{100, 100}));
  submitter.reader->put<core::Topic>(
      to_record(Topic{.name = "u", .region = "eu-central-1"}, aws::testing::tenant));

  const Pages pages = read_all(list_topics, "TopicArn");

  EXPECT_EQ(pages.sizes, (std::vector<std::size_t>{100, 100, 1}));
  EXPECT_EQ(pages.all.front(), "arn:aws:sns:eu-central-1:000000000000:t1000");
  EXPECT_EQ(pages.all.back(), "arn:aws:sns:eu-central-1:000000000000:u");
}

TEST_F(SnsListings, APageEndsWhenEnoughWasReadForIt) {
  options.listing_bytes_max = 50'000;  // of five topics; they are read by four
  add_topics(50, 10);

  const Pages topics = read_all(list_topics, "TopicArn");
  EXPECT_EQ(std::set(topics.all.begin(), topics.all.end()).size(), 50U);
  EXPECT_EQ(topics.all.size(), 50U);
  EXPECT_LE(std::ranges::max(topics.sizes), 8U);

  const Pages subscriptions = read_all(list_subscriptions, "Endpoint");
  EXPECT_EQ(std::set(subscriptions.all.begin(), subscriptions.all.end()).size(), 500U);
  EXPECT_EQ(subscriptions.all.size(), 500U);
  EXPECT_LE(std::ranges::max(subscriptions.sizes), 80U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::api::sns
