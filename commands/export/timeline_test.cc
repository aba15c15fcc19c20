#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "commands/replays/replay_run.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/wire.h"
#include "formats/testing/testdata.h"
#include "formats/trace/life_trace.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

/// What a track event refers to by number.
using InternedTexts = std::map<uint32_t, std::map<uint64_t, std::string>>;  // by field

/// A track event as this test reads it, by the numbers of the trace format.
struct Event {
  uint64_t time = 0;
  uint64_t type = 0;  // 1 begin, 2 end, 3 instant, 4 counter
  uint64_t track = 0;
  std::string name;
  uint64_t value = 0;
  std::vector<uint64_t> flows;
  std::vector<uint64_t> ended_flows;
  std::map<std::string, std::string> args;
};

struct Track {
  std::string name;
  uint64_t parent = 0;
  std::string process;
  bool is_counter = false;
  std::string unit_name;
};

struct Trace {
  std::vector<Event> events;
  std::map<uint64_t, Track> tracks;

  std::string PathOf(uint64_t track) const {
    const Track& at = tracks.at(track);
    const std::string name = at.process.empty() ? at.name : at.process;
    return at.parent == 0 ? name : PathOf(at.parent) + " / " + name;
  }
};

template <typename Visit>
void EachField(Bytes message, Visit visit) {
  wire::FieldReader reader(message);
  while (const auto field = reader.Next()) visit(*field);
  EXPECT_TRUE(reader.ok());
}

void ReadInterned(Bytes message, InternedTexts& texts) {
  EachField(message, [&](const wire::Field& table) {
    uint64_t number = 0;
    std::string text;
    EachField(table.bytes, [&](const wire::Field& field) {
      if (field.number == 1) number = field.value;
      if (field.number == 2) text = wire::AsText(field.bytes);
    });
    EXPECT_TRUE(texts[table.number].emplace(number, text).second) << "interned twice: " << text;
  });
}

Event ParseEvent(Bytes message, const InternedTexts& texts) {
  Event event;
  const auto text_of = [&](uint32_t table, uint64_t number) { return texts.at(table).at(number); };
  EachField(message, [&](const wire::Field& field) {
    if (field.number == 9) event.type = field.value;
    if (field.number == 10) event.name = text_of(2, field.value);
    if (field.number == 11) event.track = field.value;
    if (field.number == 23) event.name = wire::AsText(field.bytes);
    if (field.number == 30) event.value = field.value;
    if (field.number == 47) event.flows.push_back(field.value);
    if (field.number == 48) event.ended_flows.push_back(field.value);
    if (field.number != 4) return;
    std::string name, value;
    EachField(field.bytes, [&](const wire::Field& part) {
      if (part.number == 1)
        name = text_of(3, part.value);
      else if (part.number == 10)
        name = wire::AsText(part.bytes);
      else if (part.number == 17)
        value = text_of(29, part.value);
      else if (part.number == 6)
        value = wire::AsText(part.bytes);
      else
        value = std::to_string(part.value);
    });
    event.args[name] = value;
  });
  return event;
}

Trace Parse(const std::string& file) {
  Trace trace;
  InternedTexts texts;
  EachField(wire::AsBytes(file), [&](const wire::Field& packet) {
    ASSERT_EQ(packet.number, 1u);
    uint64_t time = 0;
    bool has_sequence = false;
    EachField(packet.bytes, [&](const wire::Field& field) {
      if (field.number == 12) ReadInterned(field.bytes, texts);
    });
    EachField(packet.bytes, [&](const wire::Field& field) {
      if (field.number == 8) time = field.value;
      has_sequence |= field.number == 10 && field.value != 0;
      if (field.number == 11) trace.events.push_back(ParseEvent(field.bytes, texts));
      if (field.number != 60) return;
      Track track;
      uint64_t uuid = 0;
      EachField(field.bytes, [&](const wire::Field& part) {
        if (part.number == 1) uuid = part.value;
        if (part.number == 2) track.name = wire::AsText(part.bytes);
        if (part.number == 5) track.parent = part.value;
        if (part.number == 8) {
          track.is_counter = true;
          EachField(part.bytes, [&](const wire::Field& of) {
            if (of.number == 6) track.unit_name = wire::AsText(of.bytes);
          });
        }
        if (part.number == 3)
          EachField(part.bytes, [&](const wire::Field& of) {
            if (of.number == 6) track.process = wire::AsText(of.bytes);
          });
      });
      EXPECT_TRUE(trace.tracks.emplace(uuid, track).second) << "a track is described twice";
    });
    EXPECT_TRUE(has_sequence);
    if (!trace.events.empty() && trace.events.back().time == 0) trace.events.back().time = time;
  });
  // As readers do: chunks are in the file when they left, losses when they are certain.
  std::stable_sort(trace.events.begin(), trace.events.end(),
                   [](const Event& a, const Event& b) { return a.time < b.time; });
  return trace;
}

