#include <variant>

#include "unit/core/rig.h"

namespace hk::core::testing {
namespace HK_TEST_FILE {

Document named(std::string name, TenantId tenant = tenant_one) {
  return {.tenant = tenant, .kind = "topic", .name = std::move(name), .fields = {{"a", "1"}}};
}

TEST(Documents, HaveAVersionThatRisesAndTheTimeOfTheFirst) {
  Rig rig;
  const Moment made = rig.now;
  rig.run(PutDocumentCommand{named("t"), {}});
  rig.pass(Millis{1000});
  rig.run(PutDocumentCommand{named("t"), {}});

  const auto stored = rig.reader.get<Document>({tenant_one, "topic", "t"});
  ASSERT_TRUE(stored.has_value());
  EXPECT_EQ(stored->version, 2U);
  EXPECT_EQ(stored->created_at, made);
}

TEST(Documents, AreReplacedOnlyInTheVersionThatWasRead) {
  Rig rig;
  rig.run(PutDocumentCommand{named("t"), {}});
  const struct {
    const char* what;
    const char* name;
    std::uint64_t if_version;
    bool done;
  } rows[] = {{"another version", "t", 2, false},
              {"none was meant to be there", "t", 0, false},
              {"one was meant to be there", "new", 1, false},
              {"the version that is there", "t", 1, true},
              {"none is there", "new", 0, true}};
  for (const auto& row : rows) {
    SCOPED_TRACE(row.what);
    const Ran ran = rig.run(PutDocumentCommand{named(row.name), row.if_version});
    EXPECT_EQ(ran.replies.at(0).has_value(), row.done);
    if (!row.done) {
      EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::conflict);
    }
  }
}

TEST(Documents, OfATenantThatIsNotThereAreRefused) {
  Rig rig;
  const Ran ran = rig.run(PutDocumentCommand{named("t", TenantId{9}), {}});
  ASSERT_FALSE(ran.replies.at(0).has_value());
  EXPECT_EQ(ran.replies[0].error().kind, ErrorKind::not_found);
  EXPECT_TRUE(rig.reader.rows<Document>().empty());
}

TEST(Documents, AreDeletedOnceOrNotAtAll) {
  Rig rig;
  rig.run(PutDocumentCommand{named("t"), {}});
  rig.run(DeleteDocumentCommand{tenant_one, "topic", "t"}).only<Done>();
  EXPECT_TRUE(rig.reader.rows<Document>().empty());
  const Ran again = rig.run(DeleteDocumentCommand{tenant_one, "topic", "t"});
  again.only<Done>();
  for (const Mutation& mutation : again.mutations) {
    EXPECT_FALSE(std::holds_alternative<Erase<Document>>(mutation));
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::core::testing
