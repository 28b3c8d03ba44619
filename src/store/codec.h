/// From mutations to bytes and back. encode() runs on the core's thread, once per mutation of every
/// batch; the decoders run on any thread. A decoder takes arbitrary bytes: what cannot have been
/// written by us is ErrorKind::corruption, never undefined behaviour.
///
/// To change the format:
/// (a new kind of record: core/table.h)
///   1. Add the field to the struct in core/. The codec (record_*.cpp) no longer builds: it unpacks
///      records with structured bindings, so that nothing can be forgotten.
///   2. Give it the next free number in records.proto. A number keeps its meaning and its type for
///      ever; a field that is dropped is listed as `reserved`.
///   3. Old records do not have it: absent must decode to what the old code meant.
///   4. An older server skips fields it does not know and does not write them back. If that would
///      harm, if a key changes (key.h), or if absent cannot mean the old thing: raise the number of
///      the format in core::Meta and migrate at start; a newer format is refused by an older
///      server.
///   5. Add a golden record to tests/unit/store/codec_golden_test.cpp. The old ones must still
///   decode.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "core/mutation.h"
#include "store/store.h"

namespace hk::store {

/// Appends the writes of the mutation, in the order in which they must be applied.
void encode(const core::Mutation& mutation, std::vector<Write>& out);

/// The value of a record: what its key does not say. Both translations stand in record_*.cpp.
template <class R>
struct Codec {
  static std::string encode(const R& record);
  static Result<R> decode(core::KeyOf<R> key, std::string_view value);
};
#define HK_TABLE(number_, table_, Record_, ...)                                      \
  template <>                                                                        \
  std::string Codec<core::Record_>::encode(const core::Record_& record);             \
  template <>                                                                        \
  Result<core::Record_> Codec<core::Record_>::decode(core::KeyOf<core::Record_> key, \
                                                     std::string_view value);
#include "core/tables.def"
#undef HK_TABLE

/// The pepper of token digests, sealed with the master key. Not the core's: written when that key
/// is rotated, read when it is opened.
Write put_pepper(std::string_view sealed);
Result<std::string> decode_pepper(std::string_view value);

}  // namespace hk::store
