#include "commands/record/producer_memory.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "commands/testing/ipc_peer.h"

namespace ringscope {
namespace {

using smb::ChunkState;
using testing::OneChunk;
using testing::TestMemory;

constexpr WriterId kWriter{1};
const std::map<WriterId, BufferId> kWriters = {{kWriter, BufferId{4}}};

class ProducerMemoryTest : public ::testing::Test {
 protected:
  void Put(size_t page, ChunkState state, ChunkHeader header) {
    std::string bytes;
    AppendChunkHeader(bytes, header);
    std::memcpy(shared_.chunk(page), bytes.data(), bytes.size());
    shared_.bitmap(page).store(OneChunk(state));
  }
  ChunkHeader Header(uint32_t chunk, uint16_t fragments = 5) const {
    return {ChunkId{chunk}, kWriter, fragments, 0};
  }
  std::vector<smb::FoundChunk> Scrape(ProducerMemory::Scrape which = ProducerMemory::Scrape::kAll) {
    std::string data;
    return memory_.ScrapeChunks(kWriters, which, data);
  }
  bool Take(uint64_t page) {
    std::string data;
    return memory_.TakeCommitted({page, 0}, data) && data.size() == TestMemory::kChunkBytes;
  }

  TestMemory shared_{4 * TestMemory::kPage, /*sealed=*/true};
  ProducerMemory memory_{SharedMemory::Open(UniqueFd(::dup(shared_.fd()))).value(),
                         TestMemory::kPage};
};

TEST_F(ProducerMemoryTest, Scrape_TakesWhatTheServiceWould) {
  Put(0, ChunkState::kBeingWritten, Header(1));
  Put(1, ChunkState::kComplete, Header(0, 1));
  Put(2, ChunkState::kBeingWritten, Header(2, 1));  // its only fragment is not whole
  Put(3, ChunkState::kBeingWritten, {ChunkId{0}, WriterId{2}, 5, 0});  // not registered
  const std::vector<smb::FoundChunk> chunks = Scrape();
  ASSERT_EQ(chunks.size(), 2u);
  EXPECT_EQ(chunks[0].header, Header(1));
  EXPECT_FALSE(chunks[0].complete);
  EXPECT_TRUE(chunks[1].complete);
  EXPECT_EQ(chunks[1].offset, TestMemory::kChunkBytes);
}

TEST_F(ProducerMemoryTest, CommittedChunk_IsTheServicesOnce) {
  Put(0, ChunkState::kComplete, Header(1));
  EXPECT_EQ(Scrape().size(), 1u);
  EXPECT_TRUE(Take(0));
  EXPECT_EQ(Scrape().size(), 0u);  // the service has not freed it yet
  EXPECT_FALSE(Take(0));
  Put(0, ChunkState::kComplete, Header(2));
  EXPECT_EQ(Scrape().size(), 1u);
  EXPECT_TRUE(Take(0));
}

TEST_F(ProducerMemoryTest, NewWriterOfAnOldId_CountsFromTheStartAgain) {
  Put(0, ChunkState::kComplete, Header(0));
  EXPECT_TRUE(Take(0));
  memory_.OnNewWriter(kWriter);
  Put(0, ChunkState::kComplete, Header(0));
  EXPECT_EQ(Scrape().size(), 1u);
  EXPECT_TRUE(Take(0));
}

TEST_F(ProducerMemoryTest, ChangedOnly_LeavesOutWhatTheScrapeBeforeHad) {
  Put(0, ChunkState::kBeingWritten, Header(1, 5));
  Put(1, ChunkState::kBeingWritten, Header(2, 5));
  EXPECT_EQ(Scrape(ProducerMemory::Scrape::kChanged).size(), 2u);
  EXPECT_EQ(Scrape(ProducerMemory::Scrape::kChanged).size(), 0u);
  Put(1, ChunkState::kBeingWritten, Header(2, 6));
  EXPECT_EQ(Scrape(ProducerMemory::Scrape::kChanged).size(), 1u);
  EXPECT_EQ(Scrape(ProducerMemory::Scrape::kAll).size(), 2u);
}

TEST_F(ProducerMemoryTest, CommitReader_PutsChunksBehindTheirNames) {
  Put(2, ChunkState::kComplete, Header(9));
  std::string request;
  wire::AppendBytes(request, 50, wire::AsBytes("a newer field"));
  CommitRequestBuilder builder(request);
  builder.AddChunk({.page = 2, .index = 0, .target_buffer = 4, .data = {}, .incomplete = false});
  builder.AddChunk({.page = 3, .index = 0, .target_buffer = 4, .data = {}, .incomplete = false});
  const uint8_t patch[4] = {1, 2, 3, 4};
  builder.AddPatch({.target_buffer = 4,
                    .writer = 1,
                    .chunk = 9,
                    .patches = {{.offset = 8, .data = patch}},
                    .more = true});
  builder.SetFlushRequestId(77);
  CommitReader reader;
  ASSERT_TRUE(reader.Read(wire::AsBytes(request), &memory_));
  EXPECT_EQ(reader.origin(), Origin::kShm);
  EXPECT_THAT(std::string(wire::AsText(reader.for_log())), ::testing::HasSubstr("a newer field"));
  CommitRequestParser parser;
  ASSERT_TRUE(parser.Parse(reader.for_log()));
  ASSERT_EQ(parser.chunks().size(), 2u);
  EXPECT_EQ(parser.chunks()[0].page, 2u);
  EXPECT_EQ(ParseChunkHeader(*parser.chunks()[0].data), Header(9));
  EXPECT_EQ(parser.chunks()[0].data->size(), TestMemory::kChunkBytes);
  EXPECT_FALSE(parser.chunks()[1].data);  // the service skips it too
  EXPECT_EQ(parser.patches().size(), 1u);
  EXPECT_FALSE(parser.flush_request_id());
  ASSERT_TRUE(parser.Parse(wire::AsBytes(reader.without_flush())));
  EXPECT_EQ(parser.chunks().size(), 2u);
  EXPECT_FALSE(parser.flush_request_id());
}

/// A request whose one chunk carries this many bytes itself.
std::string RequestWithData(size_t size) {
  const std::string data(size, 'x');
  std::string request;
  CommitRequestBuilder(request).AddChunk(
      {.page = 0, .index = 0, .target_buffer = 1, .data = wire::AsBytes(data), .incomplete = true});
  return request;
}

TEST(CommitReader, DataThatTheServiceDoesNotSurvive_IsRefused) {
  for (const size_t size : {0u, 7u, 65536u, 70000u}) {
    const std::string request = RequestWithData(size);
    CommitReader reader;
    EXPECT_FALSE(reader.Read(wire::AsBytes(request), nullptr)) << size;
  }
  for (const size_t size : {8u, 65535u}) {
    const std::string request = RequestWithData(size);
    CommitReader reader;
    EXPECT_TRUE(reader.Read(wire::AsBytes(request), nullptr)) << size;
    EXPECT_EQ(reader.origin(), Origin::kInline);
    EXPECT_TRUE(std::ranges::equal(reader.for_log(), wire::AsBytes(request)));
  }
}

// Whoever shrinks the memory under us gets short reads, and no signal.
TEST(SharedMemory, Shrunk_IsReadAsFarAsItGoes) {
  TestMemory shared(4 * TestMemory::kPage, /*sealed=*/false);
  const auto memory = SharedMemory::Open(UniqueFd(::dup(shared.fd()))).value();
  EXPECT_FALSE(memory->is_mapped());
  std::vector<uint8_t> page(TestMemory::kPage);
  EXPECT_TRUE(memory->Read(3 * TestMemory::kPage, page));
  ASSERT_EQ(::ftruncate(shared.fd(), TestMemory::kPage), 0);
  EXPECT_FALSE(memory->Read(3 * TestMemory::kPage, page));
  EXPECT_TRUE(memory->Read(0, page));
  EXPECT_FALSE(memory->Read(SIZE_MAX, page));
}

TEST(SharedMemory, SealedAgainstShrinking_IsMapped) {
  TestMemory shared(4 * TestMemory::kPage, /*sealed=*/true);
  const auto memory = SharedMemory::Open(UniqueFd(::dup(shared.fd()))).value();
  EXPECT_TRUE(memory->is_mapped());
  shared.data()[5] = 42;
  std::vector<uint8_t> bytes(1);
  EXPECT_TRUE(memory->Read(5, bytes));
  EXPECT_EQ(bytes[0], 42);
  EXPECT_FALSE(memory->Read(4 * TestMemory::kPage, bytes));
}

TEST(SharedMemory, WhatIsNoMemory_IsRefused) {
  EXPECT_FALSE(SharedMemory::Open(UniqueFd(::open("/dev/null", O_RDONLY))));
  EXPECT_FALSE(SharedMemory::Open(std::move(testing::MakeSocketPair().first)));
  const UniqueFd huge(::memfd_create("huge", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(huge.get(), off_t{1} << 40), 0);
  EXPECT_FALSE(SharedMemory::Open(huge));
}

}  // namespace
}  // namespace ringscope
