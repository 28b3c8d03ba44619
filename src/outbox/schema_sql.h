/// The SQL of the schema: what `hikyaku outbox init` makes and adds. Pure text; schema.cpp decides
/// which of it is needed.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "outbox/table.h"

namespace hk::outbox {

/// Of what init adds to a table; rises when it adds more.
constexpr int schema_version = 1;

/// A column that a table of ours has and that an adopted one is given.
struct ColumnPlan {
  std::string_view name{};   ///< as in the mapping
  std::string_view type{};   ///< with its default, for CREATE TABLE and ADD COLUMN
  bool must_exist = false;   ///< only the user can add it: it holds what is sent
  std::string_view types{};  ///< what the column may be, separated by |; "": a status
  std::string_view check{};  ///< of a table that is made: what its values must fulfil
};
std::span<const ColumnPlan> outbox_column_plans();
std::span<const ColumnPlan> ledger_column_plans();

struct IndexPlan {
  std::string_view suffix{};  ///< of the name: channel() + suffix
  std::string_view on{};      ///< columns and predicate
  bool for_strict_order = false;
};
std::span<const IndexPlan> index_plans();

/// The definition of columns between the parentheses of CREATE TABLE.
std::string outbox_definition(const Table& table, std::string_view payload_type);
std::string ledger_definition(const Table& table);

/// CREATE OR REPLACE FUNCTION for the enqueue function and for the trigger with its function.
/// REQUIRES: table.schema is not empty.
std::string enqueue_function_sql(const Table& table, const std::string& function,
                                 std::string_view payload_type, std::string_view headers_type);
std::string notify_trigger_sql(const Table& table);

}  // namespace hk::outbox
