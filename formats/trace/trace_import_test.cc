#include "formats/trace/trace_import.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "core/perfetto/packet_facts.h"
#include "core/testing/message_text.h"
#include "formats/testing/import_trace.h"
#include "formats/testing/replay_to_trace.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Traces made field by field.

std::string Trusted(uint32_t sequence, int32_t pid = 42, uint32_t dropped = 0) {
  std::string out;
  AppendTrustedFields(out, {.uid = 1000, .pid = pid}, sequence, dropped);
  return out;
}
std::string Packet(const std::string& content) { return Sub(1, content); }
/// A track event at a time of CLOCK_BOOTTIME.
std::string Event(uint32_t sequence, uint64_t time, const std::string& text, uint32_t dropped = 0,
                  int32_t pid = 42) {
  return Packet(Uint(8, time) + Sub(11, text) + Trusted(sequence, pid, dropped));
}
std::string OfService(const std::string& content) {
  std::string out;
  AppendTrustedFields(out, {.uid = 0, .pid = -1}, kServiceSequenceId, 0);
  return Packet(content + out);
}
std::string BufferConfig(uint64_t size_kb, uint64_t policy, uint64_t mode) {
  return Sub(1, Uint(1, size_kb) + Uint(4, policy) + Uint(8, mode));
}
std::string Reading(uint64_t clock, uint64_t time) {
  return Sub(1, Uint(1, clock) + Uint(2, time));
}
std::string WriterStats(uint64_t sequence, uint64_t buffer) {
  return Sub(18, Uint(1, sequence) + Uint(4, buffer));
}

TEST(TraceImport, BuffersOfACapture_AreThoseOfItsConfigAndStatistics) {
  const Imported imported = Import(ReadTestdata("captures/two-buffers-v2/trace.pftrace.zst"));
  EXPECT_THAT(imported.records, ::testing::Contains("buffer 0 262144 ring_buffer 'v2'"));
  EXPECT_THAT(imported.records, ::testing::Contains("buffer 1 65536 discard 'v2'"));
  std::set<std::string> targets;
  for (const std::string& record : imported.records)
    if (const size_t at = record.find(" buffer "); record.starts_with("commit") && at < 99)
      targets.insert(record.substr(at, 9));
  EXPECT_THAT(targets, ElementsAre(" buffer 0", " buffer 1"));
}

TEST(TraceImport, StreamedCapture_KeepsItsReads) {
  const Imported imported = Import(ReadTestdata("captures/stream-v2/trace.pftrace.zst"));
  EXPECT_EQ(std::ranges::count(imported.records, "read unknown"), 5);
  EXPECT_EQ(imported.records.back(), "read final");
  const Imported at_end = Import(ReadTestdata("captures/ring-v2/trace.pftrace.zst"));
  EXPECT_EQ(std::ranges::count(at_end.records, "read unknown"), 0);
}

TEST(TraceImport, SmallTrace_BecomesTheseRecords) {
  const std::string trace =
      OfService(Sub(33, BufferConfig(64, 1, 1) + BufferConfig(32, 2, 0))) +
      OfService(Sub(6, Reading(6, 5) + Reading(3, 1))) +  //
      OfService(Sub(36, "marker")) +                      //
      Event(7, 30, "later") +                             //
      Event(8, 20, "sooner", 0, 43) +                     //
      Event(9, 40, "of a second writer") + OfService(Uint(8, 25) + Sub(69, Uint(2, 1))) +
      OfService(Sub(35, WriterStats(7, 1) + WriterStats(8, 0) + WriterStats(9, 1)));
  const Imported imported = Import(trace);
  EXPECT_THAT(
      imported.records,
      ElementsAre("header synthetic", "config", "buffer 0 65536 ring_buffer 'v2'",
                  "buffer 1 32768 discard 'v1'", "clocks", "producer 2 uid 1000 pid 43 pid 43",
                  "note service: tracing started", "producer 1 uid 1000 pid 42 pid 42",
                  "commit 1:1 chunk 0 buffer 1 fragments 1 flags 0",
                  "commit 2:1 chunk 0 buffer 0 fragments 1 flags 0",
                  "commit 1:2 chunk 0 buffer 1 fragments 1 flags 0"));
  EXPECT_THAT(imported.times, ElementsAre(5, 5, 5, 5, 5, 20, 25, 30, 40, 40, 40));
  EXPECT_EQ(imported.report.left_out.at(36), 1u);
}

