// The holes of a trace with its log, compared with what a replay of the log shows of each packet,
// and with the packets that the trace has.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "commands/session/replay_run.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/track_reader.h"
#include "core/base/text.h"
#include "core/gaps/gap_analysis.h"
#include "core/session/session_notes.h"
#include "formats/testing/files.h"
#include "formats/testing/testdata.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope {
namespace {

using testing::Event;
using testing::ParseTracks;
using testing::Trace;

/// A packet of a log, in the order of its sequence.
struct PacketOfLog {
  std::tuple<uint64_t, uint32_t> place;  // chunk, fragment
  uint64_t time_ns = 0;
  bool is_read = false;
  bool is_lost = false;
};

/// Gathers all packets of a log, with their times and fates.
class AllPackets : public ReplayListener, public LedgerSink {
 public:
  void OnRecord(const Op& op, const LogMoment& moment) override {
    now_ = moment.time_ns;
    if (const auto* clocks = std::get_if<ClockSnapshotRecord>(&op.body))
      clocks_.AddClocks(wire::AsBytes(clocks->snapshot));
  }
  void OnChunkWritten(BufferId buffer, WrittenCommit& commit) override {
    const ChunkName chunk{commit.commit().sequence, commit.commit().chunk};
    clocks_.AddChunk(buffer, commit, 0, now_,
                     [&](size_t fragment, const auto& /*packet*/, auto time_ns) {
                       if (time_ns) times_[{chunk.Packed(), fragment}] = *time_ns;
                     });
  }
  void OnPacketFate(const PacketAccount& account) override {
    const ChunkName chunk{account.sequence, IdOf(account.first_chunk)};
    const auto time = times_.find({chunk.Packed(), account.fragment});
    packets[account.sequence].push_back(
        {{account.first_chunk, account.fragment},
         time == times_.end() ? account.written.time_ns.value_or(0) : time->second,
         account.fate == Fate::kRead,
         IsLoss(account.fate)});
  }

  std::map<SequenceKey, std::vector<PacketOfLog>> packets;

 private:
  std::optional<uint64_t> now_;
  StalePackets clocks_;
  std::map<std::pair<uint64_t, size_t>, uint64_t> times_;  // by chunk and fragment
};

struct SeenHole {
  std::string sequence;
  uint64_t packets = 0;
  uint64_t from_ns = 0, to_ns = 0;
  friend auto operator<=>(const SeenHole&, const SeenHole&) = default;
};
void PrintTo(const SeenHole& hole, std::ostream* out) {
  *out << hole.sequence << ": " << hole.packets << " in " << hole.from_ns << ".." << hole.to_ns;
}

/// The runs of lost packets between two that were read.
std::vector<SeenHole> HolesIn(std::vector<PacketOfLog> packets, const std::string& sequence) {
  std::ranges::sort(packets, {}, &PacketOfLog::place);
  std::vector<SeenHole> holes;
  uint64_t lost = 0, before = packets.front().time_ns;
  for (const PacketOfLog& packet : packets) {
    lost += packet.is_lost ? 1 : 0;
    if (!packet.is_read) continue;
    if (lost > 0) holes.push_back({sequence, lost, before, packet.time_ns});
    lost = 0;
    before = packet.time_ns;
  }
  if (lost > 0) holes.push_back({sequence, lost, before, packets.back().time_ns});
  return holes;
}

/// The slices with a number of lost packets.
std::vector<SeenHole> HolesOf(const Trace& tracks) {
  std::vector<SeenHole> holes;
  std::map<uint64_t, size_t> open;  // by track
  for (const Event& event : tracks.events) {
    if (event.type == 2 && open.contains(event.track)) {
      holes[open[event.track]].to_ns = event.time;
      open.erase(event.track);
    }
    const auto packets = event.args.find("packets");
    if (!event.name.starts_with("lost: ") || packets == event.args.end()) continue;
    if (packets->second == "unknown") continue;
    if (event.type == 1) open[event.track] = holes.size();
    holes.push_back(
        {event.args.at("sequence"), std::stoull(packets->second), event.time, event.time});
  }
  return holes;
}

class ProvenHoles : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string folder_ = testing::TestdataPath(std::string("captures/") + GetParam()).string();
  const std::string log_ = testing::CapturePath(GetParam());
  const std::string trace_ = folder_ + "/trace.pftrace.zst";
  const std::string bytes_ =
      testing::ReadTestdata(std::string("captures/") + GetParam() + "/trace.pftrace.zst");