/// What a viewer relies on: known tracks, slices that nest, arrows with both ends.
void CheckForm(const Trace& trace) {
  std::map<uint64_t, std::vector<uint64_t>> open;  // by track: begin times
  std::map<uint64_t, uint64_t> flows;              // to the time of their start
  for (const Event& event : trace.events) {
    ASSERT_TRUE(trace.tracks.contains(event.track));
    EXPECT_EQ(event.type == 4, trace.tracks.at(event.track).is_counter);
    std::vector<uint64_t>& stack = open[event.track];
    if (event.type == 1) {
      EXPECT_TRUE(stack.empty()) << "a chunk overlaps another: " << trace.PathOf(event.track);
      stack.push_back(event.time);
    } else if (event.type == 2) {
      ASSERT_FALSE(stack.empty()) << "an end without beginning: " << trace.PathOf(event.track);
      stack.pop_back();
    }
    for (const uint64_t flow : event.flows)
      EXPECT_TRUE(flows.emplace(flow, event.time).second) << "an arrow starts twice";
    for (const uint64_t flow : event.ended_flows) {
      const auto start = flows.find(flow);
      ASSERT_NE(start, flows.end()) << "an arrow ends that did not start";
      EXPECT_EQ(start->second, event.time);
      flows.erase(start);
    }
  }
  for (const auto& [track, stack] : open) EXPECT_THAT(stack, IsEmpty()) << trace.PathOf(track);
  EXPECT_TRUE(flows.empty()) << "arrows that end nowhere";
}

struct Drawn {
  Trace trace;
  std::string err;
  std::string error;
};

Drawn Draw(std::vector<std::string> args, const std::string& input = "") {
  args.insert(args.end(), {"-o", "-"});
  const Ran ran = RunCommand(TimelineCommand(), args, input);
  return {Parse(ran.out), ran.err, ran.error};
}

constexpr const char* kTwo =
    R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"producer","ts":1000000000,"producer":1,"uid":7,"pid":42,"name":"app"})"
    "\n"
    R"({"op":"commit","ts":1100000000,"buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"020801"})"
    "\n"
    R"({"op":"flush","ts":1150000000,"flush":1,"producer":1})"
    "\n"
    R"({"op":"commit","ts":1200000000,"buffer":1,"producer":1,"writer":1,"chunk":1,"fragments":1,"payload":"020801"})"
    "\n"
    R"({"op":"flush_done","ts":1250000000,"producer":1,"flush":1})"
    "\n";

TEST(Timeline, Tracks_FormATree) {
  const Drawn ran = Draw({"-"}, kTwo);
  ASSERT_EQ(ran.error, "");
  CheckForm(ran.trace);
  std::vector<std::string> paths;
  for (const auto& [id, track] : ran.trace.tracks) paths.push_back(ran.trace.PathOf(id));
  const std::string buffer = "buffer 1: v2@58, 4 KiB, ring_buffer";
  EXPECT_THAT(
      paths,
      UnorderedElementsAre(
          buffer, buffer + " / buffer 1 reads", buffer + " / buffer 1 fill",
          buffer + " / buffer 1 unread", "app", "app / 1:1 (app) in buffer 1",
          // Tracks of one name are one for the UI.
          "app / 1:1 (app) in buffer 1 / 1:1 chunks", "app / 1:1 (app) in buffer 1 / 1:1 chunks",
          "app / 1:1 (app) in buffer 1 / 1:1 write rate", "flushes", "flushes / flushes"));
  const auto rate = std::ranges::find_if(
      ran.trace.tracks, [](const auto& track) { return track.second.name == "1:1 write rate"; });
  EXPECT_EQ(rate->second.unit_name, "B/s");
}

