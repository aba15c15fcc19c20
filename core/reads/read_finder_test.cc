#include <gmock/gmock.h>

#include <algorithm>

#include "core/log/session_index.h"
#include "core/perfetto/packet_facts.h"
#include "core/reads/ready_times.h"
#include "core/session/replay.h"
#include "core/testing/session_log.h"

namespace ringscope::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr uint64_t kFinderMs = 1'000'000;

/// A stored session; its requests' bytes live as long as it.
class StoredSession {
 public:
  void Add(Op op) { ops_.push_back(std::move(op)); }
  /// A chunk with one packet of 3 + `size` bytes, different from all others.
  /// @param valid whether the service lets it into the trace: its field is 900, not 35
  void Commit(uint32_t writer, uint32_t chunk, size_t size = 4, bool patch = false,
              bool valid = true) {
    std::string packet = valid ? "\xA2\x38" : "\x9A\x02";
    packet += static_cast<char>(size);
    std::string content = std::to_string(++packets_);
    content.resize(size, '.');
    packet += content;
    std::string payload(1, static_cast<char>(packet.size()));
    Chunk raw(1, static_cast<uint16_t>(writer), chunk);
    raw.Raw(payload + packet).Counting(1);
    if (patch) raw.NeedsPatching();
    requests_.push_back(std::make_unique<Request>(1));
    requests_.back()->Move(0, raw);
    Timed(requests_.back()->op());
  }
  /// Commits a chunk whose packet is like that of the last one.
  void CommitAgain(uint32_t writer, uint32_t chunk, size_t size) {
    packets_ = 0;
    Commit(writer, chunk, size);
  }
  void Patch(uint16_t writer, uint32_t chunk) {
    requests_.push_back(std::make_unique<Request>(1));
    requests_.back()->Patch(0, writer, chunk, 4, "PPPP");
    Timed(requests_.back()->op());
  }
  void Read() {
    ReadPass read;
    read.reason = ReadReason::kFile;
    Timed({.time_ns = {}, .body = read});
  }
  OpenOps WithoutReads() const {
    return [this]() -> Result<std::unique_ptr<OpSource>> {
      return std::make_unique<Source>(ops_, /*reads=*/false);
    };
  }
  std::unique_ptr<OpSource> Open() const { return std::make_unique<Source>(ops_, /*reads=*/true); }

 private:
  class Source : public OpSource {
   public:
    Source(const std::vector<Op>& ops, bool reads) : ops_(ops), reads_(reads) {}
    Result<std::optional<Op>> Next() override {
      while (next_ < ops_.size() && !reads_ && std::holds_alternative<ReadPass>(ops_[next_].body))
        ++next_;
      if (next_ == ops_.size()) return std::optional<Op>();
      return ops_[next_++];
    }

   private:
    const std::vector<Op>& ops_;
    const bool reads_;
    size_t next_ = 0;
  };
  void Timed(Op op) {
    op.time_ns = (now_ms_ += 10) * kFinderMs;
    ops_.push_back(std::move(op));
  }

  std::vector<Op> ops_;
  std::vector<std::unique_ptr<Request>> requests_;
  uint64_t now_ms_ = 0;
  int packets_ = 0;
};

/// What the service would have written: the packets of a replay, and an event after each read.
class FileMaker : public ReplayListener {
 public:
  void OnRecord(const Op&, const LogMoment& moment) override { now_ = moment.time_ns; }
  Status OnPacket(const SessionPacket& packet) override {
    if (packet.valid)
      file.packets.push_back({HashOfPacket(Joined(packet.packet->slices, joined_)),
                              packet.sequence_id + 100, packet.packet->dropped});
    return {};
  }
  void OnReadDone(BufferId, uint64_t) override {
    file.marks.push_back({file.packets.size(), now_});
  }
  Status OnLogEnd(Session& session) override {
    for (const auto& [id, buffer] : session.buffers()) file.stats.push_back(buffer.engine->stats());
    return {};
  }

  WrittenFile file;

 private:
  std::optional<uint64_t> now_;
  std::string joined_;
};

