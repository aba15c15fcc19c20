// The defects of docs/findings.md, on the streams that show them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/engine/catalogue.h"
#include "core/fuzz/plain_stream.h"
#include "core/perfetto/data_loss.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// The chunks of the packets that a stream's reads return, and their loss bits.
std::vector<std::pair<uint32_t, uint32_t>> ReadsOf(const std::string& name, const char* engine) {
  PlainStream stream;
  const auto log = OpenLog(testing::TestdataPath("findings/" + name).string()).value();
  while (const auto op = log->Next().value()) AddOp(*op, stream);
  const auto buffer =
      FindEngine(engine).value()->create({.size = stream.size, .policy = stream.policy}).value();
  std::vector<std::pair<uint32_t, uint32_t>> packets;
  for (const auto& step : stream.steps) {
    step->With([&](const StreamStep& view) {
      if (view.kind == StreamStep::Kind::kCommit) buffer->Commit(view.commit);
      if (view.kind != StreamStep::Kind::kRead) return;
      buffer->BeginRead();
      while (const Packet* packet = buffer->NextPacket())
        packets.emplace_back(Raw(packet->place.first_chunk), packet->dropped);
    });
  }
  return packets;
}

// [ c0 ] gap [ c2 ][ c3: a-> ][ c4: ->a ][ c5 ]
TEST(Findings, PacketAfterGap) {
  using ::testing::ElementsAre;
  using ::testing::Pair;
  constexpr uint32_t kBits = kLossPresent | kLossOrphanContinuation | kLossReassemblyGap;
  for (const char* engine : {"v2@54", "v2@55", "v2@56"})
    EXPECT_THAT(ReadsOf("packet-after-gap.ops.jsonl", engine),
                ElementsAre(Pair(0u, 0u), Pair(2u, 0u), Pair(5u, 1u)));
  for (const char* engine : {"v2@57", "v2@58"})
    EXPECT_THAT(ReadsOf("packet-after-gap.ops.jsonl", engine),
                ElementsAre(Pair(0u, 0u), Pair(2u, 0u), Pair(5u, kBits)));
  EXPECT_THAT(ReadsOf("packet-after-gap.ops.jsonl", "v1"), ElementsAre(Pair(0u, 1u)));
}

}  // namespace
}  // namespace ringscope