  /// The tracks that follow the trace.
  Trace Tracks(const std::vector<std::string>& inputs) const {
    std::vector<std::string> args = inputs;
    args.insert(args.end(), {"-o", "-"});
    const Ran ran = RunCommand(TimelineCommand(), args);
    EXPECT_EQ(ran.code, ExitCode::kClean) << ran.error << ran.err;
    EXPECT_TRUE(ran.out.starts_with(bytes_));
    EXPECT_LE(ran.out.size() - bytes_.size(), std::max<size_t>(bytes_.size() / 10, 16384));
    return ParseTracks(ran.out.substr(bytes_.size()));
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, ProvenHoles, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

TEST_P(ProvenHoles, AreThoseOfTheReplayPacketByPacket) {
  MemoryRun memory;
  ReplayChoices choices;
  if (std::string(GetParam()) == "stream-v2") choices.reads.like = trace_;
  SessionReader sessions(memory.context, {{log_}, {}}, "replaying");
  ASSERT_TRUE(sessions.NextSession().value());
  ReplayRun run(memory.context, sessions, choices);
  const auto& notes = run.Add<SessionNotes>();
  const auto& all = run.Add<AllPackets>();
  ASSERT_TRUE(run.ToEnd());
  std::vector<SeenHole> expected;
  for (const auto& [key, packets] : all.packets)
    for (const SeenHole& hole : HolesIn(packets, notes.NameOf(key))) expected.push_back(hole);
  std::vector<SeenHole> shown = HolesOf(Tracks({trace_, log_}));
  std::ranges::sort(expected);
  std::ranges::sort(shown);
  EXPECT_EQ(shown, expected);
}

// By the trace's own bytes: where a packet has its time, none is inside of a hole of its sequence,
// and the holes begin and end with packets.
TEST_P(ProvenHoles, HaveNoPacketOfTheTraceInThem) {
  std::map<std::string, std::vector<SeenHole>> holes;
  for (const SeenHole& hole : HolesOf(Tracks({log_, trace_}))) holes[hole.sequence].push_back(hole);
  const auto reader = TraceReader::Open(MakeMemorySource(bytes_)).value();
  std::map<uint32_t, std::vector<uint64_t>> times;  // absolute ones
  for (RawPacket packet; reader->Next(packet).value();) {
    const TracePacketView view = ViewTracePacket(packet.bytes);
    if (view.timestamp.value_or(0) > 1'000'000'000'000 && view.sequence_id > 1)
      times[view.sequence_id].push_back(*view.timestamp);
  }
  for (const auto& [name, of_sequence] : holes)
    for (const auto& [id, packets] : times) {
      if (!name.starts_with("sequence " + std::to_string(id) + " ")) continue;
      for (const SeenHole& hole : of_sequence) {
        for (const uint64_t ns : packets)
          EXPECT_FALSE(ns > hole.from_ns && ns < hole.to_ns) << name;
        EXPECT_TRUE(std::ranges::find(packets, hole.to_ns) != packets.end() ||
                    hole.to_ns > packets.back())
            << name;
      }
    }
}

/// The processes of a log's producers. The service saw the recorder in the place of some.
class Processes : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment&) override {
    if (const auto* producer = std::get_if<ProducerConnected>(&op.body))
      pids[Raw(producer->producer)] = producer->pid;
  }
  std::map<uint64_t, int32_t> pids;
};

// Below the thread of the sequence, as the trace describes it, or else its process.
TEST_P(ProvenHoles, AreBelowTheirThread) {
  std::map<uint32_t, uint64_t> threads;
  const auto reader = TraceReader::Open(MakeMemorySource(bytes_)).value();
  for (RawPacket packet; reader->Next(packet).value();) {
    const TracePacketView view = ViewTracePacket(packet.bytes);
    if (view.content != proto::TracePacket::kTrackDescriptor) continue;
    const TrackNames names = ReadTrackNames(view.content_bytes);
    if (names.is_of_thread) threads.try_emplace(view.sequence_id, names.uuid);
  }
  MemoryRun memory;
  SessionReader sessions(memory.context, {{log_}, {}}, "replaying");
  ASSERT_TRUE(sessions.NextSession().value());
  ReplayRun run(memory.context, sessions, ReplayChoices());
  const auto& processes = run.Add<Processes>();
  ASSERT_TRUE(run.ToEnd());
  const Trace tracks = Tracks({trace_, log_});
  for (const Event& event : tracks.events) {
    if (!event.args.contains("sequence")) continue;
    const std::string& sequence = event.args.at("sequence");
    const uint64_t parent = tracks.tracks.at(event.track).parent;
    if (sequence.starts_with("sequence")) {
      const auto thread = threads.find(static_cast<uint32_t>(std::stoul(sequence.substr(9))));
      if (thread != threads.end()) {
        EXPECT_EQ(parent, thread->second) << event.name;
        continue;
      }
    }
    const size_t colon = sequence.find(':');  // PRODUCER:WRITER
    const size_t begin = sequence.find_last_of(" (", colon) + 1;
    const int32_t pid = processes.pids.at(std::stoull(sequence.substr(begin, colon - begin)));
    const uint64_t process = tracks.tracks.at(parent).parent;
    EXPECT_EQ(tracks.tracks.at(process).pid, static_cast<uint64_t>(pid)) << event.name;
  }
}

