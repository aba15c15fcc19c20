#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "commands/view/table.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// Columns that own their cells.
class LayoutTable {
 public:
  void Add(std::string title, Align align, std::vector<std::string> cells) {
    texts_.push_back(std::make_unique<std::vector<std::string>>(std::move(cells)));
    TextColumn& column = columns_.emplace_back(TextColumn{std::move(title), align, {}});
    for (const std::string& cell : *texts_.back()) column.cells.push_back(&cell);
  }
  std::vector<TextBlock> Lines(size_t width, size_t indent = 0) const {
    return LayOutTable(columns_, indent, width);
  }

 private:
  std::vector<std::unique_ptr<std::vector<std::string>>> texts_;
  std::vector<TextColumn> columns_;
};

TEST(TableLayout, WhatFits_IsAligned) {
  LayoutTable table;
  table.Add("name", Align::kLeft, {"a", "long"});
  table.Add("n", Align::kRight, {"1", "1,000"});
  const auto blocks = table.Lines(13, 2);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0].titles, ElementsAre("  name      n"));
  EXPECT_THAT(blocks[0].rows, ElementsAre("  a         1", "  long  1,000"));
}

TEST(TableLayout, TitlesAreBrokenFirst) {
  LayoutTable table;
  table.Add("sequence", Align::kLeft, {"1:1"});
  table.Add("packets lost", Align::kRight, {"12"});
  table.Add("what", Align::kLeft, {"two words"});
  const auto blocks = table.Lines(28);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0].titles, ElementsAre("          packets", "sequence     lost  what"));
  EXPECT_THAT(blocks[0].rows, ElementsAre("1:1            12  two words"));
}

TEST(TableLayout, ThenTheWidestText) {
  LayoutTable table;
  table.Add("id", Align::kRight, {"7"});
  table.Add("flags", Align::kLeft, {"missing beginning, overwritten"});
  table.Add("text", Align::kLeft, {"some words that do not fit at all"});
  const auto blocks = table.Lines(40);
  ASSERT_THAT(blocks, SizeIs(1));
  EXPECT_THAT(blocks[0].rows,
              ElementsAre(" 7  missing            some words that",
                          "    beginning,         do not fit at all", "    overwritten"));
}

TEST(TableLayout, ColumnsThatAreTooMany_FollowBelowWithTheRowsNames) {
  LayoutTable table;
  table.Add("", Align::kLeft, {"*", ""});
  table.Add("size", Align::kRight, {"1 KiB", "2 KiB"});
  table.Add("first", Align::kRight, {"11", "12"});
  table.Add("second", Align::kRight, {"21", "22"});
  const auto blocks = table.Lines(18);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_THAT(blocks[0].titles, ElementsAre("    size  first"));
  EXPECT_THAT(blocks[0].rows, ElementsAre("*  1 KiB     11", "   2 KiB     12"));
  EXPECT_THAT(blocks[1].titles, ElementsAre("    size  second"));
  EXPECT_THAT(blocks[1].rows, ElementsAre("*  1 KiB      21", "   2 KiB      22"));
}

TEST(TableLayout, NumbersAndLongWords_AreNeverBroken) {
  LayoutTable table;
  table.Add("n", Align::kRight, {"1,234,567 of 2,345,678"});
  table.Add("word", Align::kLeft, {"aVeryLongWordWithoutAnyPlaceToBreakIt"});
  const auto blocks = table.Lines(20);
  ASSERT_THAT(blocks, SizeIs(2));
  EXPECT_THAT(blocks[0].rows, ElementsAre("1,234,567 of 2,345,678"));
}

TEST(TableLayout, WithoutTitlesOrRows) {
  LayoutTable table;
  EXPECT_THAT(table.Lines(20), IsEmpty());
  table.Add("", Align::kLeft, {"a"});
  EXPECT_THAT(table.Lines(20)[0].titles, IsEmpty());
}

}  // namespace
}  // namespace ringscope
