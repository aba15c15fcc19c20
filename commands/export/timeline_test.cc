#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "commands/session/replay_run.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/track_reader.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using testing::Event;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::ParseTracks;
using testing::Trace;
using ::testing::UnorderedElementsAre;

/// Checks that tracks are known and that slices do not overlap: viewers rely on it.
void CheckForm(const Trace& trace) {
  std::map<uint64_t, std::vector<uint64_t>> open;  // by track: begin times
  for (const Event& event : trace.events) {
    ASSERT_TRUE(trace.tracks.contains(event.track));
    EXPECT_EQ(event.type == 4, trace.tracks.at(event.track).is_counter);
    std::vector<uint64_t>& stack = open[event.track];
    if (event.type == 1) {
      EXPECT_TRUE(stack.empty()) << "a pass overlaps another: " << trace.PathOf(event.track);
      stack.push_back(event.time);
    } else if (event.type == 2) {
      ASSERT_FALSE(stack.empty()) << "an end without beginning: " << trace.PathOf(event.track);
      stack.pop_back();
    }
  }
  for (const auto& [track, stack] : open) EXPECT_THAT(stack, IsEmpty()) << trace.PathOf(track);
}

struct Drawn {
  Trace trace;
  std::string err;
  std::string error;
};

Drawn Draw(std::vector<std::string> args, const std::string& input = "") {
  args.insert(args.end(), {"-o", "-"});
  const Ran ran = RunCommand(TimelineCommand(), args, input);
  return {ParseTracks(ran.out), ran.err, ran.error};
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
  const std::string buffer = "buffers[0]: v2@58, 4 KiB, ring_buffer";
  EXPECT_THAT(paths,
              UnorderedElementsAre(buffer, buffer + " / buffers[0] reads",
                                   buffer + " / buffers[0] fill", buffer + " / buffers[0] unread",
                                   buffer + " / buffers[0] reach", "tracing session"));
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
  EXPECT_THAT(lines,
              ::testing::ElementsAre(
                  "1000 instant tracing session producer", "1100 counter buffers[0] fill 32",
                  "1100 counter buffers[0] unread 32", "1100 counter buffers[0] reach 0",
                  "1150 instant tracing session flush", "1200 counter buffers[0] fill 64",
                  "1200 counter buffers[0] unread 64", "1200 counter buffers[0] reach 100000000",
                  "1250 instant buffers[0] reads read pass",
                  "1250 instant buffers[0] reads buffers were read at the end (assumed)",
                  "1250 counter buffers[0] fill 0", "1250 counter buffers[0] unread 0",
                  "1250 counter buffers[0] reach 0", "1250 instant tracing session flush_done"));
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
                         ::testing::Values("v1", "v2@54", "v2@56", "v2@58"),
                         testing::NameOfParam<const char*>);

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
    ReplayChoices choices;
    choices.session.all.engine = GetParam();
    SessionReader sessions(memory.context, {{log}, {}}, "replaying");
    ASSERT_TRUE(sessions.NextSession().value());
    ReplayRun run(memory.context, sessions, choices);
    run.KeepAccounts();
    const auto outcome = run.ToEnd();
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    uint64_t lost = 0, passes = 0, lost_shown = 0;
    for (const auto& [id, totals] : run.totals()) lost += totals.lost().packets;
    for (const Event& event : ran.trace.events) {
      if (event.args.contains("cause") && event.args.contains("packets") && event.name != "folded")
        lost_shown += std::stoull(event.args.at("packets"));
      passes += event.name.starts_with("read pass") ? 1 : 0;
    }
    EXPECT_EQ(lost_shown, lost);
    EXPECT_GE(passes, outcome->read_passes);
    ++captures;
  }
  EXPECT_EQ(captures, 7);
}

}  // namespace
}  // namespace ringscope
