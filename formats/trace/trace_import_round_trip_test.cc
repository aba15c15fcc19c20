// A trace, imported and replayed in a buffer that holds everything, is unchanged.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "formats/testing/generate_trace.h"
#include "formats/testing/import_trace.h"
#include "formats/testing/replay_to_trace.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/testing/trace_content.h"

namespace ringscope::testing {
namespace {

using ::testing::IsEmpty;

using Sequences = std::map<uint32_t, std::vector<std::string>>;

/// The packets with content, by sequence id.
Sequences BySequence(const TraceContent& trace) {
  Sequences sequences;
  for (const ContentPacket& packet : trace.packets)
    if (!packet.content.empty()) sequences[packet.sequence_id].push_back(packet.content);
  return sequences;
}

std::multiset<std::vector<std::string>> Contents(const Sequences& sequences) {
  std::multiset<std::vector<std::string>> contents;
  for (const auto& [id, packets] : sequences) contents.insert(packets);
  return contents;
}

/// Replayed in a buffer that holds everything, the log gives the trace's packets again.
void ExpectRoundTrip(const std::string& trace, const std::string& log) {
  const TraceContent expected = ReadTraceContent(MakeMemorySource(trace)).value();
  for (const char* engine : {"v1", "v2"}) {
    ReplayOptions options;
    options.session.all.engine = engine;
    options.session.all.size = uint64_t{512} << 20;
    options.session.all.policy = FillPolicy::kRingBuffer;
    const TraceContent found =
        ReadTraceContent(MakeMemorySource(ReplayToTrace(log, options))).value();
    EXPECT_TRUE(Contents(BySequence(found)) == Contents(BySequence(expected))) << engine;
    for (const ContentPacket& packet : found.packets) ASSERT_LE(packet.dropped, 1u) << engine;
  }
}

class TraceImportCapture : public ::testing::TestWithParam<const char*> {};

TEST_P(TraceImportCapture, RoundTrip_GivesTheSamePacketsPerSequence) {
  const std::string trace =
      ReadTestdata(std::string("captures/") + GetParam() + "/trace.pftrace.zst");
  const Imported imported = Import(trace, 100'000);
  EXPECT_GT(imported.report.packets, 1000u);
  EXPECT_EQ(imported.report.malformed, 0u);
  EXPECT_EQ(imported.report.late, 0u);
  EXPECT_EQ(imported.report.guessed_sequences, 0u);
  EXPECT_TRUE(std::is_sorted(imported.times.begin(), imported.times.end()));
  EXPECT_THAT(imported.damage, IsEmpty());
  ExpectRoundTrip(trace, imported.log);
}

INSTANTIATE_TEST_SUITE_P(Captures, TraceImportCapture, AllCaptures(), NameOfParam<const char*>);

struct GeneratedCase {
  const char* name;
  GeneratedTrace trace;
};

class TraceImportGenerated : public ::testing::TestWithParam<GeneratedCase> {};

TEST_P(TraceImportGenerated, RoundTrip_GivesTheSamePacketsPerSequence) {
  StringSink trace;
  ASSERT_TRUE(GenerateTrace(GetParam().trace, trace));
  const Imported imported = Import(trace.text, 300'000);
  EXPECT_EQ(imported.report.sequences, GetParam().trace.sequences);
  EXPECT_EQ(imported.report.late, 0u);
  EXPECT_TRUE(std::is_sorted(imported.times.begin(), imported.times.end()));
  ExpectRoundTrip(trace.text, imported.log);
}

constexpr uint64_t kSmall = uint64_t{3} << 20;
INSTANTIATE_TEST_SUITE_P(
    Traces, TraceImportGenerated,
    ::testing::Values(
        GeneratedCase{"by_sequence", {.packet_bytes = kSmall}},
        GeneratedCase{"by_time", {.packet_bytes = kSmall, .sequence_by_sequence = false}},
        GeneratedCase{"one_sequence", {.packet_bytes = kSmall, .sequences = 1}},
        GeneratedCase{"many_sequences", {.packet_bytes = kSmall, .sequences = 3000, .buffers = 4}},
        GeneratedCase{"large_packets",
                      {.packet_bytes = kSmall, .sequences = 7, .max_packet = 300'000}},
        GeneratedCase{"random_clocks", {.packet_bytes = kSmall, .random_clocks = true}},
        GeneratedCase{
            "compressed",
            {.packet_bytes = kSmall, .random_clocks = true, .compressed = true, .seed = 3}}),
    [](const auto& param_info) { return std::string(param_info.param.name); });

}  // namespace
}  // namespace ringscope::testing
