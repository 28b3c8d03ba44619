/// What the record_*.cpp files share: parsing, serialising and small pieces of records. Generated
/// Protocol Buffers code is seen in these files only.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/time.h"
#include "core/message.h"
#include "store/records.pb.h"

namespace hk::store {

inline std::unexpected<Error> broken_record(std::string_view what) {
  return fail(ErrorKind::corruption, "stored record cannot be read: " + std::string(what));
}

// record_message.cpp; a schedule holds a message too, and a topic says how often one is tried.
/// Takes the texts out of the record.
Result<core::Message> take_message(core::Seq seq, records::Message& record);
void set_retries(records::Retries& record, const core::RetryPolicy& retries);
/// False: it cannot be read.
bool take_retries(core::RetryPolicy& retries, records::Retries& record);

template <class Record>
bool parse(Record& record, std::string_view value) {
  return value.size() <= static_cast<std::size_t>(std::numeric_limits<int>::max()) &&
         record.ParseFromArray(value.data(), static_cast<int>(value.size()));
}

template <class Record>
std::string serialize(const Record& record) {
  std::string value;
  record.SerializeToString(&value);
  return value;
}

/// An all-zero array is stored as nothing.
template <std::size_t N>
bool get_array(std::array<std::uint8_t, N>& out, std::string_view bytes) {
  if (bytes.empty()) {
    out.fill(0);
    return true;
  }
  if (bytes.size() != N) {
    return false;
  }
  std::ranges::transform(bytes, out.begin(), [](char c) { return static_cast<std::uint8_t>(c); });
  return true;
}

template <class Repeated>
void set_headers(Repeated& out, const std::vector<core::Header>& headers) {
  for (const auto& [name, value] : headers) {
    records::Header& header = *out.Add();
    header.set_name(name);
    header.set_value(value);
  }
}

/// Takes the texts out of the record.
template <class Repeated>
std::vector<core::Header> take_headers(Repeated& headers) {
  std::vector<core::Header> out;
  out.reserve(static_cast<std::size_t>(headers.size()));
  for (records::Header& header : headers) {
    out.push_back({std::move(*header.mutable_name()), std::move(*header.mutable_value())});
  }
  return out;
}

template <class Repeated>
std::vector<std::string> take_texts(Repeated& texts) {
  return {std::make_move_iterator(texts.begin()), std::make_move_iterator(texts.end())};
}

}  // namespace hk::store
