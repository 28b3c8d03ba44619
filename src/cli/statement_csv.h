/// A bank's statement as CSV, made into lines that reconciliation takes. Pure but for the stream
/// that it reads; one thread.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace hk::cli {

/// How the file is written, and which of its columns is what.
struct StatementForm {
  /// Of each member of a line the names of its columns; of several the texts are joined by a space.
  /// A member that is not named here is the column of its own name, if there is one.
  std::map<std::string, std::vector<std::string>> columns{};
  char separator = ',';
  /// Amounts have a decimal point and so many digits behind it; none: they are in minor units.
  std::optional<unsigned> decimals{};
  bool decimal_comma = false;
  std::string date_form{"YYYY-MM-DD"};  ///< such as DD.MM.YYYY, or M/D/YYYY
  std::string currency{};               ///< of lines that do not say
};

/// "MEMBER=COLUMN" into `columns`. invalid_argument: it is not of that form, or there is no such
/// member.
Result<void> add_column(std::map<std::string, std::vector<std::string>>& columns,
                        std::string_view given);

/// "1.234,50" with a decimal comma and 2 decimals is "123450".
Result<std::string> minor_units(std::string_view text, unsigned decimals, bool decimal_comma);
/// The day as "2026-01-31".
Result<std::string> day_text(std::string_view text, std::string_view form);

class StatementCsv {
 public:
  StatementCsv(std::istream& in, StatementForm form) : in_(in), form_(std::move(form)) {}

  /// Reads the names of the columns. REQUIRES: it is called first.
  Result<void> open();
  /// nullopt: the file ends. An error names the line of the file.
  Result<std::optional<boost::json::object>> next();

 private:
  std::optional<Result<std::vector<std::string>>> row();
  [[nodiscard]] std::unexpected<Error> wrong(std::string_view what) const;

  std::istream& in_;
  StatementForm form_;
  std::map<std::string, std::vector<std::size_t>> places_;  ///< of each member its columns
  std::size_t width_ = 0;
  std::size_t line_ = 0;       ///< the last one read
  std::size_t row_begin_ = 0;  ///< the line that the row begins in
};

}  // namespace hk::cli
