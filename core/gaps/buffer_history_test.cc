#include <gtest/gtest.h>

#include "core/gaps/gap_finder.h"

namespace ringscope::gaps {
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

TEST(BufferHistory, Discard_TakesSpaceOnce) {
  BufferHistory history;
  history.AddDiscard(1, Name(kOne, 0), 4096);
  history.AddDiscard(2, Name(kOne, 0), 1000);  // scraped before
  history.AddCommit(3, Name(kTwo, 0), 100);
  EXPECT_EQ(history.bytes(), 4196u);
}

TEST(BufferHistory, OldChunks_AreForgotten) {
  BufferHistory history;
  for (uint32_t i = 0; i < 12000; ++i) {
    history.AddCommit(i, Name(kOne, i), 16);
    history.AddErase();
  }
  const uint32_t oldest = 12000 - (BufferHistory::kLateness + 2 + 64);
  EXPECT_EQ(history.Find(Name(kOne, oldest - 1)), nullptr);
  EXPECT_EQ(history.Find(Name(kOne, oldest))->start, oldest * 16);
}

}  // namespace
}  // namespace ringscope::gaps
