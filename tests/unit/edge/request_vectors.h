/// Requests as bytes, with what must become of them: the table behind the tests of the strict
/// layer.
#pragma once

#include <string>
#include <vector>

namespace hk::http::test {

struct Vector {
  std::string name{};
  std::string bytes{};
  int status = 0;        ///< 0: accepted; else refused with it
  std::string target{};  ///< of an accepted one
  std::string body{};    ///< of an accepted one
};

/// Limits the vectors are written for: line 200, block 1,000, fields 8, body 100 bytes.
std::vector<Vector> accepted_vectors();
std::vector<Vector> refused_vectors();

}  // namespace hk::http::test
