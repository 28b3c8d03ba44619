/// JSON as the adapters write it: base/json.h under its name here. Pure functions, any thread.
#pragma once

#include "base/json.h"

namespace hk::api {

using hk::JsonWriter;

}  // namespace hk::api
