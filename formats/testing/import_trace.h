#ifndef RINGSCOPE_FORMATS_TESTING_IMPORT_TRACE_H_
#define RINGSCOPE_FORMATS_TESTING_IMPORT_TRACE_H_

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "formats/log/commit_log_writer.h"
#include "formats/testing/string_sink.h"
#include "formats/trace/perfetto_trace.h"
#include "formats/trace/trace_import.h"

namespace ringscope::testing {

/// A record of an import, in words.
inline std::string Describe(const Op& op) {
  return std::visit(
      Overloaded{
          [](const LogHeader& h) { return std::string("header ") + Name(h.source); },
          [](const TraceConfigRecord&) { return std::string("config"); },
          [](const BufferSetUp& b) {
            return fmt::format("buffer {} {} {} '{}'", Raw(b.id), b.size, Name(b.policy), b.engine);
          },
          [](const ClockSnapshotRecord&) { return std::string("clocks"); },
          [](const ProducerConnected& p) {
            return fmt::format("producer {} uid {} pid {} {}", Raw(p.producer), p.uid, p.pid,
                               p.name);
          },
          [](const Commit& c) {
            CommitRequestParser parser;
            EXPECT_TRUE(parser.Parse(c.request));
            EXPECT_EQ(c.origin, Origin::kSynthetic);
            const ChunkToMove& chunk = parser.chunks().at(0);
            const ChunkHeader header = *ParseChunkHeader(*chunk.data);
            return fmt::format("commit {}:{} chunk {} buffer {} fragments {} flags {}",
                               Raw(c.producer), Raw(header.writer), Raw(header.chunk),
                               chunk.target_buffer.value_or(99), header.fragments, header.flags);
          },
          [](const ReadPass& r) { return std::string("read ") + Name(r.reason); },
          [](const RecorderGap& g) {
            return fmt::format("gap of producer {}: {}", g.producer ? Raw(*g.producer) : 0,
                               g.reason);
          },
          [](const Note& n) { return "note " + n.text; },
          [](const Inexact& inexact) {
            return fmt::format("inexact {}: {}", Name(inexact.reason), inexact.detail);
          },
          [](const auto&) { return std::string("other"); },
      },
      op.body);
}

/// The result of an import.
struct Imported {
  std::string log;
  std::vector<std::string> records;
  std::vector<uint64_t> times;
  TraceImportReport report;
  std::vector<Damage> damage;
};

/// The import of a trace, sorted in runs of so many bytes.
inline Imported Import(std::string trace, size_t run_bytes = size_t{1} << 20) {
  Imported result;
  auto reader =
      TraceReader::Open(MakeMemorySource(std::move(trace)), TraceReader::OnDamage::kSkip).value();
  TraceImport import(
      {.name = "x",
       .sorter = {.folder = ::testing::TempDir(), .run_bytes = run_bytes, .merge_bytes = 1 << 16}});
  RawPacket packet;
  while (true) {
    const auto more = reader->Next(packet);
    EXPECT_TRUE(more) << more.error().ToString();
    if (!more || !*more) break;
    EXPECT_TRUE(import.Add(packet, ViewTracePacket(packet.bytes)));
  }
  StringSink sink;
  auto writer = CommitLogWriter::Create(sink).value();
  const Status written = import.Write([&](const Op& op) {
    result.records.push_back(Describe(op));
    result.times.push_back(op.time_ns.value_or(0));
    return writer->Append(op);
  });
  EXPECT_TRUE(written) << written.error().ToString();
  EXPECT_TRUE(writer->Close());
  result.log = std::move(sink.text);
  result.report = import.report();
  result.damage = reader->damage();
  return result;
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_IMPORT_TRACE_H_
