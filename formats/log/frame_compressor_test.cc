#include <gtest/gtest.h>
#include <zstd.h>

#include <random>
#include <string>
#include <vector>

#include "formats/log/commit_log_writer.h"
#include "formats/testing/no_threads.h"

namespace ringscope {
namespace {

/// What 20 frames become with this many threads.
std::vector<std::string> CompressedFrames(unsigned threads) {
  FrameCompressor compressor(/*level=*/3, threads);
  std::vector<std::string> frames;
  const auto take = [&](bool all) {
    while (true) {
      auto job = compressor.Take(all);
      ASSERT_TRUE(job);
      if (*job == nullptr) return;
      frames.push_back((*job)->compressed);
      compressor.Recycle(std::move(*job));
    }
  };
  for (char c = 'a'; c < 'a' + 20; ++c) {
    std::unique_ptr<FrameJob> job = compressor.NewJob();
    job->content.assign(10'000, c);
    job->compressed.clear();
    compressor.Add(std::move(job));
    take(/*all=*/false);
  }
  take(/*all=*/true);
  return frames;
}

// Where the system starts none of the threads, or not all.
TEST(FrameCompressor, WithoutThreads_SameFrames) {
  const std::vector<std::string> expected = CompressedFrames(0);
  EXPECT_EQ(expected.size(), 20u);
  EXPECT_EQ(CompressedFrames(3), expected);
  for (const unsigned first : {0u, 1u}) {
    const testing::NoThreads no_more_threads(first);
    EXPECT_EQ(CompressedFrames(3), expected) << first;
  }
}

TEST(FrameCompressor, Pause_IsAfterEachPiece) {
  std::mt19937 random(1);
  std::string content(200'000, 'a');
  for (char& c : content) c = static_cast<char>('a' + random() % 16);
  int pauses = 0;
  FrameCompressor compressor(kDefaultLevel, /*threads=*/0, [&pauses] { ++pauses; });
  for (int frame = 1; frame <= 2; ++frame) {
    std::unique_ptr<FrameJob> job = compressor.NewJob();
    job->content = content;
    compressor.Add(std::move(job));
    job = compressor.Take(/*all=*/true).value();
    EXPECT_EQ(pauses, 4 * frame);
    std::string restored(content.size(), '\0');
    ASSERT_EQ(ZSTD_getFrameContentSize(job->compressed.data(), job->entry.compressed_size),
              content.size());
    EXPECT_EQ(ZSTD_decompress(restored.data(), restored.size(), job->compressed.data(),
                              job->entry.compressed_size),
              content.size());
    EXPECT_EQ(restored, content);
    compressor.Recycle(std::move(job));
  }
}

}  // namespace
}  // namespace ringscope
