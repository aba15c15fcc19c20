// "Nothing was lost" is printed only where the log proves it: over all conformance cases, in which
// writers break every rule there is.

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/commit_request.h"
#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// What of a replay shows a loss, without the code under test.
struct LossSigns : ReplayListener {
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) override {
    auto& [ids, unwrapper] = chunks[{buffer, commit.sequence.Packed()}];
    const uint64_t number = unwrapper.Of(commit.chunk);
    unwrapper.AddNumber(number);
    ids.insert(number);
  }
  Status OnPacket(const SessionPacket& packet) override {
    flagged |= packet.packet->dropped != 0;
    return {};
  }
  bool WantsBufferEvents() const override { return true; }
  void OnDrainEvent(const BufferEvent& event) override {
    // A chunk that its writer still had at the end is no stall, if nothing after it waits.
    const auto* stall = event.As<BufferEvent::Stalled>();
    stalled |= stall != nullptr && stall->reason != StallReason::kIncomplete;
  }
  bool LacksChunks() const {
    for (const auto& [key, sequence] : chunks) {
      const std::set<uint64_t>& ids = sequence.first;
      if (*ids.rbegin() - *ids.begin() + 1 != ids.size()) return true;
    }
    return false;
  }

  std::map<std::pair<BufferId, uint32_t>, std::pair<std::set<uint64_t>, ChunkIdUnwrapper>> chunks;
  bool flagged = false;
  bool stalled = false;
};

LossSigns SignsOf(const std::string& path) {
  LossSigns signs;
  Replay replay({}, signs);
  auto log = OpenLog(path).value();
  while (const std::optional<Op> op = log->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(replay.Drain());
  return signs;
}

TEST(GapsProof, NothingWasLostIsPrintedOnlyWhereItIsProven) {
  int cases = 0, proven = 0;
  for (const std::string& name : testing::ListTestdata("conformance/cases", ".zst")) {
    SCOPED_TRACE(name);
    ++cases;
    const std::string path = testing::TestdataPath(name);
    const Ran gaps = RunCommand(GapsCommand(), {path});
    const bool claims = gaps.out.find("Nothing was lost") != std::string::npos;
    // Where nothing was lost, the session may still have a warning: gaps ends as doctor does.
    EXPECT_EQ(gaps.code, claims ? RunCommand(DoctorCommand(), {path}).code : ExitCode::kNotice);
    if (!claims) continue;
    ++proven;
    EXPECT_EQ(RunCommand(StatsCommand(), {"--data-loss", path}).code, ExitCode::kClean);
    const LossSigns signs = SignsOf(path);
    EXPECT_FALSE(signs.LacksChunks());
    EXPECT_FALSE(signs.flagged);
    EXPECT_FALSE(signs.stalled);
  }
  EXPECT_EQ(cases, 379);
  EXPECT_GT(proven, 0);
}

}  // namespace
}  // namespace ringscope
