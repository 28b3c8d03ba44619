#include <gtest/gtest.h>

#include "integration/delivery/tls_server.h"

namespace hk::delivery::testing {
namespace HK_TEST_FILE {

using namespace std::chrono_literals;

DispatcherOptions trusting(const CaFile& file) {
  auto options = loopback_options();
  options.extra_ca_file = file.path();
  return options;
}

TEST(Tls, DeliversToAReceiverOfAPrivateAuthority) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  const Identity good = make_identity("DNS:localhost,IP:127.0.0.1", &authority, 30, false);
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SCOPED_TRACE(version);
    TlsReceiver receiver(good, version);
    World world(trusting(file));

    const auto by_address = world.deliver(receiver.url());
    EXPECT_TRUE(by_address.delivered) << by_address.attempt.error;
    EXPECT_EQ(by_address.attempt.response_body, "secure");
    EXPECT_EQ(receiver.last_name(), "");

    const auto by_name = world.deliver(receiver.url("localhost"));
    EXPECT_TRUE(by_name.delivered) << by_name.attempt.error;
    EXPECT_EQ(receiver.last_name(), "localhost");
  }
}

TEST(Tls, KeepsAndReusesTheConnection) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  TlsReceiver receiver(make_identity("IP:127.0.0.1", &authority, 30, false));
  World world(trusting(file));

  for (int i = 0; i < 20; ++i) {
    const auto report = world.deliver(attempt_to(receiver.url(), std::string(100'000, 'x')));
    ASSERT_TRUE(report.delivered) << report.attempt.error;
  }

  EXPECT_EQ(receiver.requests(), 20);
  EXPECT_LE(receiver.connections(), 2);  // session tickets may be under way at the first reuse
}

TEST(Tls, SendsNothingToAReceiverItCannotVerify) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const Identity stranger = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  struct Row {
    const char* name;
    Identity identity;
    int version;
    const char* error;
  };
  Row rows[] = {
      {"expired", make_identity("IP:127.0.0.1", &authority, -1, false), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: certificate has expired"},
      {"not yet valid", make_identity("IP:127.0.0.1", &authority, 30, false, 2), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: certificate is not yet valid"},
      {"another address", make_identity("IP:127.0.0.2", &authority, 30, false), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: IP address mismatch"},
      {"a name only", make_identity("DNS:localhost", &authority, 30, false), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: IP address mismatch"},
      {"no names", make_identity("", &authority, 30, false), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: IP address mismatch"},
      {"self-signed", make_identity("IP:127.0.0.1", nullptr, 30, false), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: self-signed certificate"},
      {"unknown authority", make_identity("IP:127.0.0.1", &stranger, 30, false), TLS1_3_VERSION,
       "TLS: the certificate was not accepted: "},
      {"TLS 1.1", make_identity("IP:127.0.0.1", &authority, 30, false), TLS1_1_VERSION, "TLS: "},
      {"TLS 1.0", make_identity("IP:127.0.0.1", &authority, 30, false), TLS1_VERSION, "TLS: "},
  };
  World world(trusting(file));
  for (Row& row : rows) {
    SCOPED_TRACE(row.name);
    TlsReceiver receiver(row.identity, row.version);

    const auto report = world.deliver(receiver.url());

    EXPECT_FALSE(report.delivered);
    EXPECT_TRUE(report.attempt.error.starts_with(row.error)) << report.attempt.error;
    EXPECT_EQ(receiver.requests(), 0);
  }
}

TEST(Tls, OnlyCiphersWithForwardSecrecyAreSpoken) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  const Identity good = make_identity("IP:127.0.0.1", &authority, 30, false);
  World world(trusting(file));
  const std::pair<const char*, bool> rows[] = {{"ECDHE+AESGCM", true},
                                               {"ECDHE+CHACHA20", true},
                                               {"ECDHE+AES:!AESGCM:!AESCCM", true},
                                               {"kRSA+AESGCM", false}};
  for (const auto& [ciphers, spoken] : rows) {
    SCOPED_TRACE(ciphers);
    TlsReceiver receiver(good, TLS1_2_VERSION);
    receiver.speak_only(ciphers);

    const auto report = world.deliver(receiver.url());

    EXPECT_EQ(report.delivered, spoken) << report.attempt.error;
    EXPECT_EQ(receiver.requests(), spoken ? 1 : 0);
  }
}

TEST(Tls, ReceiversWithoutAuthenticatedEncryptionCanBeRefused) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  const Identity good = make_identity("IP:127.0.0.1", &authority, 30, false);
  DispatcherOptions options = trusting(file);
  options.allow_cbc = false;
  World world(std::move(options));
  const std::pair<const char*, bool> rows[] = {
      {"ECDHE+AESGCM", true}, {"ECDHE+CHACHA20", true}, {"ECDHE+AES:!AESGCM:!AESCCM", false}};
  for (const auto& [ciphers, spoken] : rows) {
    SCOPED_TRACE(ciphers);
    TlsReceiver receiver(good, TLS1_2_VERSION);
    receiver.speak_only(ciphers);

    const auto report = world.deliver(receiver.url());

    EXPECT_EQ(report.delivered, spoken) << report.attempt.error;
    EXPECT_EQ(report.attempt.error.starts_with("TLS: "), !spoken) << report.attempt.error;
    EXPECT_EQ(receiver.requests(), spoken ? 1 : 0);
  }
}

TEST(Tls, TheNameInTheCertificateMustBeTheOneInTheUrl) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  TlsReceiver receiver(make_identity("DNS:elsewhere.example,DNS:*.host", &authority, 30, false));
  World world(trusting(file));

  const auto report = world.deliver(receiver.url("localhost"));

  EXPECT_EQ(report.attempt.error, "TLS: the certificate was not accepted: hostname mismatch");
  EXPECT_EQ(receiver.requests(), 0);
}

TEST(Tls, AHandshakeThatStallsEndsAtTheDeadline) {
  Receiver silent([](Socket& socket) { (void)socket.wait_for_close(); });
  World world;

  const auto report = world.deliver(
      attempt_to("https://127.0.0.1:" + std::to_string(silent.port()) + "/", "{}", 300ms));

  EXPECT_EQ(report.attempt.error, "timeout: no complete answer within 300 ms");
}

TEST(Tls, AConnectionThatIsNotReadyInTimeEndsBeforeTheAttemptsDeadline) {
  Receiver silent([](Socket& socket) { (void)socket.wait_for_close(); });
  auto options = loopback_options();
  options.connect_timeout = 200ms;
  World world(std::move(options));

  const auto report = world.deliver(
      attempt_to("https://127.0.0.1:" + std::to_string(silent.port()) + "/", "{}", 60s));

  EXPECT_EQ(report.attempt.error, "not connected: no answer within 200 ms");
}

TEST(Tls, APeerThatDoesNotSpeakItIsANetworkError) {
  Receiver plain([](Socket& socket) {
    socket.write(ok_answer());
    (void)socket.wait_for_close();
  });
  World world;

  const auto report = world.deliver("https://127.0.0.1:" + std::to_string(plain.port()) + "/");

  EXPECT_FALSE(report.delivered);
  EXPECT_TRUE(report.attempt.error.starts_with("TLS: ")) << report.attempt.error;
}

TEST(Tls, AReceiverThatWantsACertificateOfOursGetsNothing) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  const Identity good = make_identity("IP:127.0.0.1", &authority, 30, false);
  World world(trusting(file));
  for (const int version : {TLS1_2_VERSION, TLS1_3_VERSION}) {
    SCOPED_TRACE(version);
    TlsReceiver receiver(good, version);
    receiver.demand_client_certificate();

    const auto report = world.deliver(receiver.url());

    // In TLS 1.3 our side is ready before the receiver has looked at what it got: its alert comes
    // before the request is on its way, or after.
    EXPECT_FALSE(report.delivered);
    const std::string& error = report.attempt.error;
    if (version == TLS1_2_VERSION) {
      EXPECT_TRUE(error.starts_with("TLS: ")) << error;
    } else {
      EXPECT_TRUE(error.starts_with("connection broken: ") || error.starts_with("not connected: "))
          << error;
    }
    EXPECT_EQ(receiver.requests(), 0);
  }
}

TEST(Tls, EveryEndOfAConnectionGivesItsOutcome) {
  const Identity authority = make_identity("", nullptr, 30, true);
  const CaFile file(authority);
  const Identity good = make_identity("IP:127.0.0.1", &authority, 30, false);
  const auto say = [](SSL* ssl, std::string_view text) {
    (void)SSL_write(ssl, text.data(), static_cast<int>(text.size()));
  };
  struct Row {
    const char* name;
    int version;
    TlsReceiver::Answer answer;
    bool delivered;
    const char* error;
  };
  const Row rows[] = {
      {"a body that ends with a proper close", TLS1_3_VERSION,
       [&](SSL* ssl, Socket&) {
         say(ssl, "HTTP/1.1 200 OK\r\n\r\nall of it");
         SSL_shutdown(ssl);
       },
       true, ""},
      {"a body that is cut off by somebody between us", TLS1_3_VERSION,
       [&](SSL* ssl, Socket&) { say(ssl, "HTTP/1.1 200 OK\r\n\r\nhalf"); }, false,
       "connection broken: "},
      {"an alert in the middle of the header", TLS1_2_VERSION,
       [&](SSL* ssl, Socket& socket) {
         say(ssl, "HTTP/1.1 200 OK\r\nA");
         socket.write(std::string_view("\x15\x03\x03\x00\x02\x02\x28", 7));
         (void)socket.wait_for_close();
       },
       false, "connection broken: "},
      {"plain text in the middle of the body", TLS1_3_VERSION,
       [&](SSL* ssl, Socket& socket) {
         say(ssl, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
         socket.write("of it, unencrypted");
         (void)socket.wait_for_close();
       },
       false, "connection broken: "},
      {"it wants to negotiate again and again, which is ignored", TLS1_2_VERSION,
       [&](SSL* ssl, Socket& socket) {
         for (int i = 0; i < 50; ++i) {
           SSL_renegotiate(ssl);
           SSL_do_handshake(ssl);
         }
         say(ssl, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
         (void)socket.wait_for_close();  // its refusals are read: else they reset the answer away
       },
       true, ""},
      {"silence after the handshake", TLS1_3_VERSION,
       [](SSL*, Socket& socket) { (void)socket.wait_for_close(); }, false, "timeout: "},
  };
  World world(trusting(file));
  for (const Row& row : rows) {
    SCOPED_TRACE(row.name);
    TlsReceiver receiver(good, row.version, row.answer);

    const auto report = world.deliver(attempt_to(receiver.url(), "{}", 1500ms));

    EXPECT_EQ(report.delivered, row.delivered) << report.attempt.error;
    EXPECT_TRUE(report.attempt.error.starts_with(row.error)) << report.attempt.error;
    EXPECT_EQ(receiver.connections(), 1);
  }
  world.on_io_thread([] {});
  EXPECT_EQ(world.deliveries->idle_connections(), 0U);
}

}  // namespace HK_TEST_FILE
}  // namespace hk::delivery::testing
