#include "formats/log/zstd_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "core/base/wire.h"
#include "formats/testing/frames.h"

namespace ringscope {
namespace {

using namespace std::string_literals;
using testing::DataFrame;
using ::testing::ElementsAre;
using testing::SkippableFrame;

/// Frames of this test begin with "own".
bool IsOwn(const ZstdFrame& frame) { return wire::AsText(frame.content).starts_with("own"); }

/// What a reader finds: "own a" for a frame's content, "bad 10+5" for a range.
std::vector<std::string> ReadWith(unsigned threads, const std::string& input) {
  ZstdFrameReader reader(MakeMemorySource(input), {.content = 1000, .skippable = 100}, IsOwn);
  if (threads > 0) reader.DecompressAhead(threads);
  std::vector<std::string> found;
  for (;;) {
    auto item = reader.Next();
    EXPECT_TRUE(item);
    if (!item || !*item) break;
    if (const auto* frame = std::get_if<ZstdFrame>(&**item)) {
      found.emplace_back(wire::AsText(frame->content));
    } else {
      const auto& bad = std::get<BadRange>(**item);
      found.push_back("bad " + std::to_string(bad.offset) + "+" + std::to_string(bad.bytes));
    }
  }
  EXPECT_EQ(reader.position(), input.size());
  return found;
}

std::vector<std::string> Read(const std::string& input) {
  std::vector<std::string> found = ReadWith(0, input);
  for (const unsigned threads : {1, 3}) EXPECT_EQ(ReadWith(threads, input), found) << threads;
  return found;
}

std::string Bad(size_t offset, size_t bytes) {
  return "bad " + std::to_string(offset) + "+" + std::to_string(bytes);
}

TEST(ZstdFrames, Intact_AreSplit) {
  EXPECT_THAT(Read(SkippableFrame("own 0") + DataFrame("own 1") + DataFrame("2")),
              ElementsAre("own 0", "own 1", "2"));
  EXPECT_THAT(Read(""), ElementsAre());
}

TEST(ZstdFrames, BadChecksum_CostsTheFrame) {
  std::string bad = DataFrame("own 1");
  bad.back() = static_cast<char>(bad.back() ^ 1);
  EXPECT_THAT(Read(bad + DataFrame("2")), ElementsAre(Bad(0, bad.size()), "2"));
}

TEST(ZstdFrames, BadChecksum_BeforeGarbageIsTheSameRange) {
  std::string bad = DataFrame("own 1");
  bad.back() = static_cast<char>(bad.back() ^ 1);
  EXPECT_THAT(Read(bad + "garbage" + DataFrame("own 2")),
              ElementsAre(Bad(0, bad.size() + 7), "own 2"));
}

TEST(ZstdFrames, SearchAfterDamage_PassesFramesOfOthers) {
  const std::string others = "x" + DataFrame("not mine") + "y" + SkippableFrame("nor this") + "z";
  EXPECT_THAT(Read(others + DataFrame("own 1")), ElementsAre(Bad(0, others.size()), "own 1"));
}

TEST(ZstdFrames, SkippableOfOthers_CountsOnlyBeforeAFrame) {
  EXPECT_THAT(Read(SkippableFrame("other") + DataFrame("own 1")), ElementsAre("other", "own 1"));
  std::string wrong_size = SkippableFrame("other");
  wrong_size[4] = 9;
  EXPECT_THAT(Read(wrong_size + DataFrame("own 1") + DataFrame("own 2")),
              ElementsAre(Bad(0, wrong_size.size()), "own 1", "own 2"));
}

TEST(ZstdFrames, TooLarge_IsBad) {
  const std::string large = DataFrame(std::string(1001, 'x'));
  EXPECT_THAT(Read(large + DataFrame("own 1")), ElementsAre(Bad(0, large.size()), "own 1"));
}

TEST(ZstdFrames, Torn_AnywhereIsBadToTheEnd) {
  const std::string first = DataFrame("own 1");
  const std::string second = DataFrame("own 2");
  for (size_t cut = 1; cut < second.size(); ++cut) {
    EXPECT_THAT(Read(first + second.substr(0, cut)), ElementsAre("own 1", Bad(first.size(), cut)));
  }
}

TEST(ZstdFrames, Hostile_SearchEnds) {
  // Beginnings of frames, each of which leads through blocks of the ones after it, and whose
  // content decompresses, but to something with a wrong checksum.
  std::string start = "\x28\xb5\x2f\xfd\xa4\x00\x00\x00\x04"s;          // 64 MiB of content
  for (int block = 0; block < 511; ++block) start += "\x02\x00\x10x"s;  // 128 KiB of x
  start += "\x03\x00\x10x\1\2\3\4"s;
  std::string input = "x";
  for (int i = 0; i < 200; ++i) input += start + "-";
  ZstdFrameReader reader(MakeMemorySource(input), {.content = size_t{64} << 20, .skippable = 100},
                         IsOwn);
  size_t ranges = 0;
  for (;;) {
    auto item = reader.Next();
    ASSERT_TRUE(item);
    if (!*item) break;
    ++ranges;
  }
  EXPECT_EQ(ranges, 1u);
}

TEST(ZstdFrames, DamagedAnywhere_GivesTheSameInAnyNumberOfThreads) {
  std::mt19937 random(1);
  std::string intact;
  for (int i = 0; i < 30; ++i) {
    intact += DataFrame("own " + std::to_string(i) + std::string(random() % 900, 'x'));
    if (i % 7 == 3) intact += SkippableFrame("own");
  }
  ASSERT_EQ(Read(intact).size(), 34u);
  for (int i = 0; i < 300; ++i) {
    std::string damaged = intact;
    for (size_t n = random() % 4; n > 0; --n)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    if (i % 3 == 0) damaged.erase(random() % damaged.size(), random() % 100);
    if (i % 5 == 0) damaged.resize(random() % damaged.size());
    Read(damaged);
  }
}

/// Frames as large as what may be ahead come one by one.
TEST(ZstdFrames, LargeOnes_AreNotAhead) {
  std::vector<std::string> contents;
  std::string input;
  for (const size_t size : {FrameDecompressor::kAheadBytes, size_t{10}, size_t{10},
                            FrameDecompressor::kAheadBytes + 1, size_t{10}}) {
    contents.push_back("own " + std::string(size, static_cast<char>('a' + contents.size())));
    input += DataFrame(contents.back());
  }
  ZstdFrameReader reader(MakeMemorySource(input), {.content = size_t{8} << 20, .skippable = 100},
                         IsOwn);
  reader.DecompressAhead(2);
  for (const std::string& content : contents) {
    const auto item = reader.Next();
    ASSERT_TRUE(item && *item);
    EXPECT_TRUE(wire::AsText(std::get<ZstdFrame>(**item).content) == content);
  }
  EXPECT_FALSE(*reader.Next());
}

}  // namespace
}  // namespace ringscope