TEST(Timeline, Events_AreWhatHappened) {
  const Drawn ran = Draw({"-"}, kTwo);
  std::vector<std::string> lines;
  for (const Event& event : ran.trace.events) {
    static constexpr const char* kTypes[] = {"", "begin ", "end ", "instant ", "counter "};
    lines.push_back(std::to_string(event.time / 1'000'000) + " " + kTypes[event.type] +
                    ran.trace.tracks.at(event.track).name + " " +
                    (event.type == 4 ? std::to_string(event.value) : event.name));
  }
  EXPECT_THAT(lines, ::testing::ElementsAre(
                         "1100 counter buffer 1 fill 32", "1100 counter buffer 1 unread 32",
                         "1100 begin 1:1 chunks read", "1150 begin flushes flush",
                         "1200 counter 1:1 write rate 30", "1200 counter buffer 1 fill 64",
                         "1200 counter buffer 1 unread 64", "1200 begin 1:1 chunks read",
                         "1250 end flushes ", "1250 instant  acknowledges a flush",
                         "1250 begin buffer 1 reads read pass", "1250 end 1:1 chunks ",
                         "1250 end 1:1 chunks ", "1250 end buffer 1 reads ",
                         "1250 instant buffer 1 reads buffers were read at the end (assumed)",
                         "1250 counter buffer 1 fill 0", "1250 counter buffer 1 unread 0",
                         "1300 counter 1:1 write rate 30"));
}

TEST(Timeline, SharedMemory_HasCountersAndTheTimeWithoutAFreeChunk) {
  const Drawn ran =
      Draw({"-"}, ReadFile(testing::TestdataPath("inputs/shared-memory.ops.jsonl").string()));
  ASSERT_EQ(ran.error, "");
  CheckForm(ran.trace);
  std::vector<std::string> lines;
  for (const Event& event : ran.trace.events) {
    const std::string& name = ran.trace.tracks.at(event.track).name;
    if (name.starts_with("shared memory: no chunk") || name.ends_with(": chunks free"))
      lines.push_back(fmt::format("{} {} {}", event.time / 1'000'000, event.type, event.value));
  }
  // A counter's value is of type 4; the slice begins (1) at 1100 ms and ends (2) at 1112 ms.
  EXPECT_THAT(lines,
              ::testing::ElementsAre("1010 4 5", "1050 4 4", "1051 4 5", "1100 4 0", "1100 1 0",
                                     "1112 4 6", "1112 2 0", "1120 4 5", "1121 4 6"));
}

// The looks show chunks as held back; from their commit on they wait for the service.
TEST(Timeline, SharedMemory_CountersChangeWithACommit) {
  const Drawn ran =
      Draw({"-"}, ReadFile(testing::TestdataPath("inputs/shared-memory.ops.jsonl").string()));
  ASSERT_EQ(ran.error, "");
  std::vector<std::string> lines;
  for (const Event& event : ran.trace.events) {
    const std::string& name = ran.trace.tracks.at(event.track).name;
    for (const char* const end : {"held back by the producer", "waiting for the service"})
      if (event.type == 4 && name.ends_with(end))
        lines.push_back(fmt::format("{} {:.4} {}", event.time / 1'000'000, end, event.value));
  }
  EXPECT_THAT(lines, ::testing::ElementsAre(
                         "1010 held 0", "1010 wait 0", "1050 held 1", "1050 held 0", "1050 wait 1",
                         "1051 wait 0", "1100 held 6", "1100 held 0", "1100 wait 6", "1112 wait 0",
                         "1120 held 1", "1120 held 0", "1120 wait 1", "1121 wait 0"));
}

