#include "formats/log/zstd_frames.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/wire.h"
#include "formats/testing/frames.h"

namespace ringscope::testing {
namespace {

using namespace std::string_literals;
using ::testing::ElementsAre;

/// Frames of this test begin with "own".
bool IsOwn(const ZstdFrame& frame) { return wire::AsText(frame.content).starts_with("own"); }

/// What a reader finds: "own a" for a frame's content, "bad 10+5" for a range.
std::vector<std::string> Read(const std::string& input) {
  ZstdFrameReader reader(MakeMemorySource(input), {.content = 1000, .skippable = 100}, IsOwn);
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

}  // namespace
}  // namespace ringscope::testing
