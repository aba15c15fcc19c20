// The defects of docs/findings.md, on the streams that show them.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/compare/stream_notation.h"
#include "core/engine/catalogue.h"
#include "core/perfetto/data_loss.h"
#include "core/testing/loss_faults.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/plain_stream.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::IsSupersetOf;

PlainStream StreamOf(const std::string& name) {
  PlainStream stream;
  const auto log =
      OpenLog(testing::TestdataPath("findings/" + name + ".ops.jsonl").string()).value();
  while (const auto op = log->Next().value()) AddOp(*op, stream);
  return stream;
}

/// Of the packets that a stream's reads return: the chunk, the packet's bytes where `with_size`,
/// and the loss bits: "2 none", "2 read_gap", "| " between the passes.
std::vector<std::string> ReadsOf(const std::string& name, const char* engine,
                                 bool with_size = false) {
  const PlainStream stream = StreamOf(name);
  const auto buffer =
      FindEngine(engine).value()->create({.size = stream.size, .policy = stream.policy}).value();
  std::vector<std::string> packets;
  for (const auto& step : stream.steps) {
    step->With([&](const StreamStep& view) {
      if (view.kind == StreamStep::Kind::kCommit) buffer->Commit(view.commit);
      if (view.kind != StreamStep::Kind::kRead) return;
      buffer->BeginRead();
      for (uint64_t n = 0; n < view.max_packets; ++n) {
        const Packet* const packet = buffer->NextPacket();
        if (packet == nullptr) break;
        packets.push_back(fmt::format("{}{} {}", Raw(packet->place.first_chunk),
                                      with_size ? fmt::format(": {} bytes,", packet->size) : "",
                                      LossBitsToString(packet->dropped)));
      }
    });
  }
  return packets;
}

/// The faults that the accounts show: "silent_loss never_committed".
std::vector<std::string> FaultsOf(const std::string& name, const char* engine) {
  return testing::FaultsOf(SideOf(*FindEngine(engine).value()).info, ToOps(StreamOf(name)));
}

constexpr const char* kV2[] = {"v2@54", "v2@55", "v2@56", "v2@57", "v2@58"};
/// Up to v56 a packet is flagged or not; from v57 on it has the cause.
std::string Sign(std::string_view engine, const char* cause) {
  return engine < "v2@57" ? "present" : cause;
}

// [ c0 ] gap [ c2 ][ c3: a-> ][ c4: ->a ][ c5 ]
TEST(Findings, PacketAfterGap) {
  for (const char* engine : kV2) {
    EXPECT_THAT(
        ReadsOf("packet-after-gap", engine),
        ElementsAre("0 none", "2 none", "5 " + Sign(engine, "orphan_continuation+reassembly_gap")));
    EXPECT_THAT(FaultsOf("packet-after-gap", engine),
                IsSupersetOf({"lost_whole read_gap", "silent_loss never_committed"}));
  }
  EXPECT_THAT(ReadsOf("packet-after-gap", "v1"), ElementsAre("0 present"));
}

// [ c0 ] read; gap; [ c2: scraped ], completed
TEST(Findings, GapHiddenByRelocation) {
  for (const char* engine : {"v2@54", "v2@55", "v2@56", "v2@57"}) {
    EXPECT_THAT(ReadsOf("gap-hidden-by-relocation", engine),
                ElementsAre("0 none", "2 " + Sign(engine, "read_gap")));
    EXPECT_THAT(FaultsOf("gap-hidden-by-relocation", engine), IsEmpty());
  }
  EXPECT_THAT(ReadsOf("gap-hidden-by-relocation", "v2@58"), ElementsAre("0 none", "2 none"));
  EXPECT_THAT(FaultsOf("gap-hidden-by-relocation", "v2@58"),
              ElementsAre("silent_loss never_committed"));
}

// [ c0 ] read; [ c2: scraped ], completed; [ c1 ]
TEST(Findings, LateChunkAfterRelocation) {
  for (const char* engine : {"v2@54", "v2@55", "v2@56", "v2@57"})
    EXPECT_THAT(ReadsOf("late-chunk-after-relocation", engine),
                ElementsAre("0 none", "1 none", "2 none"));
  EXPECT_THAT(ReadsOf("late-chunk-after-relocation", "v2@58"), ElementsAre("0 none", "2 none"));
  EXPECT_THAT(FaultsOf("late-chunk-after-relocation", "v2@58"),
              ElementsAre("silent_loss already_consumed"));
  EXPECT_THAT(ReadsOf("late-chunk-after-relocation", "v1"),
              ElementsAre("0 present", "1 none", "2 none"));
}