// The way of each chunk, by looks and commits; at most as many side by side as there are lanes.
TEST(Timeline, SharedMemory_HasTheWayOfEachChunk) {
  const std::string log =
      ReadFile(testing::TestdataPath("inputs/shared-memory.ops.jsonl").string());
  const Drawn ran = Draw({"-"}, log);
  ASSERT_EQ(ran.error, "");
  std::map<uint64_t, std::pair<uint64_t, Event>> open;  // by track: begin
  std::vector<std::string> ways;
  for (const Event& event : ran.trace.events) {
    if (ran.trace.tracks.at(event.track).name != "shared memory: chunks") continue;
    if (event.type == 1) {
      EXPECT_TRUE(open.try_emplace(event.track, event.time, event).second);
    } else {
      const auto [begin, first] = open.at(event.track);
      ways.push_back(fmt::format("{}#{} {} {}-{}", first.args.at("writer"), first.args.at("chunk"),
                                 first.name, begin / 1'000'000, event.time / 1'000'000));
      open.erase(event.track);
    }
  }
  EXPECT_TRUE(open.empty());
  // Chunks 2 to 7 of writer 1 were taken and returned between two looks.
  EXPECT_THAT(ways,
              UnorderedElementsAre(
                  "1#0 being written 1010-1050", "1#0 waiting for the service 1050-1051",
                  "1#1 being written 1050-1100", "1#1 waiting for the service 1100-1112",
                  "1#2 waiting for the service 1100-1112", "1#3 waiting for the service 1100-1112",
                  "1#4 waiting for the service 1100-1112", "1#5 waiting for the service 1100-1112",
                  "1#6 waiting for the service 1100-1112", "1#7 waiting for the service 1120-1121",
                  "2#0 being written 1010-1140", "3#0 being written 1010-1140"));
  const Drawn narrow = Draw({"--lanes", "1", "-"}, log);
  EXPECT_THAT(narrow.err, HasSubstr("no slice was drawn for the way of "));
}

TEST(Timeline, Programs_HaveCounters) {
  // Times in steps of 50 ms, so that what is folded falls into several windows.
  std::string log;
  uint64_t ns = 1'000'000'000;
  const std::string plain =
      ReadFile(testing::TestdataPath("protovm/two-producers.ops.jsonl").string());
  for (size_t at = 0; at < plain.size(); ns += 50'000'000) {
    const size_t end = plain.find('\n', at);
    log += fmt::format(R"({{"ts":{},)", ns) + plain.substr(at + 1, end - at);
    at = end + 1;
  }
  const Drawn ran = Draw({"-"}, log);
  ASSERT_EQ(ran.error, "");
  CheckForm(ran.trace);
  uint64_t folded = 0, losses = 0;
  double per_second = 0;
  std::map<std::string, uint64_t> last;  // values of counters
  for (const Event& event : ran.trace.events) {
    const std::string& track = ran.trace.tracks.at(event.track).name;
    folded += event.name == "folded" ? 1 : 0;
    losses += event.type == 3 && event.name == "overwritten" ? 1 : 0;
    if (event.type != 4) continue;
    last[track] = event.value;
    if (track == "buffer 0 program 0 of elements: folded")
      per_second += static_cast<double>(event.value);
  }
  EXPECT_EQ(losses, 0u);
  EXPECT_GT(folded, 0u);
  EXPECT_EQ(per_second / 10, 5) << "windows are 100 ms";
  EXPECT_EQ(last["buffer 0 program 0 of elements: memory"], 960u);
  EXPECT_EQ(last["buffer 0 program 0 of elements: state"], 18u);
  EXPECT_EQ(last["buffer 0 program 0 of elements: folded"], 0u);
}

TEST(Timeline, Lanes_AreLimited) {
  const Drawn ran = Draw({"-", "--lanes", "1"}, kTwo);
  CheckForm(ran.trace);
  EXPECT_THAT(ran.err, HasSubstr("no slice was drawn for 1 chunk, as"));
  size_t slices = 0;
  for (const Event& event : ran.trace.events) slices += event.args.contains("taken") ? 1 : 0;
  EXPECT_EQ(slices, 1u);
}

TEST(Timeline, LogWithoutTimes_CountsRecords) {
  const Drawn ran = Draw(
      {"-"}, R"({"op":"buffer","id":0,"size":4096,"policy":"ring_buffer"})"
             "\n"
             R"({"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"020801"})"
             "\n");
  CheckForm(ran.trace);
  ASSERT_FALSE(ran.trace.events.empty());
  EXPECT_EQ(ran.trace.events.front().time, 1000u);
}

