#include "core/smb/use_chart.h"

#include <gtest/gtest.h>

#include "core/testing/smb_dsl.h"

namespace ringscope::smb {
namespace {

constexpr ProducerId kOne{1};

/// A session of 100 ns in four parts, and a memory of four pages.
class UseChartTest : public ::testing::Test {
 protected:
  void Look(uint64_t time_ns, std::string_view states) {
    charts_.Add({time_ns, drawer_.Draw(states)});
  }
  const UseInterval& Part(size_t i) const { return charts_.charts().at(kOne).intervals()[i]; }

  testing::LookDrawer drawer_{kOne, 4};
  UseCharts charts_{1000, 1100, 4};
};

TEST_F(UseChartTest, MeansByTime) {
  charts_.Add({1000, drawer_.SetUp()});
  Look(1010, "w...");
  Look(1020, "wcc.");
  Look(1050, "wccc");
  Look(1060, "....");
  charts_.Finish();
  EXPECT_DOUBLE_EQ(Part(0).ns, 15);  // nothing is known before the first look
  EXPECT_DOUBLE_EQ(Part(0).being_written, 15);
  EXPECT_DOUBLE_EQ(Part(0).held_back, 10);
  EXPECT_DOUBLE_EQ(Part(0).free, 3 * 10 + 5);
  EXPECT_FALSE(Part(0).full);
  EXPECT_DOUBLE_EQ(Part(1).Mean(&UseInterval::held_back), 2);
  EXPECT_FALSE(Part(1).full);
  EXPECT_TRUE(Part(2).full);
  EXPECT_DOUBLE_EQ(Part(2).held_back, 30);
  EXPECT_DOUBLE_EQ(Part(3).Mean(&UseInterval::free), 4);
  EXPECT_EQ(charts_.charts().at(kOne).chunks(), 4u);
}

// Complete chunks wait for the service from their commit on, not from the look after it.
TEST_F(UseChartTest, CommitsBetweenLooks) {
  charts_.Add({1000, drawer_.SetUp()});
  Look(1000, "ccw.");
  std::string request;
  CommitRequestBuilder builder(request);
  for (const uint64_t page : {0, 2, 3})  // 2 and 3: completed after the look
    builder.AddChunk({.page = page, .index = 0, .target_buffer = 1, .data = {}});
  Commit commit;
  commit.producer = kOne;
  commit.origin = Origin::kShm;
  commit.request = wire::AsBytes(request);
  charts_.Add({1025, commit});
  Look(1050, "....");
  charts_.Finish();
  EXPECT_DOUBLE_EQ(Part(0).Mean(&UseInterval::held_back), 2);
  EXPECT_DOUBLE_EQ(Part(1).Mean(&UseInterval::held_back), 1);
  EXPECT_DOUBLE_EQ(Part(1).Mean(&UseInterval::waiting), 1);
  EXPECT_DOUBLE_EQ(Part(1).Mean(&UseInterval::being_written), 1);
  EXPECT_DOUBLE_EQ(Part(2).Mean(&UseInterval::free), 4);
  EXPECT_EQ(charts_.charts().at(kOne).most_used(), 3u);
}

TEST_F(UseChartTest, WhatIsNotSeen_IsNotFilled) {
  charts_.Add({1000, drawer_.SetUp()});
  Look(1000, "cccc");
  drawer_.Draw("....");  // is missing in the log
  Look(1030, "w...");    // needs it
  charts_.Add({1040, ProducerDisconnected{kOne}});
  charts_.Finish();
  EXPECT_DOUBLE_EQ(Part(0).Mean(&UseInterval::held_back), 4);
  EXPECT_DOUBLE_EQ(Part(1).ns, 5);  // until the look that cannot be read
  EXPECT_DOUBLE_EQ(Part(2).ns, 0);
}

TEST_F(UseChartTest, TimesOutsideTheAxis) {
  charts_.Add({1000, drawer_.SetUp()});
  Look(10, "wwww");
  Look(1090, "w...");
  Look(2000, "wwww");
  charts_.Finish();
  EXPECT_DOUBLE_EQ(Part(0).being_written, 100);
  EXPECT_DOUBLE_EQ(Part(3).being_written, 4 * 15 + 10);
  EXPECT_TRUE(Part(3).full);
}

}  // namespace
}  // namespace ringscope::smb
