/// The guard at work: what was not allowed is never connected to, whatever the name server says.
#include <gtest/gtest.h>

#include <atomic>

#include "integration/delivery/harness.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

const Address here = Address::v4(127, 0, 0, 1);
const Address outside = Address::v4(8, 8, 8, 8);

/// Asks the test for every answer; remembers nothing.
class ScriptedResolver final : public Resolver {
 public:
  explicit ScriptedResolver(std::function<Result<Addresses>()> script)
      : script_(std::move(script)) {}
  std::optional<Addresses> known(const std::string&) override { return std::nullopt; }
  void look_up(const std::string&, Done done) override {
    asked.fetch_add(1);
    done(script_());
  }
  std::atomic<int> asked{0};

 private:
  std::function<Result<Addresses>()> script_;
};

void answer_every_request(Socket& socket) {
  while (!socket.read_request().empty() && socket.write(ok_answer())) {
  }
}

TEST(Egress, IsClosedByDefault) {
  Receiver receiver(answer_every_request);
  World world(DispatcherOptions{});
  const std::string port = std::to_string(receiver.port());
  for (const std::string& url :
       {"http://127.0.0.1:" + port + "/", "http://localhost:" + port + "/",
        "http://a.localhost:" + port + "/", "http://[::1]:" + port + "/",
        "http://[::ffff:127.0.0.1]:" + port + "/", "http://0.0.0.0:" + port + "/",
        std::string("http://169.254.169.254/latest/meta-data/"), std::string("http://10.0.0.1/"),
        std::string("http://168.63.129.16/"), std::string("http://8.8.8.8:25/"),
        std::string("http://8.8.8.8:5432/")}) {
    SCOPED_TRACE(url);

    const auto report = world.deliver(url);

    EXPECT_FALSE(report.delivered);
    EXPECT_EQ(report.attempt.error, "blocked_by_policy");
    EXPECT_EQ(report.attempt.response_status, 0);
  }
  EXPECT_EQ(receiver.connections(), 0);
  EXPECT_EQ(world.deliveries->connections_opened(), 0U);
}

TEST(Egress, AnOpenPortAndAClosedOneLookTheSame) {
  Receiver receiver(answer_every_request);
  std::uint16_t closed = 0;
  const Socket refusing = refuse_on_loopback(closed);
  World world(DispatcherOptions{});

  const auto open = world.deliver(receiver.url());
  const auto refused = world.deliver("http://127.0.0.1:" + std::to_string(closed) + "/");

  EXPECT_EQ(open.attempt.error, refused.attempt.error);
}

TEST(Egress, ANameThatFlipsIntoPrivateSpaceIsNeverConnectedTo) {
  Receiver receiver(answer_every_request);
  std::atomic<int> turn{0};
  auto options = DispatcherOptions{};  // loopback stays closed
  options.resolver = std::make_shared<ScriptedResolver>([&]() -> Result<Addresses> {
    switch (turn.fetch_add(1) % 3) {
      case 0: return Addresses{here};
      case 1: return Addresses{outside, here};
      default: return Addresses{here, outside};
    }
  });
  World world(std::move(options));
  std::vector<core::StartAttempt> attempts;
  constexpr std::size_t tries = 10'000;
  for (std::size_t i = 0; i < tries; ++i) {
    attempts.push_back(
        attempt_to("http://rebind.example:" + std::to_string(receiver.port()) + "/"));
  }

  world.start(std::move(attempts));
  const auto reports = world.submitter.wait_for(tries);

  ASSERT_EQ(reports.size(), tries);
  for (const auto& report : reports) {
    ASSERT_EQ(report.attempt.error, "blocked_by_policy");
  }
  EXPECT_EQ(receiver.connections(), 0);
  EXPECT_EQ(world.deliveries->connections_opened(), 0U);
}

TEST(Egress, AKeptConnectionIsJudgedAgainByTheNextAnswer) {
  Receiver receiver(answer_every_request);
  std::atomic<bool> moved{false};
  auto options = loopback_options();
  options.resolver = std::make_shared<ScriptedResolver>([&]() -> Result<Addresses> {
    return moved ? Addresses{here, Address::v4(10, 0, 0, 1)} : Addresses{here};
  });
  World world(std::move(options));
  const std::string url = "http://rebind.example:" + std::to_string(receiver.port()) + "/";
  ASSERT_TRUE(world.deliver(url).delivered);

  moved = true;

  EXPECT_EQ(world.deliver(url).attempt.error, "blocked_by_policy");
}

