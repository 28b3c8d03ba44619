/// Requests to SQS, signed with Signature Version 4. One signer per run: its date stays, so that
/// the bytes of a request stay good for 15 minutes and need to be signed once. Not the server's
/// code: a mistake there would find itself right here.
#pragma once

#include <openssl/hmac.h>
#include <openssl/sha.h>

#include <array>
#include <ctime>
#include <string>
#include <string_view>

namespace hk::bench {

class Signer {
 public:
  /// The credentials of --dev, public by design.
  explicit Signer(std::string authority) : authority_(std::move(authority)) {
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    gmtime_r(&now, &parts);
    char text[32];
    std::strftime(text, sizeof text, "%Y%m%dT%H%M%SZ", &parts);
    date_time_ = text;
    scope_ = date_time_.substr(0, 8) + "/us-east-1/sqs/aws4_request";
    key_ = "AWS4test";
    for (const std::string& part : {date_time_.substr(0, 8), std::string("us-east-1"),
                                    std::string("sqs"), std::string("aws4_request")}) {
      key_ = hmac(key_, part);
    }
  }

  /// A whole request, as on the wire.
  [[nodiscard]] std::string request(const std::string& action, const std::string& body) const {
    const std::string target = "AmazonSQS." + action;
    const std::string canonical =
        "POST\n/\n\ncontent-type:application/x-amz-json-1.0\nhost:" + authority_ +
        "\nx-amz-date:" + date_time_ + "\nx-amz-target:" + target + "\n\n" +
        std::string(signed_headers) + "\n" + hex(sha256(body));
    const std::string to_sign =
        "AWS4-HMAC-SHA256\n" + date_time_ + "\n" + scope_ + "\n" + hex(sha256(canonical));
    return "POST / HTTP/1.1\r\nHost: " + authority_ +
           "\r\nContent-Type: application/x-amz-json-1.0\r\nX-Amz-Date: " + date_time_ +
           "\r\nX-Amz-Target: " + target + "\r\nAuthorization: AWS4-HMAC-SHA256 Credential=test/" +
           scope_ + ", SignedHeaders=" + std::string(signed_headers) +
           ", Signature=" + hex(hmac(key_, to_sign)) +
           "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  }

 private:
  static constexpr std::string_view signed_headers = "content-type;host;x-amz-date;x-amz-target";

  static const unsigned char* bytes(const std::string& text) {
    return reinterpret_cast<const unsigned char*>(text.data());
  }
  static std::string sha256(const std::string& text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    SHA256(bytes(text), text.size(), digest.data());
    return {digest.begin(), digest.end()};
  }
  static std::string hmac(const std::string& key, const std::string& text) {
    std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
    HMAC(EVP_sha256(), key.data(), static_cast<int>(key.size()), bytes(text), text.size(),
         digest.data(), nullptr);
    return {digest.begin(), digest.end()};
  }
  static std::string hex(const std::string& digest) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    text.reserve(2 * digest.size());
    for (const char c : digest) {
      const auto byte = static_cast<unsigned char>(c);
      text.push_back(digits[byte >> 4U]);
      text.push_back(digits[byte & 15U]);
    }
    return text;
  }

  std::string authority_;
  std::string date_time_{};
  std::string scope_{};
  std::string key_{};
};

}  // namespace hk::bench
