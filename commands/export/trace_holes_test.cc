// A trace followed by tracks with its holes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "formats/io/compressed_source.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::string CapturedTrace(const std::string& capture) {
  auto source =
      OpenByteSource(testing::TestdataPath("captures/" + capture + "/trace.pftrace.zst").string());
  return ReadAll(*MakeZstdSource(*std::move(source)), size_t{64} << 20).value();
}

/// The trace with its holes; "" and the run's error if there is none.
Ran WithHoles(const TempFolder& folder, const std::string& trace) {
  return RunCommand(TimelineCommand(), {folder.Write("trace.pftrace", trace), "-o", "-"});
}

/// The names of the slices that follow the first bytes of a trace.
std::vector<std::string> SlicesAfter(const std::string& trace, size_t bytes) {
  std::vector<std::string> names;
  wire::ForEachMessage(
      wire::AsBytes(trace).subspan(bytes), proto::Trace::kPacket, [&](Bytes packet) {
        const auto event = wire::LastBytes(packet, proto::TracePacket::kTrackEvent);
        if (!event) return;
        if (const auto name = wire::LastBytes(*event, proto::TrackEvent::kName))
          names.emplace_back(wire::AsText(*name));
      });
  return names;
}

/// Counters of errors and losses, as trace processor has them.
Json CountersOf(const TempFolder& folder, const std::string& trace) {
  const std::string path = folder.Write("counted.pftrace", trace);
  return testing::ParsedJson(
      RunCommand(DoctorCommand(), {path, "--format", "json"}).out)["traces"][0]["counters"];
}

TEST(TraceHoles, FollowTheTraceByteForByte) {
  const TempFolder folder;
  for (const char* capture : {"ring-v1", "ring-v2", "two-buffers-v2", "stream-v2", "lossless-v2"}) {
    const std::string trace = CapturedTrace(capture);
    const Ran ran = WithHoles(folder, trace);
    EXPECT_EQ(ran.code, ExitCode::kClean) << capture << ran.error;
    EXPECT_TRUE(ran.out.starts_with(trace)) << capture;
    EXPECT_LE(ran.out.size() - trace.size(), trace.size() / 10 + 4096) << capture;
    EXPECT_EQ(CountersOf(folder, ran.out), CountersOf(folder, trace)) << capture;
  }
}

TEST(TraceHoles, SayWhatIsMissing) {
  const TempFolder folder;
  const std::string ring = CapturedTrace("ring-v2");
  const auto slices = SlicesAfter(WithHoles(folder, ring).out, ring.size());
  EXPECT_THAT(slices,
              Contains(StartsWith("lost: missing beginning, overwritten (before its first")));
  EXPECT_THAT(slices, Contains(StartsWith("unusable: 2,054 packets whose names were lost")));
  EXPECT_THAT(slices, Contains(StartsWith("overwritten: 6.14 MiB of 6.39 MiB")));
  const std::string streamed = CapturedTrace("stream-v2");
  EXPECT_THAT(SlicesAfter(WithHoles(folder, streamed).out, streamed.size()),
              Contains("lost: overwritten"));
}

// At their own times they would be dropped, too.
TEST(TraceHoles, NameWhatTheImportDrops) {
  const TempFolder folder;
  const std::string trace = testing::ReadTestdata("sessions/late.pftrace");
  EXPECT_THAT(SlicesAfter(WithHoles(folder, trace).out, trace.size()),
              Contains(StartsWith("dropped by the import: ")));
}

TEST(TraceHoles, InventNothing) {
  const TempFolder folder;
  const std::string trace = CapturedTrace("lossless-v2");
  EXPECT_THAT(SlicesAfter(WithHoles(folder, trace).out, trace.size()), IsEmpty());
}

// A reader cannot find the packets after half a packet.
TEST(TraceHoles, APacketThatIsCutOffIsLeftOut) {
  const TempFolder folder;
  const std::string trace = CapturedTrace("ring-v2").substr(0, 100'000);
  const Ran ran = WithHoles(folder, trace);
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.err, HasSubstr("is cut off, and left out"));
  EXPECT_THAT(SlicesAfter(ran.out, 0), Contains(StartsWith("the file is cut off")));
}

