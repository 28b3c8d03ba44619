#include "delivery/resolver.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <latch>
#include <thread>
#include <vector>

namespace hk::delivery {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

const Address somewhere = Address::v4(192, 0, 2, 1);

Result<Addresses> ask_and_wait(Resolver& resolver, const std::string& host) {
  std::promise<Result<Addresses>> answer;
  resolver.look_up(host, [&](const Result<Addresses>& got) { answer.set_value(got); });
  return answer.get_future().get();
}

TEST(Resolver, KnowsLiteralsAndLocalhostWithoutAsking) {
  std::atomic<int> asked{0};
  ResolverOptions options;
  options.ask = [&](const std::string&) -> Result<Addresses> {
    ++asked;
    return Addresses{somewhere};
  };
  const auto resolver = make_resolver(options);

  EXPECT_EQ(resolver->known("127.0.0.1"), Addresses{Address::v4(127, 0, 0, 1)});
  EXPECT_EQ(resolver->known("2001:db8::1"), Addresses{*parse_address("2001:db8::1")});
  EXPECT_EQ(resolver->known("localhost"), Addresses{Address::v4(127, 0, 0, 1)});
  EXPECT_EQ(resolver->known("a.localhost"), Addresses{Address::v4(127, 0, 0, 1)});
  EXPECT_EQ(resolver->known("example.com"), std::nullopt);
  EXPECT_EQ(asked.load(), 0);
}

TEST(Resolver, RemembersAnswersAndForgetsFailures) {
  std::atomic<int> asked{0};
  ResolverOptions options;
  options.remember = 1h;
  options.ask = [&](const std::string& host) -> Result<Addresses> {
    ++asked;
    if (host == "bad.example") {
      return fail(ErrorKind::unavailable, "no");
    }
    return Addresses{somewhere};
  };
  const auto resolver = make_resolver(options);

  EXPECT_EQ(ask_and_wait(*resolver, "good.example").value(), Addresses{somewhere});
  EXPECT_EQ(resolver->known("good.example"), Addresses{somewhere});
  EXPECT_FALSE(ask_and_wait(*resolver, "bad.example").has_value());
  EXPECT_EQ(resolver->known("bad.example"), std::nullopt);
  EXPECT_EQ(asked.load(), 2);
}

TEST(Resolver, ForgetsAnswersWhenTheirTimeIsUp) {
  ResolverOptions options;
  options.remember = 0ms;
  options.ask = [](const std::string&) -> Result<Addresses> { return Addresses{somewhere}; };
  const auto resolver = make_resolver(options);

  EXPECT_TRUE(ask_and_wait(*resolver, "good.example").has_value());
  EXPECT_EQ(resolver->known("good.example"), std::nullopt);
}

TEST(Resolver, AsksOnceForAllWhoWait) {
  std::promise<void> may_answer;
  auto permission = may_answer.get_future().share();
  std::atomic<int> asked{0};
  ResolverOptions options;
  options.timeout = 1h;
  options.ask = [&, permission](const std::string&) -> Result<Addresses> {
    ++asked;
    permission.wait();
    return Addresses{somewhere};
  };
  const auto resolver = make_resolver(options);
  std::latch answered(50);
  for (int i = 0; i < 50; ++i) {
    resolver->look_up("good.example", [&](const Result<Addresses>& got) {
      EXPECT_TRUE(got.has_value());
      answered.count_down();
    });
  }

  may_answer.set_value();
  answered.wait();

  EXPECT_EQ(asked.load(), 1);
}

TEST(Resolver, BoundsTheAnswersAndRefusesNone) {
  ResolverOptions options;
  options.ask = [](const std::string& host) -> Result<Addresses> {
    return Addresses(host == "none.example" ? 0U : 1'000U, somewhere);
  };
  const auto resolver = make_resolver(options);

  EXPECT_EQ(ask_and_wait(*resolver, "many.example")->size(), 32U);
  EXPECT_FALSE(ask_and_wait(*resolver, "none.example").has_value());
}

TEST(Resolver, ANameThatHangsTimesOutAndHoldsUpNobodyElse) {
  std::promise<void> end;
  auto ended = end.get_future().share();
  std::atomic<int> hanging{0};
  ResolverOptions options;
  options.threads = 2;
  options.timeout = 50ms;
  options.ask = [&, ended](const std::string& host) -> Result<Addresses> {
    if (host == "hangs.example") {
      ++hanging;
      ended.wait();
    }
    return Addresses{somewhere};
  };
  auto resolver = make_resolver(options);

  for (int i = 0; i < 3; ++i) {
    const auto late = ask_and_wait(*resolver, "hangs.example");
    ASSERT_FALSE(late.has_value());
    EXPECT_EQ(late.error().message, "host name not resolved: no answer in time");
  }
  // On a busy machine an answer that comes at once may be late, too.
  while (!ask_and_wait(*resolver, "good.example").has_value()) {
    std::this_thread::yield();
  }
  while (hanging.load() == 0) {
    std::this_thread::yield();
  }
  EXPECT_EQ(hanging.load(), 1);

  end.set_value();
  while (resolver->known("hangs.example") == std::nullopt) {  // remembered for those who come later
    std::this_thread::yield();
  }
}

TEST(Resolver, AsksTheSystem) {
  const auto resolver = make_resolver();
  // A name that cannot exist: whatever the machine's name service is, it has no address.
  EXPECT_FALSE(ask_and_wait(*resolver, "no-such-name.invalid").has_value());
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery
