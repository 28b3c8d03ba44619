/// hikyaku sources: services that send webhooks to a running server.
#pragma once

#include <cstdint>
#include <string>

#include "cli/remote.h"

namespace hk::cli {

struct SourceArguments {
  std::string name{};
  std::string preset{};
  // Where events go: one of them.
  std::string url{};
  std::string url_group{};
  std::string queue{};
  std::string secret_file{};     ///< "-": standard input; "": there is none
  std::string settings_file{};   ///< JSON with further members; "": none
  std::string secret{};          ///< id of one
  std::uint64_t expires_in = 0;  ///< seconds; 0: never
  std::string request{};         ///< id of one in the quarantine
  std::uint32_t limit = 50;
  std::string cursor{};
};

int list_sources(const Connection& connection, const SourceArguments& arguments);
int create_source(const Connection& connection, const SourceArguments& arguments);
int show_source(const Connection& connection, const SourceArguments& arguments);
int delete_source(const Connection& connection, const SourceArguments& arguments);
int add_source_secret(const Connection& connection, const SourceArguments& arguments);
int remove_source_secret(const Connection& connection, const SourceArguments& arguments);
int list_source_events(const Connection& connection, const SourceArguments& arguments);
int list_quarantine(const Connection& connection, const SourceArguments& arguments);
int show_quarantined(const Connection& connection, const SourceArguments& arguments);
int release_quarantined(const Connection& connection, const SourceArguments& arguments);
int reverify_quarantine(const Connection& connection, const SourceArguments& arguments);

}  // namespace hk::cli
