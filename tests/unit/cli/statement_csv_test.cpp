#include "cli/statement_csv.h"

#include <gtest/gtest.h>

#include <sstream>

namespace hk::cli {
namespace HK_TEST_FILE {

TEST(StatementCsv, AmountsBecomeMinorUnits) {
  struct Row {
    std::string_view text;
    unsigned decimals;
    bool comma;
    std::string_view amount;  ///< "": it is refused
  };
  const Row rows[] = {
      {"900.00", 2, false, "90000"},
      {"-150", 2, false, "-15000"},
      {"1.234,5", 2, true, "123450"},
      {"1,234.50", 2, false, "123450"},
      {"-0,05", 2, true, "-5"},
      {"+7", 0, false, "7"},
      {" 1'000.00 ", 2, false, "100000"},
      {"-0.00", 2, false, "0"},
      {".5", 2, false, "50"},
      {"340282366920938463463374607431768211455", 0, false,
       "340282366920938463463374607431768211455"},
      {"1.234", 2, false, ""},
      {"", 2, false, ""},
      {"12-", 2, false, ""},
      {"1.2.3", 2, false, ""},
      {"1.5,0", 2, false, ""},
      {"EUR 5", 2, false, ""},
      {"-", 2, false, ""},
      {"--5", 2, false, ""},
  };
  for (const Row& row : rows) {
    const auto amount = minor_units(row.text, row.decimals, row.comma);
    EXPECT_EQ(amount.value_or(""), row.amount) << row.text;
  }
}

TEST(StatementCsv, DaysAreReadAsTheFormSays) {
  struct Row {
    std::string_view text;
    std::string_view form;
    std::string_view day;  ///< "": it is refused
  };
  const Row rows[] = {
      {"2026-01-31", "YYYY-MM-DD", "2026-01-31"},
      {"31.01.2026", "DD.MM.YYYY", "2026-01-31"},
      {"31.01.26", "DD.MM.YY", "2026-01-31"},
      {"1/3/2026", "M/D/YYYY", "2026-01-03"},
      {"12/31/2026", "M/D/YYYY", "2026-12-31"},
      {"20260131", "YYYYMMDD", "2026-01-31"},
      {"2026-1-31", "YYYY-MM-DD", ""},
      {"2026-01-31 ", "YYYY-MM-DD", "2026-01-31"},
      {"2026-01-31T10", "YYYY-MM-DD", ""},
      {"", "YYYY-MM-DD", ""},
      {"2026-01", "YYYY-MM", ""},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(day_text(row.text, row.form).value_or(""), row.day) << row.text;
  }
}

/// The lines of the file, or what is wrong with it.
std::string lines_of(const std::string& text, StatementForm form) {
  std::istringstream in(text);
  StatementCsv csv(in, std::move(form));
  if (const auto opened = csv.open(); !opened) {
    return opened.error().message;
  }
  std::string all;
  for (;;) {
    const auto line = csv.next();
    if (!line) {
      return line.error().message;
    }
    if (!*line) {
      return all;
    }
    all += boost::json::serialize(**line) + '\n';
  }
}

TEST(StatementCsv, ColumnsAreFoundByTheirNames) {
  EXPECT_EQ(lines_of("external_id,date,amount,currency\na,2026-01-02,-5,EUR\n", {}),
            R"({"amount":"-5","currency":"EUR","date":"2026-01-02","external_id":"a"})"
            "\n");
  StatementForm form{.separator = ';',
                     .decimals = 2,
                     .decimal_comma = true,
                     .date_form = "DD.MM.YYYY",
                     .currency = "EUR"};
  for (const char* const given :
       {"external_id=Tag", "external_id=Nr", "date=Tag", "amount=Betrag", "text=Zweck"}) {
    EXPECT_TRUE(add_column(form.columns, given)) << given;
  }
  EXPECT_EQ(lines_of("\xEF\xBB\xBF\"Tag\";Nr;Betrag;Zweck\r\n"
                     "02.01.2026;1;-1.000,50;\"Miete \"\"A\"\"; Januar\nzweite Zeile\"\r\n\r\n"
                     "03.01.2026;2;7,00;\r\n",
                     form),
            R"({"amount":"-100050","date":"2026-01-02","external_id":"02.01.2026 1",)"
            R"("text":"Miete \"A\"; Januar\nzweite Zeile","currency":"EUR"})"
            "\n"
            R"({"amount":"700","date":"2026-01-03","external_id":"03.01.2026 2","currency":"EUR"})"
            "\n");
}

TEST(StatementCsv, SaysWhatIsWrongAndWhere) {
  const std::string header = "external_id,date,amount,currency\n";
  EXPECT_EQ(lines_of("", {}), "the file is empty: it must begin with the names of the columns");
  EXPECT_EQ(lines_of("id,date,amount,currency\n", {}),
            "which column is external_id? Say it with --column external_id=NAME; there are: id, "
            "date, amount, currency");
  EXPECT_EQ(lines_of(header, {.columns = {{"text", {"Zweck"}}}}),
            "there is no column \"Zweck\"; there are: external_id, date, amount, currency");
  EXPECT_EQ(lines_of(header + "a,2026-01-02,5,EUR\n\nb,2026-01-02,5\n", {}),
            "line 4: it has 3 columns, and the first line has 4");
  EXPECT_EQ(lines_of(header + "a,02.01.2026,5,EUR\n", {}),
            "line 2: date: \"02.01.2026\" is no day of the form YYYY-MM-DD");
  EXPECT_EQ(lines_of(header + "a,2026-01-02,5.001,EUR\n", {.decimals = 2}),
            "line 2: amount: \"5.001\" has more than 2 decimals");
  EXPECT_EQ(lines_of(header + "\"a,2026-01-02,5,EUR\n", {}), "line 2: a quote is not closed");

  std::map<std::string, std::vector<std::string>> columns;
  for (const char* const given : {"", "date", "date=", "day=Tag"}) {
    EXPECT_FALSE(add_column(columns, given)) << given;
  }
}

}  // namespace HK_TEST_FILE
}  // namespace hk::cli
