#include "core/perfetto/memory_picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/wire.h"

namespace ringscope::smb {
namespace {

constexpr uint32_t kOneChunk = 1u << PageBitmap::kLayoutShift;
constexpr uint32_t kBeingWritten = kOneChunk | static_cast<uint32_t>(ChunkState::kBeingWritten);
constexpr uint32_t kComplete = kOneChunk | static_cast<uint32_t>(ChunkState::kComplete);

ChunkHolder Holder(uint16_t writer, uint32_t chunk) { return {WriterId{writer}, ChunkId{chunk}}; }

std::string Changes(const MemoryPicture& before, const MemoryPicture& now) {
  std::string changes;
  AppendChanges(before, now, changes);
  return changes;
}

void ExpectRoundTrip(const MemoryPicture& before, const MemoryPicture& now) {
  MemoryPicture read = before;
  ASSERT_TRUE(ApplyChanges(wire::AsBytes(Changes(before, now)), read));
  EXPECT_EQ(read, now);
}

/// A page as a look would have it: holders only where a writer has a chunk or returned it.
void SetRandomPage(std::mt19937& random, size_t page, MemoryPicture& picture) {
  const auto any = [&] { return static_cast<uint32_t>(random()); };
  // Mostly what is usual, else any bits.
  const uint32_t usual[] = {0, kBeingWritten, kComplete, kComplete, 0x50000000u | any() >> 4};
  picture.SetBits(page, any() % 8 == 0 ? any() : usual[any() % 5]);
  const PageBitmap bitmap = picture.pages()[page].bitmap();
  for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk) {
    if (!bitmap.HasHeader(chunk)) continue;
    picture.SetHolder(page, chunk,
                      any() % 4 == 0 ? Holder(static_cast<uint16_t>(any()), any())
                                     : Holder(static_cast<uint16_t>(any() % 3), any() % 10));
  }
}

TEST(PictureCodec, NothingChanged_IsNothing) {
  MemoryPicture picture(4);
  picture.SetBits(2, kComplete);
  picture.SetHolder(2, 0, Holder(1, 5));
  EXPECT_EQ(Changes(picture, picture), "");
}

TEST(PictureCodec, UsualChanges_TakeFewBytes) {
  MemoryPicture before(64);
  before.SetBits(10, kBeingWritten);
  before.SetHolder(10, 0, Holder(1, 5));
  MemoryPicture now = before;
  now.SetBits(10, kComplete);  // the same chunk, returned by its writer
  now.SetHolder(10, 0, Holder(1, 5));
  now.SetBits(11, kBeingWritten);
  now.SetHolder(11, 0, Holder(1, 6));
  // 10 pages, a run of one, its bitmap, the holder it had; then another, with writer 1, chunk 6.
  EXPECT_EQ(Changes(before, now), std::string("\x0a\x01\x31\x00\x00\x01\x11\x02\x0c", 9));
  ExpectRoundTrip(before, now);
}

TEST(PictureCodec, PagesWithTheSameBitmap_AreOneRun) {
  const MemoryPicture before(64);
  MemoryPicture now = before;
  for (size_t page = 0; page < 64; ++page) {
    now.SetBits(page, kComplete);
    now.SetHolder(page, 0, Holder(7, 1000 + static_cast<uint32_t>(page)));
  }
  EXPECT_EQ(Changes(before, now).size(), 3u + 64 * 2 + 1);  // the first chunk id takes two bytes
  ExpectRoundTrip(before, now);
}

TEST(PictureCodec, ChunkIdsThatWrapAround) {
  const MemoryPicture before(2);
  MemoryPicture now = before;
  now.SetBits(0, kComplete);
  now.SetHolder(0, 0, Holder(1, UINT32_MAX));
  now.SetBits(1, kComplete);
  now.SetHolder(1, 0, Holder(1, 0));
  ExpectRoundTrip(before, now);
}

TEST(PictureCodec, AnyPictures_AreRestored) {
  std::mt19937 random(1);
  for (int i = 0; i < 500; ++i) {
    MemoryPicture before(1 + random() % 40);
    for (size_t page = 0; page < before.pages().size(); ++page) SetRandomPage(random, page, before);
    MemoryPicture now = before;
    for (size_t page = 0; page < before.pages().size(); ++page)
      if (random() % 3 == 0) SetRandomPage(random, page, now);
    ExpectRoundTrip(before, now);
    ExpectRoundTrip(MemoryPicture(before.pages().size()), now);
  }
}

// Whatever the bytes are, the picture keeps its pages, and what is no change is an error.
TEST(PictureCodec, AnyBytes_AreChangesOrAnError) {
  std::mt19937 random(2);
  int accepted = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string bytes(random() % 24, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 2 == 0 ? random() % 8 : random());
    MemoryPicture picture(random() % 5);
    const MemoryPicture before = picture;
    const size_t pages = picture.pages().size();
    if (!ApplyChanges(wire::AsBytes(bytes), picture)) continue;
    ++accepted;
    EXPECT_EQ(picture.pages().size(), pages);
    ExpectRoundTrip(before, picture);
  }
  EXPECT_GT(accepted, 100);
}

TEST(PictureCodec, RunsBeyondTheMemory_AreErrors) {
  const auto apply = [](std::string_view bytes) {
    MemoryPicture picture(4);
    return ApplyChanges(wire::AsBytes(bytes), picture).has_value();
  };
  EXPECT_TRUE(apply(std::string("\x03\x01\x00", 3)));
  EXPECT_FALSE(apply(std::string("\x04\x01\x00", 3)));
  EXPECT_FALSE(apply(std::string("\x00\x05\x00", 3)));
  EXPECT_FALSE(apply(std::string("\x00\x00\x00", 3)));  // an empty run
  EXPECT_FALSE(apply(std::string("\x00\x01", 2)));
  EXPECT_FALSE(apply(std::string("\x00\x01\x31\x00", 4)));  // the holder that it had: it had none
  EXPECT_FALSE(apply(std::string("\x00\x01\x31\x02", 4)));  // a writer, and no chunk
}

TEST(MemoryPicture, Counts) {
  MemoryPicture picture(4);
  // Page 0 is not divided; page 1 has four chunks, one of each state; page 2 makes no sense.
  picture.SetBits(1, 3u << PageBitmap::kLayoutShift | 0b11'10'01'00);
  picture.SetBits(2, 7u << PageBitmap::kLayoutShift);
  picture.SetBits(3, kBeingWritten);
  const ChunkCounts counts = picture.Count();
  EXPECT_EQ(
      counts,
      (ChunkCounts{.free = 2, .being_written = 2, .being_read = 1, .complete = 1, .bad_pages = 1}));
  EXPECT_EQ(counts.used(), 4u);
  EXPECT_EQ(counts.all(), 6u);
}

}  // namespace
}  // namespace ringscope::smb
