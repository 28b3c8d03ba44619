#include "outbox/source/slot.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace hk;
using namespace hk::outbox;

TEST(Slot, ItsNameIsGivenOrMadeOfTheTableAndTheDatabase) {
  Settings settings;
  settings.table.outbox = "hikyaku_outbox";
  EXPECT_EQ(slot_name(settings, "shop"), "hikyaku_outbox_shop");
  settings.table.schema = "sales";
  EXPECT_EQ(slot_name(settings, "shop"), "hikyaku_outbox_sales_shop");
  settings.slot = "mine";
  EXPECT_EQ(slot_name(settings, "shop"), "mine");
}

TEST(Slot, AMadeNameIsAllowedAndStaysDifferent) {
  Settings settings;
  const std::string databases[] = {
      "Shop", "shop", "sh-op", "sh op", std::string(63, 'x'), std::string(62, 'x') + "y", "店"};
  std::vector<std::string> names;
  for (const std::string& database : databases) {
    const std::string name = slot_name(settings, database);
    EXPECT_TRUE(check_slot_name(name).has_value()) << name;
    EXPECT_EQ(std::ranges::count(names, name), 0) << name;
    names.push_back(name);
  }
}

TEST(Slot, ANameThatPostgreSQLWouldRefuseIsRefusedBefore) {
  EXPECT_TRUE(check_slot_name("").has_value());
  EXPECT_TRUE(check_slot_name("orders_2").has_value());
  for (const std::string& name : {std::string("Orders"), std::string("or-ders"), std::string("a b"),
                                  std::string(64, 'a'), std::string("é")}) {
    const auto checked = check_slot_name(name);
    ASSERT_FALSE(checked.has_value()) << name;
    EXPECT_EQ(checked.error().kind, ErrorKind::invalid_argument);
  }
}

TEST(Slot, WhatIsMissingIsSaidInTheOrderInWhichItIsMended) {
  Table table;
  SlotState state;
  state.wal_level = "replica";
  EXPECT_EQ(check_slot(state, "s", table).error().kind, ErrorKind::invalid_argument);
  EXPECT_NE(check_slot(state, "s", table).error().message.find("wal_level = logical"),
            std::string::npos);
  state.wal_level = "logical";
  EXPECT_EQ(check_slot(state, "s", table).error().kind, ErrorKind::not_found);
  state.publication = true;
  EXPECT_TRUE(check_slot(state, "s", table).has_value());
  state.exists = true;
  EXPECT_EQ(check_slot(state, "s", table).error().kind, ErrorKind::conflict);
  state.ours = true;
  EXPECT_TRUE(check_slot(state, "s", table).has_value());
}