WrittenFile FileOf(const StoredSession& session) {
  FileMaker maker;
  Replay replay({.reads = {ReadsMode::kRecorded}}, maker);
  const auto ops = session.Open();
  while (const auto op = ops->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  return std::move(maker.file);
}

std::vector<uint64_t> PlacesOf(const FoundReads& found) {
  std::vector<uint64_t> places;
  for (const FoundRead& read : found.reads) places.push_back(read.after);
  return places;
}

// 4 KiB, written three times over, and read after each 10 chunks of 136 bytes.
StoredSession SomeReads() {
  StoredSession session;
  session.Add(BufferOp(0));
  for (uint32_t chunk = 0; chunk < 90; ++chunk) {
    session.Commit(1 + chunk % 3, chunk / 3, 100);
    if (chunk % 10 == 9) session.Read();
  }
  return session;
}

TEST(FindReads, FindsEachReadByItsEvent) {
  const StoredSession session = SomeReads();
  const FoundReads found = FindReads(session.WithoutReads(), {}, FileOf(session)).value();
  EXPECT_EQ(found.explained, 90u);
  EXPECT_FALSE(found.unexplained);
  EXPECT_THAT(found.different_stats, IsEmpty());
  EXPECT_TRUE(found.has_stats);
  EXPECT_LE(found.replays, 2u);
  EXPECT_THAT(PlacesOf(found), ElementsAre(11, 21, 31, 41, 51, 61, 71, 81, 91));
  // Each record makes a packet readable: nothing else is possible.
  for (const FoundRead& read : found.reads) EXPECT_EQ(read.earliest, read.latest);
}

// A packet that waits for its patch is read later than what was written after it.
TEST(FindReads, PacketsThatWaitAreInTheNextRead) {
  StoredSession session;
  session.Add(BufferOp(0));
  session.Commit(1, 0, 8, /*patch=*/true);
  session.Commit(2, 0);
  session.Read();
  session.Commit(2, 1);
  session.Patch(1, 0);
  session.Read();
  WrittenFile file = FileOf(session);
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  EXPECT_EQ(found.explained, 3u);
  EXPECT_THAT(PlacesOf(found), ElementsAre(3, 5));
}

// A record that makes nothing readable may be before the read or after it.
TEST(FindReads, ReportsWhereElseAReadMayHaveBeen) {
  StoredSession session;
  session.Add(BufferOp(0));
  session.Commit(1, 0);
  session.Add({.time_ns = 15 * kFinderMs, .body = Note{"a"}});
  session.Add({.time_ns = 16 * kFinderMs, .body = Note{"b"}});
  session.Read();
  session.Commit(1, 1);
  session.Read();
  const FoundReads found = FindReads(session.WithoutReads(), {}, FileOf(session)).value();
  ASSERT_EQ(found.reads.size(), 2u);
  EXPECT_EQ(found.reads[0].earliest, 2u);
  EXPECT_EQ(found.reads[0].latest, 4u);
  EXPECT_EQ(found.reads[0].packets, 1u);
}

// The event's time is wrong, so that the buffer has wrapped at its record: another place is found.
TEST(FindReads, TriesOtherPlacesWhereTheTimeMisleads) {
  StoredSession session;
  session.Add(BufferOp(0));
  for (uint32_t chunk = 0; chunk < 20; ++chunk) session.Commit(1, chunk, 100);
  session.Read();
  // None of these is in the file, and they overwrite the others.
  for (uint32_t chunk = 0; chunk < 40; ++chunk)
    session.Commit(2, chunk, 100, /*patch=*/false, /*valid=*/false);
  session.Read();
  WrittenFile file = FileOf(session);
  file.marks[0].time_ns = 500 * kFinderMs;
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  EXPECT_EQ(found.explained, 20u);
  EXPECT_FALSE(found.unexplained);
  EXPECT_EQ(found.replays, 3u);
  EXPECT_EQ(found.reads[0].after, 21u);
}

// The packets of a sequence are all alike: only what the buffers hold tells where a read was.
TEST(FindReads, PacketsThatAreAlike_AreFoundNearTheEvents) {
  StoredSession session;
  session.Add(BufferOp(0));
  for (uint32_t chunk = 0; chunk < 90; ++chunk) {
    session.CommitAgain(1, chunk, 100);
    if (chunk % 45 == 44) session.Read();
  }
  WrittenFile file = FileOf(session);
  for (WrittenFile::Mark& mark : file.marks) *mark.time_ns -= 15 * kFinderMs;
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  EXPECT_FALSE(found.unexplained);
  EXPECT_EQ(found.explained, file.packets.size());
}

// The file was full within a read: the replay returns more there, which is no contradiction.
TEST(FindReads, FileThatEndsWithinARead_IsExplained) {
  const StoredSession session = SomeReads();
  WrittenFile file = FileOf(session);
  file.packets.resize(file.packets.size() - 3);
  file.marks.pop_back();
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  EXPECT_FALSE(found.unexplained);
  EXPECT_EQ(found.explained, 87u);
}

TEST(FindReads, NamesTheFirstPacketThatNothingExplains) {
  const StoredSession session = SomeReads();
  WrittenFile file = FileOf(session);
  file.packets[42].hash ^= 1;
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  ASSERT_TRUE(found.unexplained);
  EXPECT_EQ(found.unexplained->packet, 42u);
  EXPECT_EQ(found.unexplained->read, 4u);
  EXPECT_EQ(found.unexplained->why, UnexplainedPacket::Why::kNotInLog);
  EXPECT_EQ(found.explained, 42u);
}

TEST(FindReads, NamesAPacketWithOtherLossBits) {
  const StoredSession session = SomeReads();
  WrittenFile file = FileOf(session);
  file.packets[42].dropped ^= 1;
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  ASSERT_TRUE(found.unexplained);
  EXPECT_EQ(found.unexplained->packet, 42u);
  EXPECT_EQ(found.unexplained->why, UnexplainedPacket::Why::kLossBits);
}

// Read every 100 ms; the file has no events.
TEST(FindReads, WithoutEventsLooksNearThePeriods) {
  StoredSession session;
  session.Add(BufferOp(0));
  for (uint32_t chunk = 0; chunk < 90; ++chunk) {
    session.Commit(1 + chunk % 3, chunk / 3, 100);
    if (chunk % 9 == 7) session.Read();
  }
  session.Read();
  WrittenFile file = FileOf(session);
  file.marks.clear();
  file.config.emplace().write_into_file = true;
  file.config->file_write_period_ms = 100;
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  EXPECT_FALSE(found.from_events);
  EXPECT_EQ(found.explained, 90u);
}

// A ring that is longer than a period, and is not written into a file.
TEST(FindReads, WithoutEventsASessionOfAConsumerIsReadAtItsEnd) {
  StoredSession session;
  session.Add(BufferOp(0));
  for (uint32_t chunk = 0; chunk < 60; ++chunk) session.Commit(1, chunk, 100);
  session.Read();
  WrittenFile file = FileOf(session);
  file.marks.clear();
  file.config.emplace().file_write_period_ms = 100;
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  EXPECT_EQ(found.explained, file.packets.size());
  EXPECT_THAT(PlacesOf(found), ElementsAre(61));
}

// The found reads, stored: the replay as recorded is the file.
TEST(InsertedReads, MakeTheReplayEqualToTheFile) {
  const StoredSession session = SomeReads();
  const WrittenFile file = FileOf(session);
  const FoundReads found = FindReads(session.WithoutReads(), {}, file).value();
  InsertedReads with_reads(session.WithoutReads()().value(), found.reads);
  FileMaker again;
  Replay replay({}, again);
  while (const auto op = with_reads.Next().value()) ASSERT_TRUE(replay.Apply(*op));
  ASSERT_TRUE(replay.Finish());
  ASSERT_EQ(again.file.packets.size(), file.packets.size());
  for (size_t i = 0; i < file.packets.size(); ++i)
    EXPECT_EQ(again.file.packets[i].hash, file.packets[i].hash);
  EXPECT_EQ(again.file.stats, file.stats);
}

// Statistics of the session number its writers at the read that they are added to.
TEST(InsertedReads, AreOfTheSessionThatIsWritten) {
  TraceConfigRecord config{.session = 7};
  wire::AppendUint(config.config, 8, 1);  // write_into_file
  StoredSession session;
  session.Add({.time_ns = 1, .body = config});
  session.Add(BufferOp(0));
  session.Commit(1, 0);
  InsertedReads with_reads(session.WithoutReads()().value(), {{.after = 3}});
  std::vector<std::optional<uint64_t>> sessions;
  while (const auto op = with_reads.Next().value())
    if (const auto* const read = std::get_if<ReadPass>(&op->body))
      sessions.push_back(read->session);
  EXPECT_THAT(sessions, ElementsAre(7u));
}

// The first pass finds what the recorded reads left; the second one has it from the first.
TEST(NotedReads, NoteWhichPassesLeftNothing) {
  StoredSession session = SomeReads();
  ReadPass one;
  one.max_bytes = 1;
  session.Commit(1, 30);
  session.Commit(1, 31);
  session.Add({.time_ns = {}, .body = one});
  session.Add({.time_ns = {}, .body = ReadPass()});
  const auto reads = std::make_shared<RecordedReads>();
  for (int pass = 0; pass < 2; ++pass) {
    NotedReads ops(reads, session.Open());
    std::vector<bool> left_nothing;
    while (const auto op = ops.Next().value())
      if (const auto* read = std::get_if<ReadPass>(&op->body))
        left_nothing.push_back(read->left_nothing.value());
    ASSERT_GT(left_nothing.size(), 2u);
    EXPECT_FALSE(left_nothing.front()) << "reads for a file have no limit";
    EXPECT_FALSE(left_nothing[left_nothing.size() - 2]) << "it reached its limit";
    EXPECT_TRUE(left_nothing.back());
  }
  EXPECT_TRUE(IndexSession(*session.Open()).value().has_limited_reads);
  EXPECT_TRUE(IndexSession(*SomeReads().Open()).value().has_reads);
  EXPECT_FALSE(IndexSession(*session.WithoutReads()().value()).value().has_reads);
}

}  // namespace
}  // namespace ringscope::testing
