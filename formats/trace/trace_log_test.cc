#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/base/wire.h"
#include "formats/inputs/open_log.h"
#include "formats/testing/generate_trace.h"
#include "formats/testing/import_trace.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"
#include "formats/trace/trace_import.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;

struct Written {
  TraceLog log;
  std::string bytes;
};
Written Write(std::string trace, unsigned threads = CompressionThreads()) {
  StringSink sink;
  TraceLog log = WriteTraceLog({.path = "x", .folder = ::testing::TempDir(), .threads = threads},
                               MakeMemorySource(std::move(trace)), sink)
                     .value();
  return {std::move(log), std::move(sink.text)};
}

/// The records of each session, in words.
std::vector<std::vector<std::string>> SessionsOf(const std::string& log) {
  std::vector<std::vector<std::string>> sessions;
  const auto source = OpenLog(MakeMemorySource(log)).value();
  while (const std::optional<Op> op = source->Next().value()) {
    if (std::holds_alternative<LogHeader>(op->body)) sessions.emplace_back();
    sessions.back().push_back(testing::Describe(*op));
  }
  return sessions;
}

TEST(TraceLog, JoinedTracesAreSessionsOfOneLog) {
  const std::string first = testing::ReadTestdata("captures/short-v2/trace.pftrace.zst");
  const std::string second = testing::ReadTestdata("captures/stream-v2/trace.pftrace.zst");
  const Written joined = Write(first + second);
  ASSERT_EQ(joined.log.sessions.size(), 2u);
  const auto sessions = SessionsOf(joined.bytes);
  ASSERT_EQ(sessions.size(), 2u);
  const Written alone[] = {Write(first), Write(second)};
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(joined.log.sessions[i].packets, alone[i].log.sessions.at(0).packets);
    EXPECT_EQ(sessions[i], SessionsOf(alone[i].bytes).at(0));
  }
}

TEST(TraceLog, LogDoesNotDependOnTheNumberOfThreads) {
  const std::string session = testing::ReadTestdata("captures/lossless-v2/trace.pftrace.zst");
  std::string trace;
  for (int i = 0; i < 4; ++i) trace += session;
  const Written alone = Write(trace, 0);
  for (const unsigned threads : {1U, 3U}) {
    const Written written = Write(trace, threads);
    EXPECT_TRUE(written.bytes == alone.bytes) << threads;
    EXPECT_EQ(written.log.records, alone.log.records);
  }
}

/// Packets that are read ahead, some of them only as what matters of them, and read again in the
/// file, make the same log as whole ones, each copied when it is read.
TEST(TraceLog, LogDoesNotDependOnHowPacketsAreRead) {
  std::vector<std::string> traces;
  for (const char* capture : {"discard-v2", "lossless-v2", "ring-v1", "two-buffers-v2"}) {
    const std::string path = fmt::format("captures/{}/trace.pftrace.zst", capture);
    traces.push_back(testing::ReadTestdata(path));
  }
  for (const bool by_sequence : {false, true}) {
    StringSink generated;
    ASSERT_TRUE(testing::GenerateTrace({.packet_bytes = 1'000'000,
                                        .sequences = 30,
                                        .sequence_by_sequence = by_sequence,
                                        .random_clocks = true},
                                       generated));
    traces.push_back(std::move(generated.text));
    traces.push_back(traces.back().substr(0, traces.back().size() / 2) + "damage" +
                     traces.back().substr(traces.back().size() / 2));
  }
  for (const std::string& trace : traces) {
    const std::string whole = testing::Import(trace).log;
    EXPECT_TRUE(Write(trace).bytes == whole);
    EXPECT_TRUE(Write(trace, 0).bytes == whole);
  }
}

TEST(TraceLog, ADescriptionNamesTheSession) {
  const std::string trace = testing::ReadTestdata("captures/short-v2/trace.pftrace.zst");
  const auto source = OpenLog(MakeMemorySource(Write(trace + trace).bytes)).value();
  std::vector<std::string> descriptions;
  while (const std::optional<Op> op = source->Next().value())
    if (const auto* header = std::get_if<LogHeader>(&op->body))
      descriptions.push_back(header->description);
  ASSERT_EQ(descriptions.size(), 2u);
  EXPECT_THAT(descriptions[0], HasSubstr("the trace x:"));
  EXPECT_THAT(descriptions[1], HasSubstr("the trace x, session 2:"));
}

}  // namespace
}  // namespace ringscope
