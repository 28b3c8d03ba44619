/// Spans as the JSON body of an OTLP/HTTP export request. Used by the exporter on its thread.
#pragma once

#include <span>
#include <string>

#include "observe/trace.h"

namespace hk::observe {

std::string otlp_json(std::span<const Span> spans);

}  // namespace hk::observe