// Of a file, of standard input, plain or compressed, whole or cut off: the packets that are whole.
TEST(TraceHoles, EveryInputIsReadOnce) {
  const TempFolder folder;
  const std::string trace = CapturedTrace("ring-v2");
  const std::string packed =
      ReadFile(testing::TestdataPath("captures/ring-v2/trace.pftrace.zst").string());
  const std::string zstd = folder.Write("trace.pftrace.zst", packed);
  const std::string expected = WithHoles(folder, trace).out;
  const std::string file = folder.File("holes.pftrace");
  for (const std::string& output : {std::string("-"), file}) {
    EXPECT_TRUE(RunCommand(TimelineCommand(), {zstd, "-o", "-"}).out == expected);
    for (const std::string& input : {trace, packed}) {
      const Ran ran = RunCommand(TimelineCommand(), {"-", "-o", output, "--force"}, input);
      EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error;
      EXPECT_TRUE((output == "-" ? ran.out : ReadFile(file)) == expected);
    }
    const Ran cut =
        RunCommand(TimelineCommand(), {"-", "-o", output, "--force"}, packed.substr(0, 20'000));
    EXPECT_EQ(cut.code, ExitCode::kNotice) << cut.error;
    EXPECT_THAT(cut.err, HasSubstr("is cut off, and left out"));
    const std::string out = output == "-" ? cut.out : ReadFile(file);
    const auto slices = SlicesAfter(out, 0);
    EXPECT_THAT(slices, Contains(StartsWith("the file is cut off")));
  }
}

// Within the head of a packet, too.
TEST(TraceHoles, AFileMayBeCutOffAnywhere) {
  const TempFolder folder;
  const std::string trace = CapturedTrace("ring-v2").substr(0, 60'000);
  for (size_t size = trace.size() - 120; size < trace.size(); ++size) {
    const Ran ran = WithHoles(folder, trace.substr(0, size));
    const Ran read = RunCommand(VerifyCommand(), {folder.Write("holes.pftrace", ran.out)});
    EXPECT_EQ(read.code, ExitCode::kClean) << size << read.out;
  }
}

// Tracks of an earlier run are replaced.
TEST(TraceHoles, AreReplacedWhereTheyWereAddedBefore) {
  const TempFolder folder;
  const std::string once = WithHoles(folder, CapturedTrace("ring-v2")).out;
  EXPECT_FALSE(SlicesAfter(once, CapturedTrace("ring-v2").size()).empty());
  EXPECT_EQ(WithHoles(folder, once).out, once);
}

// RINGSCOPE_MUTATIONS sets how many, so that more can be tried than each time.
TEST(TraceHoles, AFileThatReachedItsLimitIsStillJudgedAsSuch) {
  const TempFolder folder;
  const std::string with_holes =
      WithHoles(folder,
                ReadFile(std::string(RS_TESTDATA) + "/traces/file-reached-max-size.pftrace"))
          .out;
  EXPECT_THAT(RunCommand(DoctorCommand(), {folder.Write("holes.pftrace", with_holes)}).out,
              HasSubstr("The file reached max_file_size_bytes"));
}

TEST(TraceHoles, DamagedTracesAreSurvived) {
  const TempFolder folder;
  const char* const count = std::getenv("RINGSCOPE_MUTATIONS");
  const int mutations = count == nullptr ? 60 : std::atoi(count);
  const std::string traces[] = {CapturedTrace("short-v2"), CapturedTrace("ring-v1"),
                                CapturedTrace("stream-v2")};
  const std::string log = testing::CapturePath("short-v2");
  std::mt19937 random(1);
  for (int i = 0; i < mutations; ++i) {
    const std::string& trace = traces[i % 3];
    std::string damaged = trace.substr(random() % (trace.size() / 2), 2000 + random() % 60'000);
    if (i % 4 != 0) damaged = trace.substr(0, damaged.size());
    for (int n = 0; n < 1 + i % 8; ++n) {
      const size_t at = random() % damaged.size();
      if (i % 5 == 0)
        damaged.erase(at, random() % 64);
      else if (i % 5 == 1)
        damaged.insert(at, damaged.substr(random() % damaged.size(), random() % 512));
      else
        damaged[at] = static_cast<char>(random());
    }
    std::vector<std::string> args = {folder.Write("trace.pftrace", damaged), "-o", "-"};
    if (i % 16 == 0) args.insert(args.begin(), log);
    const Ran ran = RunCommand(TimelineCommand(), args);
    EXPECT_TRUE(ran.code == ExitCode::kClean || ran.code == ExitCode::kNotice || !ran.error.empty())
        << i;
  }
}

}  // namespace
}  // namespace ringscope
