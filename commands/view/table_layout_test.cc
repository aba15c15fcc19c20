#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/view/table.h"

namespace ringscope {
namespace {

TEST(TableLayout, WhatFits_IsAligned) {
  Table table({{"name"}, {"n", Align::kRight}});
  table.AddRow({"a", "1"});
  table.AddRow({"long", "1,000"});
  EXPECT_EQ(table.Text(2, 13),
            "  name      n\n"
            "  a         1\n"
            "  long  1,000\n");
}

TEST(TableLayout, TitlesAreBrokenFirst) {
  Table table({{"sequence"}, {"packets lost", Align::kRight}, {"what"}});
  table.AddRow({"1:1", "12", "two words"});
  EXPECT_EQ(table.Text(0, 28),
            "          packets\n"
            "sequence     lost  what\n"
            "1:1            12  two words\n");
}

TEST(TableLayout, ThenTheWidestText) {
  Table table({{"id", Align::kRight}, {"flags"}, {"text"}});
  table.AddRow({"7", "missing beginning, overwritten", "some words that do not fit at all"});
  EXPECT_EQ(table.Text(0, 40),
            "id  flags              text\n"
            " 7  missing            some words that\n"
            "    beginning,         do not fit at all\n"
            "    overwritten\n");
}

TEST(TableLayout, ColumnsThatAreTooMany_FollowBelowWithTheRowsNames) {
  Table table({{""},
               {"size", Align::kRight},
               {"first", Align::kRight},
               DataColumn("hidden"),
               {"second", Align::kRight}});
  table.AddRow({"*", "1 KiB", "11", "", "21"});
  table.AddRow({"", "2 KiB", "12", "", "22"});
  EXPECT_EQ(table.Text(0, 18),
            "    size  first\n"
            "*  1 KiB     11\n"
            "   2 KiB     12\n"
            "\n"
            "    size  second\n"
            "*  1 KiB      21\n"
            "   2 KiB      22\n");
}

TEST(TableLayout, NumbersAndLongWords_AreNeverBroken) {
  Table table({{"n", Align::kRight}, {"word"}});
  table.AddRow({"1,234,567 of 2,345,678", "aVeryLongWordWithoutAnyPlaceToBreakIt"});
  EXPECT_EQ(table.Text(0, 20),
            "                     n\n"
            "1,234,567 of 2,345,678\n"
            "\n"
            "                     n  word\n"
            "1,234,567 of 2,345,678  aVeryLongWordWithoutAnyPlaceToBreakIt\n");
}

TEST(TableLayout, WithoutTitlesOrRows) {
  EXPECT_EQ(Table(std::vector<Column>{}).Text(0, 20), "");
  Table table({{"", Align::kLeft}});
  EXPECT_EQ(table.Text(0, 20), "");
  table.AddRow({"a"});
  EXPECT_EQ(table.Text(0, 20), "a\n");
}

}  // namespace
}  // namespace ringscope
