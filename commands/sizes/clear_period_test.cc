// The simulation of clear_period_ms against sessions that were recorded with that period.

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/log/op.h"
#include "core/perfetto/chunk.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"
#include "formats/json/json.h"
#include "formats/log/commit_log_writer.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using AppMessage = testing::MessageText;
using PacketField = proto::TracePacket;

constexpr uint64_t kAppMs = 1'000'000;

/// An app as the SDK writes its events: after a clear a thread states its defaults and its track
/// again with its next event, and each name with the next event that uses it.
struct ClearedApp {
  uint16_t threads = 4;
  uint32_t names = 40;          // that each thread uses, the first ones most often
  uint64_t event_ns = 500'000;  // between two events of a thread
};

/// A thread of the app, and the chunk that it fills.
class AppThread {
 public:
  AppThread(const ClearedApp& app, uint16_t writer) : app_(app), writer_(writer), random_(writer) {}

  /// Writes an event. @return true if the chunk is full
  bool Write(uint64_t time_ns, uint64_t clears) {
    AppMessage packet;
    packet.Uint(PacketField::kTimestamp, time_ns);
    uint64_t flags = PacketField::SequenceFlags::kSeqNeedsIncrementalState;
    if (std::exchange(clears_, clears) != clears) {
      interned_.clear();
      flags |= PacketField::SequenceFlags::kSeqIncrementalStateCleared;
      packet.Inner(PacketField::kTracePacketDefaults, OfSize(12));
      packet.Inner(PacketField::kTrackDescriptor, OfSize(70));
    }
    const double share = std::uniform_real_distribution<>(0, 1)(random_);
    const auto name = static_cast<uint32_t>(share * share * app_.names);
    if (interned_.insert(name).second)
      packet.Inner(PacketField::kInternedData,
                   AppMessage().Inner(
                       proto::InternedData::kEventNames,
                       AppMessage().Uint(1, name + 1).Text(2, std::string(24 + name % 40, 'n'))));
    packet.Uint(PacketField::kSequenceFlags, flags);
    packet.Inner(
        PacketField::kTrackEvent,
        AppMessage().Uint(proto::TrackEvent::kNameIid, name + 1).Text(15, std::string(18, 'x')));
    wire::AppendVarint(payload_, packet.text().size());
    payload_ += packet.text();
    ++packets_;
    bytes += packet.text().size();
    return payload_.size() > 3800;
  }

  /// Returns the request that commits the chunk.
  std::string Request() {
    std::string request;
    CommitRequestBuilder(request).AddChunk(
        BufferId{1},
        {ChunkId{chunk_++}, WriterId{writer_}, std::exchange(packets_, uint16_t{0}), 0},
        wire::AsBytes(payload_), true);
    payload_.clear();
    return request;
  }

  uint64_t bytes = 0;  // of its packets

 private:
  static AppMessage OfSize(size_t bytes) {
    return AppMessage().Text(15, std::string(bytes - 2, 'x'));
  }

  const ClearedApp& app_;
  const uint16_t writer_;
  std::mt19937 random_;
  std::set<uint32_t> interned_;
  uint64_t clears_ = UINT64_MAX;
  uint32_t chunk_ = 0;
  uint16_t packets_ = 0;
  std::string payload_;
};

