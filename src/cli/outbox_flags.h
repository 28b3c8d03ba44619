/// The flags of `hikyaku outbox`.
#pragma once

namespace CLI {
class App;
}

namespace hk::cli {

/// `code` is where the chosen command leaves its exit code; it outlives the parsing.
void add_outbox(CLI::App& app, int& code);

}  // namespace hk::cli
