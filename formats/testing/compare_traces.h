#ifndef RINGSCOPE_FORMATS_TESTING_COMPARE_TRACES_H_
#define RINGSCOPE_FORMATS_TESTING_COMPARE_TRACES_H_

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/perfetto/fields.h"
#include "core/perfetto/trace_stats.h"
#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope::testing {

/// Replays a log of one session. @return the trace
inline std::string ReplayToTrace(std::string log_bytes, ReplayOptions options = {}) {
  StringSink out;
  TraceWriter writer(out);
  Replay replay(std::move(options), writer);
  auto log = OpenLog(MakeMemorySource(std::move(log_bytes))).value();
  while (true) {
    const std::optional<Op> op = log->Next().value();
    if (!op) break;
    EXPECT_TRUE(replay.Apply(*op));
  }
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(writer.Finish());
  return std::move(out.text);
}

/// What of a packet must be equal; sequence ids are equal up to a renaming.
struct ComparedPacket {
  std::string content;
  uint32_t sequence_id;
  std::optional<int32_t> uid;
  uint32_t dropped;
};

struct ComparedTrace {
  std::vector<ComparedPacket> packets;  // of producers
  std::vector<BufferStats> stats;       // by buffer, of the last statistics
};

inline ComparedTrace ReadCompared(std::unique_ptr<ByteSource> source) {
  ComparedTrace trace;
  auto reader = TraceReader::Open(std::move(source)).value();
  while (true) {
    const auto packet = reader->Next().value();
    if (!packet) break;
    if (packet->sequence_id != kServiceSequenceId) {
      trace.packets.push_back({std::string(wire::AsText(packet->content)), packet->sequence_id,
                               packet->trusted_uid, packet->dropped});
      continue;
    }
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next())
      if (field->number == proto::TracePacket::kTraceStats)
        trace.stats = ReadTraceStats(field->bytes);
  }
  return trace;
}

inline void ExpectSamePackets(const ComparedTrace& expected, const ComparedTrace& found) {
  std::map<uint32_t, uint32_t> renamed, back;
  ASSERT_EQ(found.packets.size(), expected.packets.size());
  for (size_t i = 0; i < expected.packets.size(); ++i) {
    const ComparedPacket &e = expected.packets[i], &f = found.packets[i];
    ASSERT_EQ(f.content, e.content) << "packet " << i;
    ASSERT_EQ(f.uid, e.uid) << "packet " << i;
    ASSERT_EQ(f.dropped, e.dropped) << "packet " << i;
    ASSERT_EQ(renamed.try_emplace(e.sequence_id, f.sequence_id).first->second, f.sequence_id);
    ASSERT_EQ(back.try_emplace(f.sequence_id, e.sequence_id).first->second, e.sequence_id);
  }
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_COMPARE_TRACES_H_
