#include "core/reads/refill.h"

#include <gtest/gtest.h>

namespace ringscope {
namespace {

constexpr ProducerId kProducer{1};
constexpr WriterId kWriter{1};
constexpr BufferId kRing{1};
constexpr BufferId kDiscarding{2};
constexpr uint32_t kPayload = 1008;  // 1,024 bytes in a buffer
constexpr uint64_t kChunks = 4;      // that fill it

/// A log that begins with part 3, and repeats that a ring buffer and one that discards are there.
class RefillWatchTest : public ::testing::Test {
 protected:
  RefillWatchTest() {
    Add(LogHeader{.part = 3, .first_part = 3, .repeated_records = 2});
    Add(BufferSetUp{.id = kRing, .size = kChunks * 1024});
    Add(BufferSetUp{.id = kDiscarding, .size = kChunks * 1024, .policy = FillPolicy::kDiscard});
  }
  uint64_t Add(OpBody body) {
    watch_.Add({.time_ns = 1000 + number_, .body = std::move(body)}, number_);
    return number_++;
  }
  uint64_t Commit(uint32_t chunk, BufferId buffer = kRing, WriterId writer = kWriter,
                  std::optional<uint64_t> page = std::nullopt) {
    std::string data;
    AppendChunkHeader(data, {ChunkId{chunk}, writer, 1, 0});
    data.append(kPayload, 'p');
    ChunkToMove entry;
    entry.page = page;
    entry.target_buffer = Raw(buffer);
    entry.data = wire::AsBytes(data);
    std::string request;
    CommitRequestBuilder(request).AddChunk(entry);
    ringscope::Commit commit;
    commit.producer = kProducer;
    commit.origin = Origin::kInline;
    commit.request = wire::AsBytes(request);
    return Add(commit);
  }
  const Refill& ring() const { return watch_.buffers().at(0); }
  const Refill& discarding() const { return watch_.buffers().at(1); }

  RefillWatch watch_;
  uint64_t number_ = 0;
};

TEST_F(RefillWatchTest, Ring_OnceChunksOfItsSizeAreCommitted) {
  for (uint32_t chunk = 7; chunk < 7 + kChunks; ++chunk) Commit(chunk);
  EXPECT_FALSE(ring().known());  // the first may be a re-commit
  const uint64_t last = Commit(7 + kChunks);
  EXPECT_EQ(ring().record, last);
  EXPECT_EQ(ring().time_ns, 1000 + last);
  Commit(8 + kChunks);
  EXPECT_EQ(ring().record, last);
}

TEST_F(RefillWatchTest, ChunksThatAreCommittedAgain_CountOnce) {
  for (int i = 0; i < 20; ++i) Commit(7);
  for (int i = 0; i < 20; ++i) Commit(8);
  EXPECT_EQ(ring().bytes, 1024u);
  EXPECT_FALSE(ring().known());
}

TEST_F(RefillWatchTest, WriterWhoseIdIsGivenOutAgain_Counts) {
  for (int i = 0; i < 10; ++i) {
    Commit(0);
    Commit(1);
    Add(WriterUnregistered{kProducer, kWriter});
  }
  EXPECT_TRUE(ring().known());
}

TEST_F(RefillWatchTest, ChunksThatTheServiceRefuses_DoNotCount) {
  Add(ProducerConnected{.producer = kProducer});
  Add(WriterRegistered{kProducer, kWriter, kDiscarding});
  for (uint32_t chunk = 0; chunk < 20; ++chunk) Commit(chunk);
  EXPECT_EQ(ring().bytes, 0u);
}

TEST_F(RefillWatchTest, ChunksThatAnyReleaseRefuses_DoNotCount) {
  Add(SharedMemorySetUp{kProducer, 4096, 4096});
  for (uint32_t chunk = 0; chunk < 20; ++chunk) Commit(chunk, kRing, kWriter, /*page=*/1);
  EXPECT_EQ(ring().bytes, 0u);
}

TEST_F(RefillWatchTest, BufferThatDiscards_IsNotKnownUntilItIsEmptied) {
  for (uint32_t chunk = 0; chunk < 20; ++chunk) Commit(chunk, kDiscarding);
  EXPECT_FALSE(discarding().known());
  const uint64_t cleared = Add(BufferCleared{kDiscarding});
  EXPECT_EQ(discarding().record, cleared);
  EXPECT_TRUE(discarding().was_emptied);
}

TEST_F(RefillWatchTest, CloneThatTakesTheBuffer_EmptiesIt) {
  Add(BufferCloned{.clone = 1, .buffer = kRing, .transfer = false});
  EXPECT_FALSE(ring().known());
  const uint64_t taken = Add(BufferCloned{.clone = 2, .buffer = kRing, .transfer = true});
  EXPECT_EQ(ring().record, taken);
}

TEST_F(RefillWatchTest, LaterBuffers_AreExactFromTheirStart) {
  Add(BufferFreed{kRing});
  Add(BufferSetUp{.id = kRing, .size = 4096});
  for (uint32_t chunk = 0; chunk < 20; ++chunk) Commit(chunk);
  EXPECT_EQ(watch_.buffers().size(), 2u);
  EXPECT_FALSE(ring().known());
}

TEST(RefillWatch, WholeRecording_HasNothingToWaitFor) {
  RefillWatch watch;
  watch.Add({.time_ns = {}, .body = LogHeader{}}, 0);
  watch.Add({.time_ns = {}, .body = BufferSetUp{.id = kRing, .size = 4096}}, 1);
  watch.Add({.time_ns = {}, .body = LogHeader{.part = 1, .repeated_records = 1}}, 2);
  watch.Add({.time_ns = {}, .body = BufferSetUp{.id = kRing, .size = 4096}}, 3);
  EXPECT_FALSE(watch.start_is_missing());
  EXPECT_TRUE(watch.buffers().empty());
}

}  // namespace
}  // namespace ringscope