TEST(TraceImport, TraceWithoutConfig_GetsOneBuffer) {
  const Imported imported = Import(Event(7, 30, "a"));
  EXPECT_THAT(imported.records, ::testing::Contains("buffer 0 67108864 ring_buffer ''"));
  EXPECT_FALSE(imported.report.has_config);
  EXPECT_EQ(imported.report.guessed_sizes, 1u);
}

TEST(TraceImport, SequencesThatOnlyAListingNames_GoIntoItsBuffers) {
  const auto listed = [](uint64_t id) { return Sub(1, Uint(1, id) + Uint(2, 3)); };
  const Imported imported =
      Import(OfService(Sub(124, Sub(2, listed(8)) + Sub(2, listed(7)))) + Event(7, 1, "a"));
  EXPECT_THAT(imported.records,
              ::testing::Contains("commit 1:1 chunk 0 buffer 1 fragments 1 flags 0"));
}

TEST(TraceImport, PacketsWithoutATime_StayInTheirPlace) {
  const std::string untimed = Packet(Sub(11, "u") + Trusted(7));
  const Imported imported = Import(untimed + Event(7, 50, "a") + untimed + Event(8, 60, "b") +
                                   Event(7, 40, "late") + Event(7, 55, "c"));
  EXPECT_EQ(imported.report.untimed, 2u);
  EXPECT_EQ(imported.report.late, 1u);
  const TraceContent replayed =
      ReadTraceContent(MakeMemorySource(ReplayToTrace(imported.log))).value();
  std::vector<std::string> contents;
  for (const ContentPacket& packet : replayed.packets)
    contents.push_back(packet.content.substr(packet.content.rfind('\x5A') + 2));
  EXPECT_THAT(contents, ElementsAre("u", "a", "u", "late", "c", "b"));
}

TEST(TraceImport, LostState_MakesTheDefaultClockUnknown) {
  constexpr uint64_t kCleared = 1, kNeedsState = 2;
  const std::string own_clock =
      Sub(6, Sub(1, Uint(1, 64) + Uint(2, 0) + Uint(3, 1)) + Reading(6, 1000));
  const auto step = [](uint32_t dropped) {
    return Packet(Uint(8, 5) + Uint(13, kNeedsState) + Sub(11, "s") + Trusted(7, 42, dropped));
  };
  const Imported imported =
      Import(Packet(Uint(13, kCleared) + Sub(59, Uint(58, 64)) + own_clock + Trusted(7)) + step(0) +
             step(0) + step(65) + step(0) + Event(8, 2000, "b"));
  EXPECT_EQ(imported.report.untimed, 3u) << "the snapshot, and two steps after the loss";
  EXPECT_EQ(imported.report.late, 0u);
  EXPECT_EQ(imported.times.front(), 1005u);
}

TEST(TraceImport, WhereNoTimeIsKnown_TheFilesOrderStays) {
  const auto untimed = [](uint32_t sequence, const std::string& text) {
    return Packet(Sub(11, text) + Trusted(sequence));
  };
  const Imported imported =
      Import(untimed(7, std::string(4073, 'a')) + untimed(8, std::string(4073, 'b')) +
             untimed(7, std::string(4073, 'c')));
  std::vector<std::string> commits;
  for (const std::string& record : imported.records)
    if (record.starts_with("commit")) commits.push_back(record.substr(0, 18));
  EXPECT_THAT(commits,
              ElementsAre("commit 1:1 chunk 0", "commit 1:2 chunk 0", "commit 1:1 chunk 1"));
}

TEST(TraceImport, PacketsBehindARead_AreCommittedAfterIt) {
  const auto read_at = [](uint64_t time) { return OfService(Uint(8, time) + Sub(69, Uint(4, 1))); };
  const std::string untimed = Packet(Sub(11, "u") + Trusted(8));
  const Imported imported =
      Import(Event(7, 10, std::string(4071, 'a')) + untimed + read_at(20) +
             Event(7, 15, std::string(4071, 'b')) + untimed + read_at(30) + Event(7, 40, "c"));
  EXPECT_THAT(
      imported.records,
      ElementsAre("header synthetic", "buffer 0 67108864 ring_buffer ''",
                  "inexact times: 2 of 5 packets", "producer 1 uid 1000 pid 42 pid 42",
                  "commit 1:1 chunk 0 buffer 0 fragments 1 flags 0",
                  "commit 1:2 chunk 0 buffer 0 fragments 1 flags 0", "note service: buffers read",
                  "read unknown", "commit 1:1 chunk 1 buffer 0 fragments 1 flags 0",
                  "commit 1:2 chunk 1 buffer 0 fragments 1 flags 0", "note service: buffers read",
                  "read unknown", "commit 1:1 chunk 2 buffer 0 fragments 1 flags 0", "read final"));
  EXPECT_THAT(imported.times, ElementsAre(10, 10, 10, 10, 10, 20, 20, 20, 20, 30, 30, 30, 40, 40));
  EXPECT_EQ(imported.report.late, 0u);
}

