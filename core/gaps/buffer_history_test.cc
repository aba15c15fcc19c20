#include "core/gaps/buffer_history.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr SequenceKey kOne{ProducerId{1}, WriterId{1}};
constexpr SequenceKey kTwo{ProducerId{1}, WriterId{2}};

ChunkName Name(SequenceKey sequence, uint32_t chunk) { return {sequence, ChunkId{chunk}}; }

TEST(BufferHistory, Places_AreCountedOn) {
  BufferHistory history;
  history.AddCommit(1, Name(kOne, 0), 100);
  history.AddCommit(2, Name(kTwo, 0), 50);
  EXPECT_EQ(history.Find(Name(kTwo, 0))->start, 100u);
  EXPECT_EQ(history.Find(Name(kTwo, 0))->end(), 150u);
  EXPECT_EQ(history.Find(Name(kTwo, 0))->number, 1u);
  EXPECT_EQ(history.bytes(), 150u);
  EXPECT_EQ(history.largest(), 100u);
  EXPECT_EQ(history.Find(Name(kTwo, 1)), nullptr);
}

TEST(BufferHistory, Read_IsTheFirstFromARecordOn) {
  BufferHistory history;
  history.AddCommit(1, Name(kOne, 0), 100);
  history.AddRead(2);
  history.AddRead(3);  // nothing was committed in between: the same answer
  history.AddCommit(4, Name(kOne, 1), 100);
  EXPECT_EQ(history.BytesAtReadFrom(1), 100u);
  EXPECT_EQ(history.BytesAtReadFrom(3), 100u);
  EXPECT_FALSE(history.BytesAtReadFrom(4));
  history.AddRead(5);
  EXPECT_EQ(history.BytesAtReadFrom(4), 200u);
}

TEST(BufferHistory, Discard_TakesSpaceOnceAndPushesNothing) {
  BufferHistory history;
  history.AddDiscard(1, Name(kOne, 0), 4096);
  history.AddDiscard(2, Name(kOne, 0), 1000);  // scraped before
  history.AddCommit(3, Name(kTwo, 0), 100);
  EXPECT_EQ(history.bytes(), 4196u);
  EXPECT_EQ(history.BytesBetween(0, 2).size(), 1u);
}

// Windows that advance give the same as counting from scratch, forwards, backwards and over what
// was forgotten.
TEST(BufferHistory, Window_MovesOn) {
  BufferHistory history;
  constexpr uint64_t kChunks = 12000;
  for (uint64_t i = 0; i < kChunks; ++i) {
    history.AddCommit(i, Name(i % 3 == 0 ? kOne : kTwo, static_cast<uint32_t>(i)), 16);
    history.AddErase();
  }
  EXPECT_EQ(history.Find(Name(kOne, 0)), nullptr);
  const uint64_t oldest = kChunks - (BufferHistory::kLateness + 2 + 64);
  for (const uint64_t first : {oldest + 7, oldest + 900, oldest + 300, oldest + 5000}) {
    for (const uint64_t length : {uint64_t{10}, uint64_t{900}, uint64_t{300}}) {
      uint64_t one = 0, two = 0;
      for (uint64_t i = first; i < first + length; ++i) (i % 3 == 0 ? one : two) += 16;
      const auto& bytes = history.BytesBetween(first, first + length);
      EXPECT_EQ(bytes.at(kOne), one);
      EXPECT_EQ(bytes.at(kTwo), two);
    }
  }
  // What is forgotten in the middle of a window leaves it.
  history.BytesBetween(oldest, kChunks);
  history.AddCommit(kChunks, Name(kOne, 99999), 16);
  uint64_t all = 0;
  for (const auto& [sequence, bytes] : history.BytesBetween(0, kChunks + 1)) all += bytes;
  EXPECT_EQ(all, (kChunks - oldest) * 16);
}

}  // namespace
}  // namespace ringscope
