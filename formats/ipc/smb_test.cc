#include "formats/ipc/smb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <functional>

namespace ringscope::smb {
namespace {

constexpr size_t kPage = 4096;

/// Memory of a string, which may change while it is read.
class StringMemory : public Memory {
 public:
  explicit StringMemory(size_t pages) : bytes(pages * kPage, '\0'), size_(bytes.size()) {}
  size_t size() const override { return size_; }
  bool Read(size_t offset, std::span<uint8_t> into) const override {
    if (before_read) before_read(offset, into.size());
    if (offset + into.size() > bytes.size()) return false;
    std::memcpy(into.data(), bytes.data() + offset, into.size());
    return true;
  }

  void SetBitmap(size_t page, uint32_t layout, std::initializer_list<ChunkState> states) {
    uint32_t bits = layout << 28;
    int shift = 0;
    for (const ChunkState state : states) bits |= static_cast<uint32_t>(state) << shift, shift += 2;
    for (size_t i = 0; i < 4; ++i) bytes[page * kPage + i] = static_cast<char>(bits >> (8 * i));
  }
  void SetChunk(size_t offset, const ChunkHeader& header, const std::string& payload) {
    std::string chunk;
    AppendChunkHeader(chunk, header);
    chunk += payload;
    bytes.replace(offset, chunk.size(), chunk);
  }

  std::string bytes;
  std::function<void(size_t offset, size_t size)> before_read;