TEST(Egress, AFailedLookUpIsAFailedAttemptAndNothingElse) {
  Receiver receiver(answer_every_request);
  std::atomic<int> turn{0};
  auto options = loopback_options();
  options.resolver = std::make_shared<ScriptedResolver>([&]() -> Result<Addresses> {
    if (turn.fetch_add(1) == 0) {
      return fail(ErrorKind::unavailable, "host name not resolved: no such name");
    }
    return Addresses{here};
  });
  World world(std::move(options));
  const std::string url = "http://late.example:" + std::to_string(receiver.port()) + "/";

  EXPECT_EQ(world.deliver(url).attempt.error, "host name not resolved: no such name");
  EXPECT_EQ(receiver.connections(), 0);
  EXPECT_TRUE(world.deliver(url).delivered);
}

TEST(Egress, TheNextAddressIsTriedWhenNothingWasSent) {
  Receiver receiver(answer_every_request);
  auto options = loopback_options();
  options.resolver = std::make_shared<ScriptedResolver>([]() -> Result<Addresses> {
    return Addresses{Address::v4(127, 0, 0, 99), here};
  });
  World world(std::move(options));

  const auto report = world.deliver("http://two.example:" + std::to_string(receiver.port()) + "/");

  EXPECT_TRUE(report.delivered) << report.attempt.error;
}

TEST(Egress, ALookUpThatHangsEndsAtTheDeadlineAndItsLateAnswerHarmsNobody) {
  std::mutex mutex;
  std::vector<Resolver::Done> held;
  class Hanging final : public Resolver {
   public:
    Hanging(std::mutex& m, std::vector<Done>& h) : mutex_(m), held_(h) {}
    std::optional<Addresses> known(const std::string&) override { return std::nullopt; }
    void look_up(const std::string&, Done done) override {
      const std::lock_guard lock(mutex_);
      held_.push_back(std::move(done));
    }

   private:
    std::mutex& mutex_;
    std::vector<Done>& held_;
  };
  auto options = loopback_options();
  options.resolver = std::make_shared<Hanging>(mutex, held);
  {
    World world(std::move(options));

    const auto report = world.deliver(attempt_to("http://slow.example/", "{}", 200ms));
    EXPECT_EQ(report.attempt.error, "timeout: no complete answer within 200 ms");

    const std::lock_guard lock(mutex);
    ASSERT_EQ(held.size(), 1U);
    held[0](Addresses{here});
    world.on_io_thread([] {});
    EXPECT_EQ(world.submitter.count(), 1U);
    EXPECT_EQ(world.deliveries->connections_opened(), 0U);
  }
  held[0](Addresses{here});  // the dispatcher is gone
}

TEST(Egress, HttpCanBeClosed) {
  Receiver receiver(answer_every_request);
  auto options = loopback_options();
  options.egress.allow_http = false;
  World world(std::move(options));

  EXPECT_EQ(world.deliver(receiver.url()).attempt.error,
            "blocked_by_policy: this server delivers to https URLs only");
  EXPECT_EQ(receiver.connections(), 0);
}

TEST(Egress, AHostThatIsNotOfTheListIsNeitherLookedUpNorConnectedTo) {
  Receiver receiver(answer_every_request);
  const auto resolver = std::make_shared<ScriptedResolver>([] { return Addresses{here}; });
  auto options = loopback_options();
  options.egress.hosts = *AllowedHosts::parse("*.good.example");
  options.resolver = resolver;
  World world(std::move(options));
  const std::string port = ":" + std::to_string(receiver.port()) + "/";

  const auto refused = world.deliver("http://good.example" + port);
  EXPECT_EQ(refused.attempt.error,
            "blocked_by_policy: good.example is not one of the hosts that this server delivers to");
  EXPECT_FALSE(refused.delivered || refused.give_up);
  EXPECT_EQ(resolver->asked.load(), 0);
  EXPECT_EQ(receiver.connections(), 0);

  EXPECT_TRUE(world.deliver("http://a.good.example" + port).delivered);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
