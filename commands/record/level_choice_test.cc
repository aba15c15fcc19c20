#include "commands/record/level_choice.h"

#include <gtest/gtest.h>

namespace ringscope::record {
namespace {

using std::chrono::milliseconds;

constexpr size_t kCapacity = 1600;
constexpr size_t kSome = 200;  // neither full nor empty
constexpr size_t kMuch = 500;

void Compresses(LevelChoice& choice, size_t queued) {
  choice.OnWritten(milliseconds(9), milliseconds(1), queued, kCapacity);
}
void Writes(LevelChoice& choice, size_t queued) {
  choice.OnWritten(milliseconds(1), milliseconds(9), queued, kCapacity);
}

TEST(LevelChoice, QueueThatKeepsUp_HasTheLevelAskedFor) {
  LevelChoice choice(3);
  for (int i = 0; i < 10; ++i) Compresses(choice, kSome);
  EXPECT_EQ(choice.level(), 3);
}

TEST(LevelChoice, QueueThatFills_IsCompressedFasterAndFaster) {
  LevelChoice choice(3);
  Compresses(choice, kMuch);
  EXPECT_EQ(choice.level(), -10);
  Compresses(choice, kMuch);
  EXPECT_EQ(choice.level(), -50);
  for (int i = 0; i < 10; ++i) Compresses(choice, kMuch);
  EXPECT_EQ(choice.level(), -200);
}

TEST(LevelChoice, LevelStaysUntilTheQueueIsNearlyEmpty) {
  LevelChoice choice(1);
  Compresses(choice, kMuch);
  Compresses(choice, kMuch);
  for (int i = 0; i < 10; ++i) Compresses(choice, kSome);
  EXPECT_EQ(choice.level(), -50);
  Compresses(choice, 0);
  EXPECT_EQ(choice.level(), -10);
  Compresses(choice, 0);
  EXPECT_EQ(choice.level(), 1);
  Compresses(choice, 0);
  EXPECT_EQ(choice.level(), 1);
}

TEST(LevelChoice, SlowDisk_IsNotGivenLargerFrames) {
  LevelChoice choice(1);
  for (int i = 0; i < 10; ++i) Writes(choice, kCapacity);
  EXPECT_EQ(choice.level(), 1);
}

TEST(LevelChoice, DiskThatBecomesSlow_GetsSmallerFramesAgain) {
  LevelChoice choice(1);
  Compresses(choice, kMuch);
  Compresses(choice, kMuch);
  Writes(choice, kMuch);
  EXPECT_EQ(choice.level(), -10);
  Writes(choice, kMuch);
  EXPECT_EQ(choice.level(), 1);
}

TEST(LevelChoice, FasterLevelThanTheSteps_Stays) {
  LevelChoice choice(-100);
  Compresses(choice, kMuch);
  EXPECT_EQ(choice.level(), -100);
  Compresses(choice, kMuch);
  EXPECT_EQ(choice.level(), -100);
  Compresses(choice, kMuch);
  EXPECT_EQ(choice.level(), -200);
}

}  // namespace
}  // namespace ringscope::record