TEST(TraceImport, ProcessDescriptor_NamesTheProducer) {
  const std::string process = Sub(3, Uint(1, 42) + Sub(6, "system_server"));
  const Imported imported =
      Import(Event(7, 1, "a") + Packet(Uint(8, 2) + Sub(60, process) + Trusted(7)));
  EXPECT_THAT(imported.records, ::testing::Contains("producer 1 uid 1000 pid 42 system_server"));
}

TEST(TraceImport, LossesThatTheTraceReports_AreGaps) {
  const std::string counted = Sub(1, Uint(3, 12) + Uint(13, 49152) + Uint(12, 65536));
  const Imported imported =
      Import(Event(7, 1, "first of a version 1 buffer", 1) + Event(7, 2, "a", 1) +
             Event(8, 3, "b", 65) + OfService(Sub(35, counted + Uint(10, 4))));
  std::vector<std::string> gaps;
  for (const std::string& record : imported.records)
    if (record.starts_with("gap")) gaps.push_back(record);
  EXPECT_THAT(gaps,
              ElementsAre("gap of producer 1: the trace lacks packets of writer 1 here: present",
                          "gap of producer 1: the trace lacks packets of writer 2 here: overwrite",
                          "gap of producer 0: the statistics of the trace's buffer 0: "
                          "chunks_overwritten 12",
                          "gap of producer 0: the trace's statistics of the service: "
                          "invalid_packets 4"));
  EXPECT_EQ(imported.report.gaps, 2u);
  EXPECT_EQ(imported.report.counted_losses, 2u);
  EXPECT_THAT(imported.records, ::testing::Contains("buffer 0 65536 ring_buffer ''"))
      << "the size that the statistics report";
}

TEST(TraceImport, FieldsOfTheService_AreTakenOutWhereverTheyStand) {
  const std::string own_loss = Uint(42, 256);
  const Imported imported =
      Import(Packet(Uint(3, 1000) + Uint(10, 7) + Uint(8, 5) + Sub(11, "old")) +
             Packet(own_loss + Uint(8, 6) + Sub(11, "x") + Trusted(7, 42, 64)));
  const TraceContent replayed =
      ReadTraceContent(MakeMemorySource(ReplayToTrace(imported.log))).value();
  ASSERT_EQ(replayed.packets.size(), 2u);
  EXPECT_EQ(replayed.packets[0].content, Uint(8, 5) + Sub(11, "old"));
  EXPECT_EQ(replayed.packets[1].content, own_loss + Uint(8, 6) + Sub(11, "x"));
}

TEST(TraceImport, PacketsThatCanNotBeUsed_AreCounted) {
  const Imported imported = Import(Event(7, 5, "a") + Packet(Trusted(7)) + Packet("\x0A\x7F") +
                                   Packet(Uint(8, 6) + Uint(50, 1) + Trusted(7)));
  EXPECT_EQ(imported.report.packets, 1u);
  EXPECT_EQ(imported.report.empty, 1u);
  EXPECT_EQ(imported.report.malformed, 2u);
}

TEST(TraceImport, TracesOfOtherPrograms_MayUseTheServicesSequence) {
  const Imported imported =
      Import(Packet(Uint(8, 5) + Sub(11, "a") + Uint(10, 1)) + Packet(Uint(8, 6) + Sub(11, "b")) +
             Packet(Sub(45, "system") + Uint(10, 1)));
  EXPECT_EQ(imported.report.packets, 2u);
  EXPECT_EQ(imported.report.sequences, 2u);
  EXPECT_EQ(imported.report.left_out.at(45), 1u);
}

TEST(TraceImport, EmptyTrace_GivesALogWithoutCommits) {
  EXPECT_THAT(Import("").records,
              ElementsAre("header synthetic", "buffer 0 67108864 ring_buffer ''"));
}

TEST(TraceImport, TornTrace_GivesWhatIsWhole) {
  const std::string trace = Event(7, 1, "a") + Event(7, 2, "b") + Event(7, 3, "c");
  const Imported imported = Import(trace.substr(0, trace.size() - 2));
  EXPECT_EQ(imported.report.packets, 2u);
  ASSERT_EQ(imported.damage.size(), 1u);
  EXPECT_THAT(imported.damage[0].ToString(), HasSubstr("the file ends within a field"));
}

}  // namespace
}  // namespace ringscope::testing
