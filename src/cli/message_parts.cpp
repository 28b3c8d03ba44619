#include "cli/message_parts.h"

#include <fmt/core.h>

#include <fstream>
#include <iostream>
#include <iterator>

#include "cli/process.h"

namespace hk::cli {

std::optional<std::string> read_body_file(const std::string& file) {
  std::ifstream opened;
  if (file != "-") {
    opened.open(file, std::ios::binary);
  }
  std::istream& in = file == "-" ? std::cin : opened;
  std::string body;
  if (in.good()) {
    body.assign(std::istreambuf_iterator<char>(in), {});
  }
  if ((file != "-" && !opened.is_open()) || in.bad()) {
    tell(fmt::format("hikyaku: {} cannot be read", file));
    return std::nullopt;
  }
  return body;
}

bool add_forwarded(std::vector<net::Field>& fields, const std::vector<std::string>& headers) {
  for (const std::string& header : headers) {
    const std::size_t colon = header.find(':');
    if (colon == std::string::npos || colon == 0) {
      tell(fmt::format("hikyaku: --header must be 'Name: value', not '{}'", header));
      return false;
    }
    const std::size_t start = header.find_first_not_of(' ', colon + 1);
    fields.push_back({"Upstash-Forward-" + header.substr(0, colon),
                      start == std::string::npos ? std::string{} : header.substr(start)});
  }
  return true;
}

}  // namespace hk::cli
