/// Bytes of inbound sources as they are on disk. A golden record is never changed: a new field gets
/// a new record, and the old ones must still decode to what they meant.
#include <gtest/gtest.h>

#include "base/encoding.h"
#include "store/codec.h"
#include "store/key.h"

namespace hk::store {
namespace HK_TEST_FILE {

template <class R>
void expect_golden(const R& record, std::string_view golden) {
  const std::string bytes = Codec<R>::encode(record);
  EXPECT_EQ(hex(bytes), golden);
  const auto back = Codec<R>::decode(core::own_key(record), *unhex(golden));
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, record);
}

TEST(SourceGolden, Source) {
  const core::Source source{.tenant = core::TenantId{5},
                            .id = "src_1",
                            .name = "stripe-prod",
                            .enabled = true,
                            .secrets = {{.id = "sec_1",
                                         .sealed = "s",
                                         .hint = "h",
                                         .created_at = moment_from_ms(1'700'000'000'001),
                                         .expires_at = moment_from_ms(1'700'000'000'002)}},
                            .dedup_window = core::dedup_for_ever,
                            .settings = "{}",
                            .version = 3,
                            .created_at = moment_from_ms(4),
                            .updated_at = moment_from_ms(5),
                            .stats = {6, 7, 8, 9, 10, moment_from_ms(11)},
                            .quarantine = {12, 13, 14, 15},
                            .upkeep_at = moment_from_ms(16)};
  expect_golden(
      source,
      "0a0b7374726970652d70726f6410011a1b0a057365635f311201731a01682081d095ffbc312882d095ffbc3120ff"
      "ffffffffffffffff012a027b7d3003380440054806500758086009680a700b780c80010d88010e90010f980110");
  EXPECT_EQ(hex(encode_key<core::Source>(core::own_key(source))), "000000057372635f31");
}

TEST(SourceGolden, Name) {
  const core::SourceName name{
      .name = "n", .tenant = core::TenantId{5}, .id = "src_1", .version = 3};
  expect_golden(name, "080512057372635f311803");
  EXPECT_EQ(encode_key<core::SourceName>(core::own_key(name)), "n");
}

TEST(SourceGolden, Event) {
  const core::SourceEvent event{.tenant = core::TenantId{5},
                                .source = "src_1",
                                .message = {core::Seq{3}, 99},
                                .event_id = "evt",
                                .event_type = "t",
                                .received_at = moment_from_ms(7),
                                .bytes = 8,
                                .duplicates = 9,
                                .unverified = true};
  expect_golden(event, "09630000000000000012036576741a01742007280830093801");
  EXPECT_EQ(hex(encode_key<core::SourceEvent>(core::own_key(event))),
            "000000057372635f312f0000000000000003");
}

TEST(SourceGolden, RejectedRequest) {
  const core::Quarantined request{.tenant = core::TenantId{5},
                                  .source = "src_1",
                                  .number = 2,
                                  .nonce = 98,
                                  .received_at = moment_from_ms(7),
                                  .method = "POST",
                                  .target = "/in/s",
                                  .headers = {{"A", "b"}},
                                  .body = "x",
                                  .remote = "192.0.2.7",
                                  .code = "c",
                                  .message = "m",
                                  .details = "{}"};
  expect_golden(request,
                "09620000000000000010071a04504f535422052f696e2f732a060a01411201623201783a093139322e"
                "302e322e374201634a016d52027b7d");
  EXPECT_EQ(hex(encode_key<core::Quarantined>(core::own_key(request))),
            "000000057372635f312f0000000000000002");
}

}  // namespace HK_TEST_FILE
}  // namespace hk::store