 private:
  size_t size_;
};

ChunkHeader Header(uint32_t chunk, uint16_t writer, uint16_t fragments) {
  return {ChunkId{chunk}, WriterId{writer}, fragments, 0};
}

struct ScanResult {
  std::vector<FoundChunk> found;
  std::string data;
  bool whole = false;
};
ScanResult ScanAll(const Pages& pages) {
  ScanResult result;
  result.whole = pages.Scan([](const FoundChunk&) { return true; }, result.found, result.data);
  return result;
}

TEST(Smb, ChunkSizes) {
  EXPECT_EQ(ChunkBytes(4096, 1), 4088u);
  EXPECT_EQ(ChunkBytes(4096, 2), 2044u);
  EXPECT_EQ(ChunkBytes(4096, 4), 1020u);
  EXPECT_EQ(ChunkBytes(4096, 7), 584u);
  EXPECT_EQ(ChunkBytes(4096, 14), 292u);
  EXPECT_EQ(ChunkBytes(32768, 1), 32760u);
}

TEST(Smb, Layouts) {
  const size_t expected[] = {0, 1, 2, 4, 7, 14, 0, 0};
  for (uint32_t layout = 0; layout < 8; ++layout)
    EXPECT_EQ(PageBitmap(layout << 28).chunks(), expected[layout]) << layout;
  EXPECT_EQ(PageBitmap(0x2000000Du).StateOf(0), ChunkState::kBeingWritten);
  EXPECT_EQ(PageBitmap(0x2000000Du).StateOf(1), ChunkState::kComplete);
}

TEST(Smb, Look_SeesStatesAndHolders) {
  StringMemory memory(3);
  memory.SetBitmap(1, 3,
                   {ChunkState::kComplete, ChunkState::kFree, ChunkState::kBeingWritten,
                    ChunkState::kBeingRead});
  memory.SetChunk(kPage + kPageHeaderBytes, Header(70000, 5, 2), "");
  memory.SetChunk(kPage + kPageHeaderBytes + 2 * 1020, Header(8, 6, 0), "");
  memory.SetBitmap(2, 7, {ChunkState::kComplete});  // a layout that does not exist
  const Pages pages(memory, kPage);
  MemoryPicture picture(pages.count());
  ASSERT_TRUE(pages.Look(picture));
  EXPECT_EQ(
      picture.Count(),
      (ChunkCounts{.free = 2, .being_written = 1, .being_read = 1, .complete = 1, .bad_pages = 1}));
  EXPECT_EQ(picture.pages()[1].holders[0], (ChunkHolder{WriterId{5}, ChunkId{70000}}));
  EXPECT_EQ(picture.pages()[1].holders[2], (ChunkHolder{WriterId{6}, ChunkId{8}}));
  memory.bytes.resize(2 * kPage);
  EXPECT_FALSE(pages.Look(picture));
}

TEST(Smb, PageSizes) {
  for (const uint64_t good : {4096u, 8192u, 32768u}) EXPECT_TRUE(IsPageSize(good));
  for (const uint64_t bad : {0u, 2048u, 4097u, 12288u, 65536u}) EXPECT_FALSE(IsPageSize(bad));
}

TEST(Smb, CompleteChunk_IsCopied) {
  StringMemory memory(2);
  memory.SetBitmap(1, 2, {ChunkState::kFree, ChunkState::kComplete});
  memory.SetChunk(kPage + 8 + 2044, Header(5, 9, 3), "payload");
  std::string out = "before";
  ASSERT_TRUE(Pages(memory, kPage).AppendComplete({1, 1}, out));
  ASSERT_EQ(out.size(), 6 + 2044u);
  EXPECT_EQ(ParseChunkHeader(wire::AsBytes(out).subspan(6)), Header(5, 9, 3));
  EXPECT_EQ(out.substr(6 + 8, 7), "payload");
}

TEST(Smb, ChunksThatAreNotThere_AreRefused) {
  StringMemory memory(1);
  memory.SetBitmap(0, 2, {ChunkState::kBeingWritten, ChunkState::kComplete});
  const Pages pages(memory, kPage);
  std::string out;
  for (const ChunkPlace place :
       {ChunkPlace{0, 0}, {0, 2}, {0, UINT64_MAX}, {1, 0}, {UINT64_MAX, 0}})
    EXPECT_FALSE(pages.AppendComplete(place, out)) << place.page << ":" << place.chunk;
  EXPECT_EQ(out, "");
  memory.SetBitmap(0, 6, {ChunkState::kComplete});
  EXPECT_FALSE(pages.AppendComplete({0, 0}, out));
}

TEST(Smb, Scan_FindsWhatIsWrittenOrComplete) {
  StringMemory memory(2);
  memory.SetBitmap(0, 3,
                   {ChunkState::kFree, ChunkState::kBeingWritten, ChunkState::kBeingRead,
                    ChunkState::kComplete});
  memory.SetChunk(8 + 1020, Header(1, 1, 4), "open");
  memory.SetChunk(8 + 3 * 1020, Header(2, 1, 5), "done");
  memory.SetBitmap(1, 1, {ChunkState::kBeingWritten});
  memory.SetChunk(kPage + 8, Header(0, 2, 2), "other");
  const ScanResult result = ScanAll(Pages(memory, kPage));
  EXPECT_TRUE(result.whole);
  ASSERT_EQ(result.found.size(), 3u);
  EXPECT_EQ(result.found[0].place, (ChunkPlace{0, 1}));
  EXPECT_FALSE(result.found[0].complete);
  EXPECT_TRUE(result.found[1].complete);
  EXPECT_EQ(result.found[2].header, Header(0, 2, 2));
  EXPECT_EQ(result.data.size(), 1020u + 1020 + 4088);
}

// The writer continues while the payload is copied: what goes into the copy's header is the count
// of before, so that each fragment it counts is whole.
TEST(Smb, Scan_KeepsTheCountFromBeforeThePayload) {
  StringMemory memory(1);
  memory.SetBitmap(0, 1, {ChunkState::kBeingWritten});
  memory.SetChunk(8, Header(1, 1, 3), "abc");
  memory.before_read = [&](size_t, size_t size) {
    if (size == 4088) memory.SetChunk(8, Header(1, 1, 8), "abcdefgh");
  };
  const ScanResult result = ScanAll(Pages(memory, kPage));
  ASSERT_EQ(result.found.size(), 1u);
  EXPECT_EQ(ParseChunkHeader(wire::AsBytes(result.data)), Header(1, 1, 3));
  EXPECT_EQ(result.data.substr(8, 8), "abcdefgh");
}

TEST(Smb, Scan_LeavesOutWhatBecameAnotherChunk) {
  StringMemory memory(1);
  memory.SetBitmap(0, 1, {ChunkState::kComplete});
  memory.SetChunk(8, Header(1, 1, 3), "abc");
  memory.before_read = [&](size_t, size_t size) {
    if (size != 4088) return;
    memory.SetBitmap(0, 1, {ChunkState::kBeingWritten});
    memory.SetChunk(8, Header(2, 1, 3), "xyz");
  };
  const ScanResult result = ScanAll(Pages(memory, kPage));
  EXPECT_TRUE(result.found.empty());
  EXPECT_EQ(result.data, "");
}

TEST(Smb, Scan_EndsWhereTheMemoryIsGone) {
  StringMemory memory(2);
  for (const size_t page : {size_t{0}, size_t{1}}) {
    memory.SetBitmap(page, 1, {ChunkState::kComplete});
    memory.SetChunk(page * kPage + 8, Header(1, 1, 1), "a");
  }
  memory.bytes.resize(kPage + 100);
  const ScanResult result = ScanAll(Pages(memory, kPage));
  EXPECT_FALSE(result.whole);
  EXPECT_EQ(result.found.size(), 1u);
  EXPECT_EQ(result.data.size(), 4088u);
}

TEST(Smb, ChunksIfFull_CountsOnlyWithoutAFreeChunk) {
  using enum ChunkState;
  StringMemory memory(3);
  const Pages pages(memory, kPage);
  memory.SetBitmap(0, 1, {kBeingWritten});
  memory.SetBitmap(1, 2, {kComplete, kBeingRead});
  EXPECT_EQ(pages.ChunksIfFull(), 0u) << "a page is not divided";
  memory.SetBitmap(2, 2, {kComplete, kFree});
  EXPECT_EQ(pages.ChunksIfFull(), 0u);
  memory.SetBitmap(2, 2, {kComplete, kComplete});
  EXPECT_EQ(pages.ChunksIfFull(), 5u);
  memory.bytes.resize(kPage);
  EXPECT_EQ(pages.ChunksIfFull(), 0u) << "the memory has shrunk";
}

}  // namespace
}  // namespace ringscope::smb
