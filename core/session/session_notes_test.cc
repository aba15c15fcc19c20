#include "core/session/session_notes.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/testing/message_text.h"

namespace ringscope {
namespace {

constexpr SequenceKey kSequence = {ProducerId{1}, WriterId{2}};

void AddField(std::string& message, uint32_t number, const std::string& bytes) {
  wire::AppendBytes(message, number, wire::AsBytes(bytes));
}

/// A packet that describes the track of a thread with this name.
std::string ThreadTrack(const std::string& name) {
  constexpr uint32_t kThread = 4, kThreadName = 5;
  std::string thread, descriptor, packet;
  AddField(thread, kThreadName, name);
  AddField(descriptor, kThread, thread);
  AddField(packet, proto::TracePacket::kTrackDescriptor, descriptor);
  return packet;
}

/// Two fragments, with size varints of four bytes as trace writers make them.
std::string Payload(const std::string& first, const std::string& second) {
  std::string payload;
  for (const std::string& packet : {first, second}) {
    for (int i = 0; i < 4; ++i)
      payload += static_cast<char>((packet.size() >> (7 * i) & 0x7F) | (i < 3 ? 0x80 : 0));
    payload += packet;
  }
  return payload;
}

void CommitChunk(SessionNotes& notes, const std::string& payload) {
  notes.OnChunk(
      BufferId{1},
      {.sequence = kSequence, .identity = {}, .fragments = 2, .payload = wire::AsBytes(payload)},
      {});
}

TEST(SessionNotes, ThreadsAreNamedByTheirFirstPackets) {
  SessionNotes notes;
  EXPECT_EQ(notes.ThreadOf(kSequence), "");
  CommitChunk(notes, Payload("", ThreadTrack("render")));
  CommitChunk(notes, Payload(ThreadTrack("another"), ""));
  EXPECT_EQ(notes.ThreadOf(kSequence), "render");
}

// A writer is of the only data source that was started and had none.
TEST(SessionNotes, SourcesAreKnownByTheOrderOfStartsAndWriters) {
  constexpr ProducerId kProducer{1};
  constexpr BufferId kBuffer{1};
  const auto source_of = [](SessionNotes& notes, uint16_t writer) {
    notes.OnRecord({{}, WriterRegistered{kProducer, WriterId{writer}, kBuffer}}, {});
    return notes.SourceOf({kProducer, WriterId{writer}}, kBuffer);
  };
  const auto start = [](SessionNotes& notes, uint64_t instance) {
    notes.OnRecord({{}, DataSourceStarted{kProducer, instance}}, {});
  };
  for (const bool in_turn : {true, false}) {
    SessionNotes notes;
    for (const auto& [instance, name] : {std::pair(1, "hot"), std::pair(2, "rare")})
      notes.OnRecord(
          {{}, DataSourceSetUp{kProducer, static_cast<uint64_t>(instance), name, kBuffer}}, {});
    start(notes, 1);
    if (!in_turn) start(notes, 2);
    EXPECT_EQ(source_of(notes, 1), in_turn ? "hot" : "");
    if (in_turn) start(notes, 2);
    EXPECT_EQ(source_of(notes, 2), in_turn ? "rare" : "");
  }
}

// Of several data sources of a producer in a buffer, ftrace is known by its content.
TEST(SessionNotes, SourcesOfSequences) {
  const auto set_up = [](SessionNotes& notes, const char* name) {
    notes.OnRecord(
        {{},
         DataSourceSetUp{.producer = ProducerId{1}, .name = name, .target_buffer = BufferId{1}}},
        {});
  };
  const std::string bundle = {proto::TracePacket::kFtraceEvents << 3 | 2, 0};
  for (const auto& [packet, source] :
       {std::pair(bundle, "linux.ftrace"), {ThreadTrack("x"), "linux.process_stats"}}) {
    SessionNotes notes;
    EXPECT_EQ(notes.SourceOf(kSequence, BufferId{1}), "");
    set_up(notes, "track_event");
    EXPECT_EQ(notes.SourceOf(kSequence, BufferId{1}), "track_event");
    EXPECT_EQ(notes.SourceOf(kSequence, BufferId{2}), "");
    SessionNotes both;
    set_up(both, "linux.ftrace");
    set_up(both, "linux.process_stats");
    CommitChunk(both, Payload(packet, ""));
    EXPECT_EQ(both.SourceOf(kSequence, BufferId{1}), source);
    set_up(both, "linux.sys_stats");
    EXPECT_EQ(both.SourceOf(kSequence, BufferId{1}), packet == bundle ? "linux.ftrace" : "");
  }
}

TEST(SessionNotes, ChromiumsProcessesHaveTheirPidInTheName) {
  const auto pid_of = [](const char* name) {
    SessionNotes notes;
    notes.OnRecord({{}, ProducerConnected{.producer = ProducerId{1}, .pid = 6000, .name = name}},
                   {});
    return notes.PidOf(kSequence);
  };
  EXPECT_EQ(pid_of("org.chromium-6076"), 6076);
  EXPECT_EQ(pid_of("org.chromium-gpu"), 6000);
  EXPECT_EQ(pid_of("worker-7"), 6000);
}

TEST(SessionNotes, LaterChunksAreNotLookedAt) {
  SessionNotes notes;
  CommitChunk(notes, Payload("", ""));
  CommitChunk(notes, Payload("", "\x0F"));
  CommitChunk(notes, Payload(ThreadTrack("late"), ""));
  EXPECT_EQ(notes.ThreadOf(kSequence), "");
}

TEST(SessionNotes, SequencesHaveTheirIdInTheTrace) {
  SessionNotes notes;
  EXPECT_EQ(notes.TraceIdOf(kSequence), 0u);
  Packet packet;
  packet.sequence = kSequence;
  ASSERT_TRUE(notes.OnPacket({.buffer = BufferId{1}, .packet = &packet, .sequence_id = 7}));
  ASSERT_TRUE(notes.OnPacket({.buffer = BufferId{1}, .packet = &packet, .sequence_id = 0}));
  EXPECT_EQ(notes.TraceIdOf(kSequence), 7u);
}

}  // namespace
}  // namespace ringscope

