#include "net/client.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace hk::net {

using namespace std::chrono_literals;

TEST(Client, BadUrlsAreRefused) {
  for (const std::string url :
       {"", "a", "ftp://a", "http://", "http:///x", "http://u@a/", "http://a:b/",
        "http://a/\r\nX: y", "http://a/b c", "http://a\r\n/", "http://a/#b"}) {
    const Result<Response> response = fetch({.url = url});
    ASSERT_FALSE(response) << url;
    EXPECT_EQ(response.error().kind, ErrorKind::invalid_argument);
    EXPECT_NE(response.error().message.find("is not a usable URL ("), std::string::npos);
  }
}

TEST(Client, WhatCouldBreakTheFramingIsNotSent) {
  const std::vector<Field> bad[] = {{{"X", "a\r\nY: b"}},
                                    {{"X\r\nY", "a"}},
                                    {{"", "a"}},
                                    {{"Content-Length", "3"}},
                                    {{"transfer-encoding", "chunked"}},
                                    {{"Host", "b"}}};
  for (const std::vector<Field>& fields : bad) {
    const Result<Response> response = fetch({.url = "http://127.0.0.1:1/", .fields = fields});
    ASSERT_FALSE(response);
    EXPECT_EQ(response.error().kind, ErrorKind::invalid_argument) << fields[0].name;
  }
  const Result<Response> response = fetch({.method = "GET /x", .url = "http://127.0.0.1:1/"});
  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::invalid_argument);
}

/// Listens, and never answers: the kernel takes the connection.
class Mute {
 public:
  Mute() : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    socklen_t size = sizeof address;
    EXPECT_EQ(::bind(socket_, any, size), 0);
    EXPECT_EQ(::listen(socket_, 8), 0);
    EXPECT_EQ(::getsockname(socket_, any, &size), 0);
    port_ = ntohs(address.sin_port);
  }
  ~Mute() { ::close(socket_); }
  Mute(const Mute&) = delete;
  Mute& operator=(const Mute&) = delete;
  [[nodiscard]] std::string url() const {
    return "http://127.0.0.1:" + std::to_string(port_) + "/";
  }

 private:
  int socket_;
  std::uint16_t port_ = 0;
};

TEST(Client, ARequestEndsAtItsTimeout) {
  const Mute server;

  const auto response = fetch({.url = server.url(), .timeout = 100ms});

  ASSERT_FALSE(response);
  EXPECT_EQ(response.error().kind, ErrorKind::unknown_outcome);
}

TEST(Client, ARequestUnderWayCanBeHastened) {
  const Mute server;
  Client client;
  std::thread hurry([&client] { client.hasten(std::chrono::steady_clock::now()); });

  const auto response = client.send({.url = server.url(), .timeout = 24h});
  hurry.join();
  const auto later = client.send({.url = server.url(), .timeout = 24h});

  EXPECT_FALSE(response);
  EXPECT_FALSE(later);
}

}  // namespace hk::net
