/// How a command ends, for scripts. Documented in docs/reference/cli.md; never renumbered.
#pragma once

#include "base/error.h"

namespace hk::cli {

enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,       ///< the server said no, or a check found problems
  exit_usage = 2,        ///< wrong flag, argument or setting
  exit_unavailable = 3,  ///< not reachable, or something is in use
  exit_corruption = 4,   ///< stored data is not what was written
  exit_store = 70,       ///< the disk failed or is full, at the start or while serving
};

inline int exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_argument: return exit_usage;
    case ErrorKind::unavailable:
    case ErrorKind::unknown_outcome:
    case ErrorKind::conflict: return exit_unavailable;
    case ErrorKind::corruption: return exit_corruption;
    case ErrorKind::unauthenticated:
    case ErrorKind::permission_denied:
    case ErrorKind::not_found:
    case ErrorKind::limit_exceeded:
    case ErrorKind::quota_reached:
    case ErrorKind::internal: return exit_failed;
  }
  return exit_failed;
}

/// Of what the data directory refused: neither a wrong setting nor something that is in use.
inline int exit_code_of_disk(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::unavailable:
    case ErrorKind::unknown_outcome:
    case ErrorKind::internal: return exit_store;
    default: return exit_code_of(kind);
  }
}

}  // namespace hk::cli
