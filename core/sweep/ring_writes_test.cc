#include <gtest/gtest.h>

#include "core/perfetto/chunk.h"
#include "core/sweep/sweep.h"

namespace ringscope {
namespace {

constexpr SequenceKey kFirst{ProducerId{1}, WriterId{1}}, kSecond{ProducerId{1}, WriterId{2}};

// [ 3 KiB ][ 3 KiB ][ read ][ 3 KiB ][ 3 KiB ]: the third does not fit after the first two in 8
// KiB.
TEST(RingWrites, HoldWhatIsBetweenReads) {
  RingWrites writes(0);
  for (const uint64_t chunk : {0, 1, 2, 3}) {
    if (chunk == 2) writes.AddRead(chunk * 3072);
    writes.AddPackets(kFirst, chunk, chunk * 3072);
  }
  writes.SetBytes(4 * 3072);
  EXPECT_EQ(writes.SizeToHoldAll(), 2 * kPageBytes);
}

TEST(RingWrites, HoldAllWithoutReads) {
  RingWrites writes(0);
  writes.AddPackets(kFirst, 1, 0);
  writes.AddPackets(kFirst, 2, 3072);
  writes.SetBytes(9000);
  EXPECT_EQ(writes.SizeToHoldAll(), 3 * kPageBytes);
}

// The second sequence wrote last before the moment to keep, but long ago.
TEST(RingWrites, KeepTheNewestChunkBeforeAMoment) {
  RingWrites writes(/*keep_from_ns=*/50);
  writes.AddPackets(kFirst, 10, 0);
  writes.AddPackets(kSecond, 20, 4096);
  writes.AddPackets(kFirst, 40, 8192);
  writes.AddPackets(kFirst, 60, 12288);
  writes.SetBytes(16384);
  EXPECT_EQ(writes.SizeToKeep(), 3 * kPageBytes);
}

// [ 5 KiB ][ 2 KiB ][ 6 KiB ]: the last does not fit after the others, neither in 8 KiB nor in 12.
TEST(RingWrites, CountSpaceThatIsLeftUnused) {
  RingWrites writes(/*keep_from_ns=*/1);
  writes.AddPackets(kFirst, 0, 0);
  writes.AddPackets(kFirst, 1, 5 << 10);
  writes.AddPackets(kFirst, 2, 7 << 10);
  writes.SetBytes(13 << 10);
  EXPECT_EQ(writes.SizeToKeep(), 4 * kPageBytes);
}

}  // namespace
}  // namespace ringscope