/// A log of 6 s of the app with a ring of 256 KiB, and the bytes of all packets.
std::pair<std::string, uint64_t> RecordedApp(const ClearedApp& app, uint64_t clear_period_ns) {
  StringSink log;
  const auto writer = CommitLogWriter::Create(log, {}).value();
  const auto add = [&](uint64_t ns, OpBody body) {
    EXPECT_TRUE(writer->Append(Op{kAppMs + ns, std::move(body)}));
  };
  const auto commit = [&](uint64_t ns, const std::string& request) {
    Commit body;
    body.producer = ProducerId{1};
    body.request = wire::AsBytes(request);
    add(ns, body);
  };
  LogHeader header;
  header.uuid = "a";
  add(0, header);
  add(0, BufferSetUp{BufferId{1}, 0, 256 * 1024, FillPolicy::kRingBuffer, "v2@58"});
  std::vector<AppThread> threads;
  for (uint16_t i = 1; i <= app.threads; ++i) threads.emplace_back(app, i);
  const uint64_t end_ns = 6000 * kAppMs;
  for (uint64_t ns = 0; ns < end_ns; ns += app.event_ns)
    for (AppThread& thread : threads)
      if (thread.Write(kAppMs + ns, clear_period_ns == 0 ? 0 : (kAppMs + ns) / clear_period_ns))
        commit(ns, thread.Request());
  uint64_t bytes = 0;
  for (AppThread& thread : threads) {
    commit(end_ns, thread.Request());
    bytes += thread.bytes;
  }
  add(end_ns, ReadPass{.buffer = BufferId{1}, .reason = ReadReason::kFinal});
  EXPECT_TRUE(writer->Close());
  return {log.text, bytes};
}

Json Advised(const std::string& path) {
  return testing::ParsedJson(
      RunCommand(AdviseCommand(), {"--format", "json", path}).out)["sessions"][0];
}

TEST(ClearPeriod, SimulatedClears_AreAsRecordedOnes) {
  const TempFolder folder;
  // Of 200 names many are used less often than once in a period.
  for (const ClearedApp& app :
       {ClearedApp{}, ClearedApp{.threads = 2, .names = 15, .event_ns = 200'000},
        ClearedApp{.names = 200}, ClearedApp{.threads = 8, .names = 1000}}) {
    SCOPED_TRACE(app.names);
    const auto [log, bytes] = RecordedApp(app, 0);
    const Json advised = Advised(folder.Write("without.tblog", log));
    const Json* clears = nullptr;
    for (const Json& remedy : advised["remedies"])
      if (remedy["kind"] == "clear_state") clears = &remedy;
    ASSERT_NE(clears, nullptr) << advised.dump(2);
    const uint64_t period_ns = (*clears)["period_ns"];
    const auto [cleared_log, all_bytes] = RecordedApp(app, period_ns);
    const Json doctor = testing::ParsedJson(
        RunCommand(DoctorCommand(), {"--format", "json", folder.Write("with.tblog", cleared_log)})
            .out)["traces"][0];
    const auto expect_near = [](double simulated, double recorded, const char* what) {
      EXPECT_NEAR(simulated / recorded, 1, 0.15) << what << ": " << simulated << ", " << recorded;
    };
    const Json& cleared = (*clears)["cleared"];
    expect_near(cleared["usable"], doctor["answer"]["usable_packets"], "usable packets");
    expect_near(cleared["packets"], doctor["answer"]["packets"], "packets");
    const double names = app.threads * app.names;  // nearly all of few are used at the end
    EXPECT_LE(cleared["names"], names);
    if (app.names <= 40) expect_near(cleared["names"], names, "names");
    EXPECT_EQ(cleared["names_now"], 0);
    expect_near(cleared["more_bytes"], static_cast<double>(all_bytes - bytes), "more bytes");
  }
}

TEST(ClearPeriod, OfARingThatHoldsAll_IsNoRemedy) {
  const std::string log = testing::CapturePath("ring-v2");
  const auto kinds = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"--format", "json", log});
    const Json document = testing::ParsedJson(RunCommand(AdviseCommand(), options).out);
    std::set<std::string> found;
    for (const Json& remedy : document["sessions"][0]["remedies"])
      found.insert(remedy["kind"].get<std::string>());
    return found;
  };
  EXPECT_TRUE(kinds({}).contains("clear_state"));
  EXPECT_TRUE(kinds({"--keep", "1s"}).contains("clear_state"));
  EXPECT_EQ(kinds({"--keep", "10s"}), std::set<std::string>{"size"});
}

}  // namespace
}  // namespace ringscope
