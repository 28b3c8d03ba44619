/// A small client of Signature Version 4, written apart from the server's side: it knows the parts
/// of a request before they are encoded, and encodes them for the wire and for signing by itself.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/encoding.h"
#include "edge/http/message.h"
#include "security/digest.h"

namespace hk::api::aws::testing {

struct Plan {
  std::string method = "POST";
  std::vector<std::string> segments{};  ///< of the path, decoded
  std::vector<std::pair<std::string, std::string>> parameters{};
  std::vector<net::Field>
      signed_fields{};  ///< names in any case; Host and X-Amz-Date come by themselves
  std::vector<net::Field> other_fields{};
  std::string body{};
  std::string access_key = "AKIDEXAMPLE";
  std::string secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
  std::string host = "127.0.0.1:8080";
  std::string date = "20260102T030405Z";
  std::string region = "us-east-1";
  std::string service = "sqs";
  std::string payload{};     ///< "": the hash of the body
  std::string expires = "";  ///< a presigned URL then
};

inline std::string escaped(std::string_view text) {
  std::string out;
  for (const unsigned char c : text) {
    if (std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_' || c == '~') {
      out.push_back(static_cast<char>(c));
    } else {
      const char* const digits = "0123456789ABCDEF";
      out += {'%', digits[c / 16], digits[c % 16]};
    }
  }
  return out;
}

inline std::string raw_hmac(const std::string& key, const std::string& text) {
  const auto digest = security::hmac_sha256(key, text);
  return {digest.begin(), digest.end()};
}

inline std::string hash(const std::string& text) {
  const auto digest = security::sha256(text);
  return hex(std::string(digest.begin(), digest.end()));
}

/// What was signed, for tests that look at the steps.
struct Signed {
  http::Request request{};
  std::string canonical{};
  std::string signature{};
};

inline std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

/// "a  b " -> "a b"
inline std::string squeezed(const std::string& text) {
  std::string out;
  for (const char c : text + " ") {
    const char plain = c == '\t' ? ' ' : c;
    if (plain != ' ' || (!out.empty() && out.back() != ' ')) out += plain;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

inline Signed sign(Plan plan) {
  const std::string scope =
      plan.date.substr(0, 8) + "/" + plan.region + "/" + plan.service + "/aws4_request";
  const bool presigned = !plan.expires.empty();

  std::map<std::string, std::string> headers{{"host", plan.host}};
  if (!presigned) headers["x-amz-date"] = plan.date;
  for (const net::Field& field : plan.signed_fields) {
    std::string& value = headers[lower(field.name)];
    value += (value.empty() ? "" : ",") + squeezed(field.value);
  }
  std::string names;
  std::string lines;
  for (const auto& [name, value] : headers) {
    names += (names.empty() ? "" : ";") + name;
    lines += name + ":" + value + "\n";
  }

  if (presigned) {
    plan.parameters.insert(plan.parameters.end(),
                           {{"X-Amz-Algorithm", "AWS4-HMAC-SHA256"},
                            {"X-Amz-Credential", plan.access_key + "/" + scope},
                            {"X-Amz-Date", plan.date},
                            {"X-Amz-Expires", plan.expires},
                            {"X-Amz-SignedHeaders", names}});
  }
  std::string wire_path;
  std::string signed_path;
  for (const std::string& segment : plan.segments) {
    wire_path += "/" + escaped(segment);
    signed_path += "/" + escaped(escaped(segment));
  }
  if (plan.segments.empty()) wire_path = signed_path = "/";
  std::vector<std::string> sorted;
  std::string wire_query;
  for (const auto& [name, value] : plan.parameters) {
    sorted.push_back(escaped(name) + "=" + escaped(value));
    wire_query += (wire_query.empty() ? "" : "&") + sorted.back();
  }
  std::ranges::sort(sorted);  // good enough: no test has names of which one begins another
  std::string signed_query;
  for (const std::string& one : sorted) signed_query += (signed_query.empty() ? "" : "&") + one;

  Signed result;
  result.canonical = plan.method + "\n" + signed_path + "\n" + signed_query + "\n" + lines + "\n" +
                     names + "\n" + (plan.payload.empty() ? hash(plan.body) : plan.payload);
  std::string key = "AWS4" + plan.secret;
  for (const std::string& part :
       {plan.date.substr(0, 8), plan.region, plan.service, std::string("aws4_request")}) {
    key = raw_hmac(key, part);
  }
  result.signature = hex(raw_hmac(
      key, "AWS4-HMAC-SHA256\n" + plan.date + "\n" + scope + "\n" + hash(result.canonical)));

  http::Request& request = result.request;
  request.method = plan.method;
  request.target = wire_path;
  if (presigned) wire_query += "&X-Amz-Signature=" + result.signature;
  if (!wire_query.empty()) request.target += "?" + wire_query;
  request.body = plan.body;
  request.fields.push_back({"Host", plan.host});
  if (!presigned) {
    request.fields.push_back({"X-Amz-Date", plan.date});
    request.fields.push_back({"Authorization", "AWS4-HMAC-SHA256 Credential=" + plan.access_key +
                                                   "/" + scope + ", SignedHeaders=" + names +
                                                   ", Signature=" + result.signature});
  }
  for (const net::Field& field : plan.signed_fields) request.fields.push_back(field);
  for (const net::Field& field : plan.other_fields) request.fields.push_back(field);
  return result;
}

}  // namespace hk::api::aws::testing
