#include "cli/text/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::cli {
namespace {

using testing::ElementsAre;

const std::vector<table_row> rows{{{.text = "NAME"}, {.text = "STATE"}},
                                  {{.text = "\xc3\xa9"}, {.text = "active", .colour = tint::good}},
                                  {{.text = "longer"}, {.text = ""}}};

TEST(Terminal, ColumnsAreAsWideAsTheirWidestCellInCharacters) {
  EXPECT_THAT(table_lines(rows, false),
              ElementsAre("NAME    STATE", "\xc3\xa9       active", "longer"));
}

TEST(Terminal, ColoursAreWhereTheyAreWantedOnly) {
  const auto lines = table_lines(rows, true);
  EXPECT_EQ(lines[0], "\x1b[1mNAME\x1b[0m    \x1b[1mSTATE\x1b[0m");
  EXPECT_EQ(lines[1], "\xc3\xa9       \x1b[32mactive\x1b[0m");
  for (const std::string& line : table_lines(rows, false)) {
    EXPECT_EQ(line.find('\x1b'), std::string::npos);
  }
}

TEST(Terminal, ALineIsCutAtTheEdgeSoThatItTakesOneRow) {
  EXPECT_THAT(table_lines(rows, false, 10),
              ElementsAre("NAME    ST", "\xc3\xa9       ac", "longer"));
  EXPECT_EQ(table_lines(rows, true, 10)[1], "\xc3\xa9       \x1b[32mac\x1b[0m");
  EXPECT_THAT(table_lines(rows, false, 3), ElementsAre("NAM", "\xc3\xa9", "lon"));
}

}  // namespace
}  // namespace tenure::cli
