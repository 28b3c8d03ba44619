/// Reading records of a store whose server does not run, for the start and for offline commands.
#pragma once

#include <type_traits>

#include "base/error.h"
#include "store/store.h"
#include "store/typed_reader.h"

namespace hk::cli {

/// What `read` makes of a snapshot. internal: the disk did not give a record. corruption: a record
/// is broken. They are told apart, because only damage calls for a backup.
template <class Read>
Result<std::invoke_result_t<Read, store::TypedReader&>> read_stored(store::Store& store,
                                                                    Read read) {
  try {
    store::TypedReader reader(store.snapshot());
    return read(reader);
  } catch (const store::UnreadableRecord& unread) {
    return fail(ErrorKind::internal, unread.what());
  } catch (const core::CorruptRecord& broken) {
    return fail(ErrorKind::corruption, broken.what());
  }
}

}  // namespace hk::cli