// [ c0 ] read; gap; [ c2: b, c ] read after b, and again
TEST(Findings, GapFlaggedTwice) {
  for (const char* engine : kV2) {
    const std::string flagged = "2 " + Sign(engine, "read_gap");
    EXPECT_THAT(ReadsOf("gap-flagged-twice", engine), ElementsAre("0 none", flagged, flagged));
    EXPECT_THAT(FaultsOf("gap-flagged-twice", engine),
                ElementsAre("false_sign " + Sign(engine, "read_gap")));
  }
}

// [ c0 ] read; [ c1 ][ c2: aborted ][ c3 ]
TEST(Findings, AbortFlaggedEarly) {
  for (const char* engine : kV2) {
    EXPECT_THAT(ReadsOf("abort-flagged-early", engine),
                ElementsAre("0 none", "1 " + Sign(engine, "writer_abort"), "3 none"));
    EXPECT_THAT(FaultsOf("abort-flagged-early", engine),
                ElementsAre("false_sign " + Sign(engine, "writer_abort")));
  }
  EXPECT_THAT(ReadsOf("abort-flagged-early", "v1"),
              ElementsAre("0 present", "1 none", "3 present"));
}

// [ c1 ] read; [ c0 ][ c2 ]
TEST(Findings, LateFirstChunk) {
  for (const char* engine : kV2) {
    EXPECT_THAT(ReadsOf("late-first-chunk", engine), ElementsAre("1 none", "2 none"));
    EXPECT_THAT(FaultsOf("late-first-chunk", engine), ElementsAre("silent_loss already_consumed"));
  }
  EXPECT_THAT(ReadsOf("late-first-chunk", "v1"), ElementsAre("1 present", "0 present", "2 none"));
}

// [ c0 ] gap [ c2: c-> ] read; [ c1 ][ c3: ->c ]
TEST(Findings, LateChunkFlagged) {
  for (const char* engine : kV2) {
    EXPECT_THAT(ReadsOf("late-chunk-flagged", engine),
                ElementsAre("0 none", "1 " + Sign(engine, "read_gap"), "2 none"));
    EXPECT_THAT(FaultsOf("late-chunk-flagged", engine),
                ElementsAre("false_sign " + Sign(engine, "read_gap")));
  }
}

// [ c1: ->p, q-> ] read; [ c0: p-> ][ c2: ->q ]
TEST(Findings, JoinedPackets) {
  EXPECT_THAT(ReadsOf("joined-packets", "v1", /*with_size=*/true),
              ElementsAre("0: 16 bytes, present"));
  for (const char* engine : kV2)
    EXPECT_THAT(ReadsOf("joined-packets", engine, /*with_size=*/true),
                ::testing::Not(Contains("0: 16 bytes, present")));
}

// [ c0 ] overwritten by [ c1: empty, b-> ] read; [ c2: ->b ]
TEST(Findings, EmptyPacketTakesTheSign) {
  EXPECT_THAT(ReadsOf("empty-packet-takes-the-sign", "v1"), ElementsAre("1 none"));
  EXPECT_THAT(FaultsOf("empty-packet-takes-the-sign", "v1"), ElementsAre("silent_loss evicted"));
  for (const char* engine : kV2)
    EXPECT_THAT(ReadsOf("empty-packet-takes-the-sign", engine),
                ElementsAre("1 " + Sign(engine, "overwrite")));
}

// The page says each stream in the notation of 'ringscope try'.
TEST(Findings, ArePrintedOnThePage) {
  std::set<std::string> lines;
  const std::string page = testing::ReadTestdata("../docs/findings.md");
  constexpr std::string_view kCommand = "`ringscope try '";
  for (size_t at = 0; (at = page.find(kCommand, at)) != std::string::npos;) {
    at += kCommand.size();
    const auto example = ParseExample(page.substr(at, page.find('\'', at) - at)).value();
    lines.insert(InNotation(ToOps(example, 4096, FillPolicy::kRingBuffer)).value());
  }
  size_t streams = 0;
  for (const auto& file : std::filesystem::directory_iterator(testing::TestdataPath("findings"))) {
    const std::string name = file.path().filename().string();
    const PlainStream stream = StreamOf(name.substr(0, name.find('.')));
    EXPECT_TRUE(lines.contains(InNotation(ToOps(stream)).value_or("none"))) << name;
    ++streams;
  }
  EXPECT_EQ(lines.size(), streams);
}

}  // namespace
}  // namespace ringscope