class TimelineOverCaptures : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, TimelineOverCaptures,
                         ::testing::Values("v1", "v2@54", "v2@56", "v2@58"), [](const auto& test) {
                           std::string name = test.param;
                           std::replace(name.begin(), name.end(), '@', '_');
                           return name;
                         });

TEST_P(TimelineOverCaptures, AddsUpWithTheReplay) {
  int captures = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(RS_TESTDATA) + "/captures")) {
    SCOPED_TRACE(entry.path());
    const std::string log = entry.path() / "session.ops.jsonl.zst";
    const Drawn ran = Draw({log, "--engine", GetParam()});
    ASSERT_EQ(ran.error, "");
    CheckForm(ran.trace);

    MemoryRun memory;
    LedgerSink accounts;
    Ledger ledger(accounts);
    ReplayChoices choices;
    choices.session.all.engine = GetParam();
    SessionReader sessions(memory.context, {{log}, {}}, "replaying");
    ASSERT_TRUE(sessions.NextSession().value());
    const auto outcome = ReplaySession(memory.context, sessions, choices, {.ledger = &ledger});
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    uint64_t written = 0, rewritten = 0, lost = 0, passes = 0;
    for (const BufferOutcome& buffer : outcome->buffers) {
      written += buffer.stats.chunks_written;
      rewritten += buffer.stats.chunks_rewritten;
    }
    for (const auto& [id, totals] : ledger.totals()) lost += totals.lost().packets;

    std::map<std::string, uint64_t> taken;
    uint64_t lost_shown = 0;
    for (const Event& event : ran.trace.events) {
      if (event.args.contains("taken")) ++taken[event.args.at("taken")];
      if (event.args.contains("fate")) lost_shown += std::stoull(event.args.at("packets"));
      passes += event.name.starts_with("read pass") ? 1 : 0;
    }
    EXPECT_EQ(taken["committed"] + taken["relocated"], written);
    EXPECT_GE(taken["rewritten"], rewritten) << "V2 reports those that have not grown as well";
    EXPECT_EQ(lost_shown, lost);
    EXPECT_GE(passes, outcome->read_passes);
    ++captures;
  }
  EXPECT_EQ(captures, 7);
}

TEST(Lanes, AreUsedAgain_LowestFirst) {
  Lanes lanes;
  EXPECT_EQ(lanes.Take(), 0u);
  EXPECT_EQ(lanes.Take(), 1u);
  EXPECT_EQ(lanes.Take(), 2u);
  lanes.Give(1);
  lanes.Give(0);
  EXPECT_EQ(lanes.Take(), 0u);
  EXPECT_EQ(lanes.Take(), 1u);
  EXPECT_EQ(lanes.Take(), 3u);
  EXPECT_EQ(lanes.size(), 4u);
}

TEST(Timeline, LifeOfTheSession_HasTracks) {
  const Drawn ran = Draw({std::string(RS_SOURCE_DIR) + "/testdata/inputs/life.ops.jsonl"});
  ASSERT_EQ(ran.error, "");
  CheckForm(ran.trace);
  std::vector<std::string> slices, instants;
  for (const Event& event : ran.trace.events) {
    const std::string text = ran.trace.PathOf(event.track) + ": " + event.name;
    if (event.type == 1) slices.push_back(text);
    if (event.type == 3) instants.push_back(text);
  }
  EXPECT_THAT(slices, ::testing::Contains("tracing session 1: tracing session 1 ci"));
  EXPECT_THAT(slices, ::testing::Contains("app / data source track_event (1): track_event"));
  EXPECT_THAT(instants, ::testing::Contains("app / data source track_event (1): reports its stop"));
  EXPECT_THAT(instants, ::testing::Contains("app: trigger jank"));
  EXPECT_THAT(instants, ::testing::Contains("app: clear incremental state"));
  EXPECT_THAT(instants, ::testing::Contains("clones: clone 1 takes over a buffer"));
  const auto late = std::ranges::find_if(ran.trace.events, [](const Event& event) {
    return event.name == "acknowledges a flush" && event.args.at("flush") == "1" &&
           event.args.at("producer") == "2";
  });
  ASSERT_NE(late, ran.trace.events.end());
  EXPECT_EQ(late->args.at("latency_ns"), "12900000");
}

}  // namespace
}  // namespace ringscope
