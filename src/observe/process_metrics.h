/// What the operating system knows about this process; read when scraped. Any thread.
#pragma once

namespace hk::observe {

double resident_memory_bytes();
double open_descriptors();
double descriptors_max();
double start_time_seconds();
double cpu_seconds();

}  // namespace hk::observe
