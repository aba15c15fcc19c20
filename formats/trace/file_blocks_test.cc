#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "core/base/wire.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

constexpr size_t kBlock = FileBlocks::kBlockBytes;

std::string RandomBytes(size_t size) {
  std::mt19937 random(1);
  std::string bytes(size, '\0');
  for (char& byte : bytes) byte = static_cast<char>(random());
  return bytes;
}

TEST(FileBlocks, SlicesAreThoseOfTheFile) {
  const std::string bytes = RandomBytes(5 * kBlock + 100);
  const auto file = MakeMemorySource(bytes);
  // One block is kept, then some, then all.
  for (const size_t memory : {size_t{0}, 2 * kBlock, 100 * kBlock}) {
    FileBlocks blocks(*file, memory);
    std::mt19937 random(2);
    for (int i = 0; i < 2000; ++i) {
      const size_t offset = random() % bytes.size();
      const size_t most = i % 100 == 0 ? 3 * kBlock : 500;
      const size_t size = std::min(random() % most, bytes.size() - offset);
      const auto slice = blocks.Read(offset, size);
      ASSERT_TRUE(slice) << slice.error().ToString();
      ASSERT_TRUE(wire::AsText(*slice) == std::string_view(bytes).substr(offset, size))
          << memory << ' ' << offset << ' ' << size;
    }
  }
}

TEST(FileBlocks, BeyondTheEnd_IsAnError) {
  const auto file = MakeMemorySource(RandomBytes(kBlock + 10));
  FileBlocks blocks(*file, kBlock);
  EXPECT_TRUE(blocks.Read(kBlock, 10));
  for (const auto& [offset, size] : {std::pair(kBlock, size_t{11}),
                                     {kBlock - 5, size_t{16}},
                                     {size_t{1}, 2 * kBlock},
                                     {9 * kBlock, size_t{1}}}) {
    const auto slice = blocks.Read(offset, size);
    ASSERT_FALSE(slice) << offset;
    EXPECT_THAT(slice.error().ToString(), ::testing::HasSubstr("shorter"));
  }
}

}  // namespace
}  // namespace ringscope