// Of the trace alone, a loss is shown only where the log proves one.
TEST_P(ProvenHoles, OfTheTraceAloneAreNotInvented) {
  const Trace alone = Tracks({trace_}), both = Tracks({trace_, log_});
  const auto spans_in = [](const Trace& trace) {
    std::map<std::string, std::vector<std::pair<uint64_t, uint64_t>>> spans;  // by path
    std::map<uint64_t, uint64_t> open;
    for (const Event& event : trace.events) {
      if (event.type == 1 && event.name.starts_with("lost: ")) open[event.track] = event.time;
      if (event.type != 2 || !open.contains(event.track)) continue;
      std::string path = trace.PathOf(event.track);
      path = path.substr(0, path.rfind(" / "));  // of its sequence
      const size_t parent = path.rfind(" / ");
      if (parent != std::string::npos) path = path.substr(parent + 3);
      path = path.substr(0, path.find(" ("));  // names that only the log has
      spans[path].emplace_back(open[event.track], event.time);
      open.erase(event.track);
    }
    return spans;
  };
  auto proven = spans_in(both);
  for (const auto& [path, of_track] : spans_in(alone)) {
    if (path.find("CPU") != std::string::npos) continue;
    for (const auto& [from, to] : of_track)
      EXPECT_TRUE(std::ranges::any_of(proven[path], [&from = from, &to = to](const auto& hole) {
        return hole.first <= to && hole.second >= from;
      })) << path;
  }
}

// Of several sessions of a log, the one that the trace is of is found, wherever it is.
TEST(ProvenHolesOfOthers, LogOfSeveralSessions_HasThatOfTheTrace) {
  const TempFolder folder;
  const auto logged = [&](const std::string& capture) {
    const std::string log = folder.File(capture + ".tblog");
    EXPECT_EQ(RunCommand(ImportCommand(), {testing::CapturePath(capture.c_str()), "-o", log}).error,
              "");
    return ReadFile(log);
  };
  const std::string both = folder.Write("both.tblog", logged("short-v2") + logged("discard-v2"));
  for (const std::string capture : {"short-v2", "discard-v2"}) {
    const auto holes = [&](const std::vector<std::string>& log) {
      std::vector<std::string> args = {
          testing::TestdataPath("captures/" + capture).string() + "/trace.pftrace.zst", "-o", "-"};
      args.insert(args.end(), log.begin(), log.end());
      const Ran ran = RunCommand(TimelineCommand(), args);
      EXPECT_EQ(ran.error, "");
      return ran.out;
    };
    const std::string found = holes({both});
    EXPECT_TRUE(found == holes({both, "--session", capture == "short-v2" ? "1" : "2"})) << capture;
    // The numbers of the second session's records are others.
    EXPECT_TRUE(capture != "short-v2" || found == holes({folder.File("short-v2.tblog")}));
  }
  const Ran ran = RunCommand(
      TimelineCommand(),
      {testing::TestdataPath("captures/ring-v1/trace.pftrace.zst").string(), both, "-o", "-"});
  EXPECT_THAT(ran.error, ::testing::HasSubstr("no sequence of the trace is as the replay of"));
  EXPECT_TRUE(ran.out.empty());
}

// An arrow for each stale event, from its time to that of its commit.
TEST(StaleEvents, EachHasAnArrow) {
  const std::string log = testing::TestdataPath("sessions/stale.ops.jsonl.zst").string();
  const Ran ran = RunCommand(TimelineCommand(), {log, "-o", "-"});
  ASSERT_EQ(ran.error, "");
  std::vector<uint64_t> events, commits;
  for (const Event& event : ParseTracks(ran.out).events) {
    if (event.name.starts_with("stale: ")) events.push_back(event.time);
    if (event.name == "commit of what is stale") commits.push_back(event.time);
  }
  EXPECT_EQ(events.size(), 2u);
  EXPECT_EQ(commits.size(), 2u);
  EXPECT_GT(commits.front(), events.back() + kStaleNs);
}

TEST(ProvenHolesOfOthers, AreRefused) {
  const std::string captures = testing::TestdataPath("captures").string();
  const Ran ran =
      RunCommand(TimelineCommand(), {captures + "/ring-v1/trace.pftrace.zst",
                                     captures + "/ring-v2/session.ops.jsonl.zst", "-o", "-"});
  EXPECT_THAT(ran.error, ::testing::HasSubstr("no sequence of the trace is as the replay of"));
  EXPECT_TRUE(ran.out.empty());
}

}  // namespace
}  // namespace ringscope
