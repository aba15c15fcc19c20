// What the buffers returned and what they lost is together what was written: over all
// captures, at several sizes.

#include "core/ledger/lost_packets.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// A packet's writer and a hash of its bytes; sorted lists of these are compared.
using Contents = std::vector<std::tuple<uint32_t, size_t>>;

std::tuple<uint32_t, size_t> ContentOf(SequenceKey sequence, std::span<const Bytes> slices) {
  std::string bytes;
  for (const Bytes slice : slices) bytes += wire::AsText(slice);
  return {sequence.Packed(), std::hash<std::string>()(bytes)};
}

class ReadContents : public ReplayListener {
 public:
  Status OnPacket(const SessionPacket& packet) override {
    contents.push_back(ContentOf(packet.packet->sequence, packet.packet->slices));
    return {};
  }
  Contents contents;
};

struct LostOutcome {
  Contents read;
  Contents lost;
  uint64_t unwritable = 0;
};

LostOutcome ReplayCapture(const std::string& path, const std::string& engine,
                          std::optional<uint64_t> size) {
  LostOutcome outcome;
  LostPackets lost([&](const LostPacket& packet) {
    outcome.lost.push_back(ContentOf(packet.account.sequence, packet.slices));
  });
  Ledger ledger(lost);
  ReadContents read;
  ReplayOptions options;
  options.session.all = {.engine = engine, .size = size, .policy = {}};
  Replay replay(options, {&read, &ledger, &lost});
  auto log = OpenLog(path).value();
  while (const std::optional<Op> op = log->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(replay.Drain());
  outcome.read = std::move(read.contents);
  for (const FateCount& count : lost.unwritable()) outcome.unwritable += count.packets;
  return outcome;
}

class LostOverCaptures : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, LostOverCaptures, ::testing::Values("v1", "v2@54", "v2@58"),
                         testing::NameOfParam<const char*>);

TEST_P(LostOverCaptures, ReadAndLost_AreWhatWasWritten) {
  for (const std::string& path : testing::ListTestdata("captures", "session.ops.jsonl.zst")) {
    const std::string log = testing::TestdataPath(path).string();
    Contents written = ReplayCapture(log, GetParam(), uint64_t{64} << 20).read;
    std::sort(written.begin(), written.end());
    ASSERT_FALSE(written.empty());
    for (const std::optional<uint64_t> size :
         {std::optional<uint64_t>(), std::optional<uint64_t>(32 << 10),
          std::optional<uint64_t>(1 << 20)}) {
      SCOPED_TRACE(fmt::format("{} at {}", path, size.value_or(0)));
      LostOutcome outcome = ReplayCapture(log, GetParam(), size);
      EXPECT_EQ(outcome.unwritable, 0u);
      Contents together = std::move(outcome.read);
      together.insert(together.end(), outcome.lost.begin(), outcome.lost.end());
      std::sort(together.begin(), together.end());
      EXPECT_EQ(together.size(), written.size());
      EXPECT_TRUE(together == written);
    }
  }
}

}  // namespace
}  // namespace ringscope
