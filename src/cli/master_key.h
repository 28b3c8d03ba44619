/// The master key of a data directory: found, compared with what it has sealed, rotated. Whoever
/// calls has the store open, so nobody else changes the directory meanwhile.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/secret.h"
#include "security/credentials.h"
#include "store/store.h"

namespace hk::cli {

struct KeyPlace {
  std::string data{};
  Secret setting{};  ///< the setting `master_key`; empty: the file master.key in `data` holds it

  [[nodiscard]] std::string file() const { return data + "/master.key"; }
  /// Holds the new key from the beginning of a rotation to its end.
  [[nodiscard]] std::string next_file() const { return file() + ".next"; }
};

/// As the environment has it: for commands that take no settings of the server.
Result<KeyPlace> key_place(const std::string& data);

enum class IfMissing : std::uint8_t {
  make,  ///< in a directory that has nothing sealed
  refuse,
};
/// The key that opens what the store holds, with the pepper that goes with it. A rotation that was
/// interrupted is brought to its end, or forgotten if it had not taken effect. not_found: there is
/// no key, and none may be made. corruption: it is another key.
Result<security::MasterKey> open_master_key(const KeyPlace& place, store::Store& store,
                                            IfMissing missing);

/// What is wrong with the key or with what it should open, a sentence each.
std::vector<std::string> check_master_key(const KeyPlace& place, store::Store& store);

/// hikyaku keys rotate-master. `new_key_file`: "" = the environment names the new key, or one is
/// made.
int rotate_master_key(const std::string& data, const std::string& new_key_file, bool as_json);

}  // namespace hk::cli
