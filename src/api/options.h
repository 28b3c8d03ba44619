/// What the adapters are told at start: limits, defaults, and the few things they must ask others
/// for. main fills it in; constant afterwards. The callbacks are called on I/O threads and must not
/// block.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "api/limits/limiter.h"
#include "base/error.h"
#include "base/secret.h"
#include "base/time.h"
#include "core/ledger/sealing.h"

namespace hk::api {

struct Options {
  std::size_t body_bytes_max = std::size_t{10} * 1024 * 1024;    ///< of a message
  std::size_t batch_bytes_max = std::size_t{100} * 1024 * 1024;  ///< of a request with many of them
  std::size_t answer_bytes_max = std::size_t{256}
                                 << 20U;  ///< of large answers that are not sent yet
  std::size_t batch_items_max = 10'000;
  std::size_t forward_fields_max = 64;
  std::size_t forward_bytes_max = std::size_t{16} * 1024;
  Millis dedup_window{600'000};
  Millis idempotency_ttl{86'400'000};
  std::uint32_t retries_default = 3;
  std::uint32_t retries_max = 1000;
  Millis timeout_default{7'200'000};
  Millis timeout_max{7'200'000};
  std::optional<Millis> delay_max{};  ///< none: no limit of its own

  Millis overload_delay{0};  ///< publishes that would wait longer may be refused; 0: never

  limits::Settings rates{};               ///< of requests
  std::function<std::uint64_t()> load{};  ///< of what is fullest, in millionths; empty: none

  std::size_t scanned_per_listing_max = 2'000;  ///< then the page ends with a cursor
  std::size_t listing_bytes_max = std::size_t{16} * 1024 * 1024;

  std::uint32_t global_parallelism = 0;        ///< attempts in flight, at most
  std::function<std::uint64_t()> in_flight{};  ///< … and now; empty: none

  std::string durability{"local"};  ///< told with every accepted message

  /// Why nothing is accepted at the moment (the disk is nearly full); nullopt: all is well.
  std::function<std::optional<std::string>()> refuse_publishes{};
  /// The destination gate of a URL ("scheme://host:port"), or why it is refused. REQUIRED.
  std::function<Result<std::string>(std::string_view url)> check_destination{};
  /// May this header be sent on a publisher's behalf? REQUIRED.
  std::function<Result<void>(std::string_view name, std::string_view value)> check_header{};
  /// May what a service has sent to a source go on with its event? Empty: as check_header.
  std::function<Result<void>(std::string_view name, std::string_view value)> check_received{};
  /// Secrets of sources are stored sealed. Empty functions: as they are, which is for tests.
  core::Sealing sealing{};
  /// Is there a time zone of this name? May read a small file. REQUIRED.
  std::function<Result<void>(std::string_view name)> check_zone{};
  std::function<Moment()> now{};  ///< empty: the system clock
  std::function<bool()> ready{};  ///< empty: always

  /// The tenant whose credentials the settings give: those are not changed here, since the next
  /// start would bring them back.
  std::string settings_tenant{};
  bool settings_token = false;
  bool settings_keys = false;
  std::string settings_access_key{};  ///< its id; "": none

  /// As a master key is written: seals the key that signs what SNS delivers; empty: nothing does.
  Secret sns_sealing_key{};
  Secret receipt_key{};  ///< receipts of pulled messages are known to be ours by it

  std::string public_url{};  ///< where clients reach the server; empty: as their requests say
  /// Who may show the portal in a frame, as Content-Security-Policy writes it.
  std::string portal_frame_ancestors{"'self'"};

  Secret admin_token{};    ///< empty: the admin API is closed
  Secret metrics_token{};  ///< empty: metrics and the description of the API are open
  bool allow_token_in_query = true;
  std::function<Result<void>(std::string directory)>
      backup{};  ///< blocks; called through run_blocking
  /// Runs it on some other thread, once, before the server's threads are gone.
  std::function<void(std::move_only_function<void()>)> run_blocking{};
};

}  // namespace hk::api
