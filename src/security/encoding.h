/// Text forms of bytes: base/encoding.h under its name here. Callable from any thread.
#pragma once

#include "base/encoding.h"

namespace hk::security {

using hk::base64;
using hk::base64url;
using hk::hex;
using hk::unbase64;
using hk::unbase64url;
using hk::unhex;

}  // namespace hk::security
