#include "store/codec.h"

#include "store/key.h"

namespace hk::store {
namespace {

struct Encoder {
  std::vector<Write>& out;

  template <class R>
  void operator()(const core::Put<R>& put) {
    out.push_back(
        {Write::Kind::put, table_of<R>, encode_key<R>(put.key()), Codec<R>::encode(put.record())});
  }
  template <class R>
  void operator()(const core::Erase<R>& row) {
    out.push_back({Write::Kind::erase, table_of<R>, encode_key<R>(row.key), {}});
  }
  template <class R>
  void operator()(const core::EraseRange<R>& rows) {
    KeyRange keys = encode_range(rows.range);
    out.push_back(
        {Write::Kind::erase_range, table_of<R>, std::move(keys.from), std::move(keys.to)});
  }
};

}  // namespace

void encode(const core::Mutation& mutation, std::vector<Write>& out) {
  std::visit(Encoder{out}, mutation);
}

}  // namespace hk::store
