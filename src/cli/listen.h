/// `hikyaku listen`: a receiver for trying things out. Prints what arrives and answers as told.
#pragma once

#include <string>

#include "base/secret.h"

namespace hk::cli {

struct ListenArguments {
  std::string address{"127.0.0.1"};
  std::uint16_t port = 9000;
  int status = 200;
  std::string body{};
  bool json = false;
};

int listen(const ListenArguments& arguments);

}  // namespace hk::cli
