#include <gtest/gtest.h>

#include <string>

#include "core/gaps/gap_finder.h"

namespace ringscope::gaps {
namespace {

PacketAccount At(uint64_t chunk, uint32_t fragment, uint64_t written, uint64_t decided) {
  PacketAccount account;
  account.first_chunk = account.last_chunk = chunk;
  account.fragment = fragment;
  account.first_offset = fragment * 10;
  account.written.record = written;
  account.decided.record = decided;
  account.fate = written == decided ? Fate::kWriterDropped : Fate::kOverwritten;
  return account;
}

/// "L0-3 R4-5 L6": kinds and chunks of the runs.
std::string Runs(const GapTrack& track) {
  std::string text;
  for (const GapTrack::Run& run : track.runs()) {
    if (!text.empty()) text += ' ';
    text += run.kind == GapTrack::Kind::kLost ? 'L' : run.kind == GapTrack::Kind::kRead ? 'R' : 'P';
    text += std::to_string(run.first.chunk);
    if (run.last.chunk != run.first.chunk) text += "-" + std::to_string(run.last.chunk);
  }
  return text;
}

void AddRead(GapTrack& track, uint64_t chunk, uint32_t detail = GapTrack::kNoDetail) {
  track.AddKept(At(chunk, 0, 1, 2), GapTrack::Kind::kRead, detail);
}
void AddLost(GapTrack& track, uint64_t chunk, uint32_t fragment = 0) {
  track.AddLost(At(chunk, fragment, 1, 2));
}
void Join(GapTrack& track) {
  track.Join([](uint32_t, uint32_t) {});
}

TEST(GapTrack, LostBetweenReads_IsARun) {
  GapTrack track;
  AddRead(track, 0);
  AddRead(track, 1);
  AddRead(track, 5);  // what was evicted before is reported later
  AddLost(track, 2);
  AddLost(track, 3);
  AddLost(track, 4);
  Join(track);
  EXPECT_EQ(Runs(track), "R0-1 L2-4 R5");
}

TEST(GapTrack, LostWithinReads_SplitsThem) {
  GapTrack track;
  AddRead(track, 0);
  AddRead(track, 1);
  AddLost(track, 0, 3);
  EXPECT_EQ(Runs(track), "R0 L0 R0-1");
}

TEST(GapTrack, SealedWhenWritten_DoNotSwallowWhatIsReadLater) {
  GapTrack track;
  track.AddLost(At(3, 1, 7, 7));
  track.AddLost(At(9, 1, 8, 8));
  AddRead(track, 4);
  AddRead(track, 5);
  Join(track);
  EXPECT_EQ(Runs(track), "L3 R4-5 L9");
}

TEST(GapTrack, RunsWithNothingBetween_AreJoined) {
  GapTrack track;
  track.AddLost(At(3, 1, 7, 7)).detail = 0;
  track.AddLost(At(9, 1, 8, 8)).detail = 1;
  uint32_t into = 9, from = 9;
  track.Join([&](uint32_t detail, uint32_t other) { into = detail, from = other; });
  EXPECT_EQ(Runs(track), "L3-9");
  EXPECT_EQ(into, 0u);
  EXPECT_EQ(from, 1u);
}

TEST(GapTrack, Flagged_StartsARun) {
  GapTrack track;
  AddRead(track, 0);
  AddRead(track, 1, 7);
  AddRead(track, 2);
  EXPECT_EQ(Runs(track), "R0 R1-2");
  EXPECT_EQ(track.runs()[1].detail, 7u);
}

}  // namespace
}  // namespace ringscope::gaps
