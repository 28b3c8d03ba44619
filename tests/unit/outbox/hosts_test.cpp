#include "outbox/hosts.h"

#include <gtest/gtest.h>

namespace hk::outbox {
namespace HK_TEST_FILE {

TEST(HostsTest, EachHostHasItsPortOrTheOneOfAll) {
  EXPECT_EQ(split_hosts("a,b", "", "1,2"), (std::vector<Host>{{"a", "", "1"}, {"b", "", "2"}}));
  EXPECT_EQ(split_hosts("a,b", "", "5432"),
            (std::vector<Host>{{"a", "", "5432"}, {"b", "", "5432"}}));
  EXPECT_EQ(split_hosts("a,b", "10.0.0.1,10.0.0.2", ""),
            (std::vector<Host>{{"a", "10.0.0.1", ""}, {"b", "10.0.0.2", ""}}));
  EXPECT_EQ(split_hosts("", "10.0.0.1,10.0.0.2", ""),
            (std::vector<Host>{{"", "10.0.0.1", ""}, {"", "10.0.0.2", ""}}));
}

TEST(HostsTest, OneHostAndWhatDoesNotFitTogetherStayAsTheyAre) {
  EXPECT_EQ(split_hosts("a", "", "5432"), (std::vector<Host>{{"a", "", "5432"}}));
  EXPECT_EQ(split_hosts("", "", ""), (std::vector<Host>{{}}));
  EXPECT_EQ(split_hosts("a,b", "", "1,2,3"), (std::vector<Host>{{"a,b", "", "1,2,3"}}));
  EXPECT_EQ(split_hosts("a,b", "10.0.0.1", "1"), (std::vector<Host>{{"a,b", "10.0.0.1", "1"}}));
}

}  // namespace HK_TEST_FILE
}  // namespace hk::outbox
