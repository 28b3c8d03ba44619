/// What the process as such is set up with before it serves or touches a data directory.
#pragma once

#include <csignal>

#include <cstdint>
#include <optional>
#include <string>

#include "base/error.h"

namespace hk::cli {

/// No core dumps (they would hold secrets), files for the owner only, SIGPIPE ignored, as many
/// descriptors as allowed.
void harden_process();

/// How many descriptors the process may have.
std::uint64_t descriptor_limit();

/// Blocks the signals that serve() waits for; REQUIRES: before any thread is made.
sigset_t block_stop_signals();

/// On standard error, if that takes it: fmt::print throws when a disk is full or a reader is gone.
void tell(const std::string& line);
/// Says what the data directory refused; returns the exit code for it.
int report_disk_error(const Error& error);

/// Says on standard error why a command fails; its exit code.
int refuse(const Error& error);

/// A variable of the environment.
std::optional<std::string> environment(const std::string& name);

/// Where this program is, as one word of a shell and from any directory: for lines to paste.
std::string program_path();

/// As one word of a shell.
std::string shell_quoted(const std::string& word);

/// Free bytes for us on the file system of `path`; UINT64_MAX when that cannot be told.
std::uint64_t free_disk_bytes(const std::string& path);

}  // namespace hk::cli