namespace ringscope::testing {
namespace {

/// A ClockSnapshot message: what two clocks showed at one moment.
std::string Snapshot(uint64_t real_ns, uint64_t boot_ns) {
  constexpr uint32_t kClocks = 1, kClockId = 1, kTimestamp = 2, kReal = 1;
  return Sub(kClocks, Uint(kClockId, kReal) + Uint(kTimestamp, real_ns)) +
         Sub(kClocks, Uint(kClockId, kBootTime) + Uint(kTimestamp, boot_ns));
}

TEST(SessionClock, TimesAreFromTheFirstRecordOn) {
  SessionClock clock;
  clock.AddRecord({.time_ns = 2'000'000'000, .body = Note{}});
  EXPECT_EQ(clock.start_ns(), 2'000'000'000u);
  EXPECT_FALSE(clock.wall_offset_ns());
  clock.AddRecord(
      {.time_ns = 2'500'000'000,
       .body = ClockSnapshotRecord{Snapshot(1'700'000'000'000'000'000, 2'000'000'000)}});
  EXPECT_EQ(clock.Text(3'250'000'000), "1.250 s");
  EXPECT_EQ(clock.Text(1'000'000'000), "-1.000 s");
  EXPECT_EQ(clock.wall_offset_ns(), 1'699'999'998'000'000'000u);
}

// A recording may begin long before its session does.
TEST(SessionClock, TimesAreFromTheSessionsStartOn) {
  SessionClock clock;
  clock.AddRecord({.time_ns = 2'000'000'000, .body = Note{}});
  for (const uint64_t ns : {9'000'000'000, 9'500'000'000})
    clock.AddRecord({.time_ns = ns, .body = SessionChanged{.change = SessionChange::kStarted}});
  EXPECT_EQ(clock.Text(9'250'000'000), "250.0 ms");
  EXPECT_EQ(clock.Text(8'000'000'000), "-1.000 s");
}

}  // namespace
}  // namespace ringscope::testing
