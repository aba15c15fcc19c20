// Small sessions, each with one thing in it that is easily explained wrong.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/view/json_fields.h"
#include "core/gaps/gap_report.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string SmallSession(const std::string& name) {
  return std::string(RS_TESTDATA) + "/sessions/" + name +
         (name.find('.') == std::string::npos ? ".ops.jsonl.zst" : "");
}

/// The session's gaps, as a document.
Json GapsOf(const std::string& name, std::vector<std::string> options = {}) {
  options.insert(options.end(), {"--format", "json", SmallSession(name)});
  return testing::ParsedJson(RunCommand(GapsCommand(), options).out)["sessions"][0];
}

std::string GapsTextOf(const std::string& name, std::vector<std::string> options = {}) {
  options.emplace_back("--all");
  options.push_back(SmallSession(name));
  return WithoutLineBreaks(RunCommand(GapsCommand(), options).out);
}

Json FindingsOf(const std::string& name) {
  return testing::ParsedJson(
      RunCommand(DoctorCommand(), {"--format", "json", SmallSession(name)}).out)["traces"][0];
}

std::string AnswerLineOf(const Json& session, const std::string& label) {
  for (const Json& line : session["answer"]["lines"])
    if (line["label"] == label) return line["text"].get<std::string>();
  return "";
}

/// The causes of the lost packets.
std::vector<std::string> CausesOf(const Json& session) {
  std::vector<std::string> causes;
  for (const Json& gap : session["gaps"])
    for (const Json& cause : gap["causes"]) causes.push_back(cause["cause"].get<std::string>());
  return causes;
}

/// The least size that keeps all packets, in KiB, by a replay; 0: no size is among the remedies.
int SizeThatKeepsAll(const Json& session) {
  for (const Json& remedy : session["remedies"])
    if (remedy["kind"] == "size" && !remedy["replayed"].is_null() &&
        remedy["replayed"]["lost"] == 0)
      return remedy["least_size"].get<int>() / 1024;
  return 0;
}

// A writer's additions to a scraped chunk that was overwritten are overwritten, too.
TEST(SmallSessions, Scrapeover_IsAnOverwrite) {
  const Json session = GapsOf("scrapeover");
  EXPECT_THAT(CausesOf(session), ElementsAre("evicted"));
  EXPECT_EQ(SizeThatKeepsAll(session), 8);
  EXPECT_THAT(GapsTextOf("scrapeover"), Not(HasSubstr("out of order")));
}

TEST(SmallSessions, Toolarge_ALargerBufferHelps) {
  const Json session = GapsOf("toolarge");
  EXPECT_THAT(CausesOf(session), ElementsAre("too_large"));
  EXPECT_EQ(SizeThatKeepsAll(session), 8);
}

// The headline's change is for what it names; a size that keeps all needs no cleared state.
TEST(SmallSessions, ChangesBelongToTheHeadline) {
  const Json idle = FindingsOf("idlecpu")["answer"];
  EXPECT_THAT(idle["headline"], HasSubstr("kernel"));
  EXPECT_EQ(idle["change"], "");
  EXPECT_THAT(idle["lines"].dump(), HasSubstr("flush_period_ms"));
  EXPECT_EQ(GapsOf("intern0")["answer"]["change"],
            "buffers[0].size_kb 4 -> 64, which keeps everything; 128 for 10.000 s "
            "at this rate (an estimate)");
}

TEST(SmallSessions, Scrapeonly_NoFlushHelps) {
  const std::string text = GapsTextOf("scrapeonly");
  EXPECT_THAT(text, HasSubstr("not finished when the service scraped"));
  EXPECT_THAT(text, Not(HasSubstr("a flush would help")));
}

// The patch comes after the overwrite: the stall is the cause all the same.
TEST(SmallSessions, Patchover_TheStallIsTheCause) {
  const Json gap = GapsOf("patchover")["gaps"][0];
  EXPECT_EQ(gap["causes"][0]["cause"], "awaited_patch");
  const Json stall = gap["blamed"][0]["stall"];
  EXPECT_EQ(stall["passes"], 1);
  EXPECT_EQ(stall["end"], Name(StallEnd::kOverwritten));
  EXPECT_EQ(stall["patched"]["time_ns"].get<uint64_t>() - stall["ended"]["time_ns"].get<uint64_t>(),
            2'000'000u);
  EXPECT_EQ(stall["newer_by"], "2:1");
  EXPECT_THAT(GapsTextOf("patchover"),
              HasSubstr("for 3.97 KiB of newer data, 91.3% of it by sequence 3 (other, 2:1)"));
}

TEST(SmallSessions, Behind_TwoReadsWaited) {
  const Json session = GapsOf("behind");
  for (const Json& blame : session["gaps"][0]["blamed"]) {
    EXPECT_EQ(blame["stall"]["passes"], 2);
    EXPECT_EQ(blame["stall"]["packets"], 5);
    EXPECT_FALSE(blame["stall"]["patched"].is_null());
  }
  EXPECT_EQ(session["gaps"][0]["evicted_by"][0]["sequence"], "2:1");
  for (const Json& remedy : session["remedies"]) EXPECT_NE(remedy["kind"], "read_period");
}

TEST(SmallSessions, Patchwrong_IsReported) {
  const Json session = GapsOf("patchwrong");
  ASSERT_EQ(session["wrong_patches"].size(), 1u);
  EXPECT_EQ(session["wrong_patches"][0]["chunk"], "1:1#0");
  EXPECT_EQ(FindingsOf("patchwrong")["verdict"], "1 patch changed what its writer had completed.");
  EXPECT_THAT(session["gaps"], IsEmpty());
}

TEST(SmallSessions, Recommit_WhatIsRefusedIsInTheAccounts) {
  const Json buffer = GapsOf("recommit")["buffers"][0];
  EXPECT_EQ(buffer["written"]["packets"], 4);
  EXPECT_EQ(buffer["fates"]["read"]["packets"], 1);
  EXPECT_EQ(buffer["fates"]["discarded"]["packets"], 3);
}

TEST(SmallSessions, Abi2_NothingBeginsThePacket) {
  const Json gap = GapsOf("abi2")["gaps"][0];
  EXPECT_EQ(gap["causes"][0]["cause"], "no_beginning");
  EXPECT_EQ(gap["content"][0]["kind"], "unknown");
}

TEST(SmallSessions, Clone_ThePatchCameAfterIt) {
  EXPECT_THAT(GapsTextOf("clone", {"--clone", "1"}), HasSubstr("1.0 ms after the clone"));
  EXPECT_THAT(AnswerLineOf(GapsOf("clone"), "Clones"), HasSubstr("2 were made"));
}

// The chunk was overwritten before the clone, and its patch came after it.
TEST(SmallSessions, ClonePatch_ThePatchCameAfterTheClone) {
  const std::string text = GapsTextOf("clone_patch", {"--clone", "2"});
  EXPECT_THAT(text, HasSubstr("its patch came in record 17 (11.0 ms), 900.0 us after the clone"));
  EXPECT_THAT(text, HasSubstr("2 remain unread"));
  EXPECT_THAT(text, Not(HasSubstr("not in the log")));
}

TEST(SmallSessions, ScrapeNever_TheWriterHadFinishedTheChunk) {
  const std::string text = GapsTextOf("scrape_never");
  EXPECT_THAT(text, HasSubstr("the commit is missing, and no flush is known to help"));
  EXPECT_THAT(text, Not(HasSubstr("not finished")));
}

TEST(SmallSessions, NoRead_TheBufferWasFreed) {
  EXPECT_THAT(GapsTextOf("no_read"), HasSubstr("the consumer did not read it"));
  EXPECT_THAT(GapsTextOf("no_read"), Not(HasSubstr("one more read")));
}

// No finding advises a larger buffer where replays show that no size helps.
TEST(SmallSessions, NoFindingAdvisesWhatReplaysRefute) {
  for (const char* name : {"writer_restart", "recommit", "stall_stream"}) {
    const Json document = FindingsOf(name);
    for (const Json& finding : document["findings"])
      EXPECT_THAT(finding["remedy"].get<std::string>(), Not(HasSubstr("larger buffer,"))) << name;
  }
}

TEST(SmallSessions, Discard_V1ShowsWhenChunksWereRead) {
  EXPECT_THAT(RunCommand(GraphCommand(), {"--engine", "v1", SmallSession("discard")}).out,
              HasSubstr("read at 0.005000 s"));
}

TEST(SmallSessions, Order_IsMarked) {
  EXPECT_THAT(RunCommand(StatsCommand(),
                         {"--explain", "chunks_committed_out_of_order", SmallSession("order")})
                  .out,
              HasSubstr("2:1#2"));
  EXPECT_THAT(RunCommand(GraphCommand(), {SmallSession("order")}).out,
              HasSubstr("committed out of"));
}

// Names of processes are overwritten by the events of the same producer.
TEST(SmallSessions, Surface2_ABufferOfItsOwnHelps) {
  bool is_split = false;
  const Json session = GapsOf("surface2"), trace = FindingsOf("surface2");
  for (const Json& remedy : session["remedies"])
    if (remedy["kind"] == "split") {
      is_split = true;
      EXPECT_THAT(remedy["data_sources"], ElementsAre("linux.ftrace"));
      EXPECT_LT(remedy["replayed"]["lost"], remedy["lost_now"]);
    }
  EXPECT_TRUE(is_split);
  EXPECT_EQ(session["data_sources"][0]["data_source"], "linux.ftrace");
  EXPECT_EQ(session["data_sources"][0]["lost"]["packets"], 28);
  EXPECT_EQ(session["data_sources"][1]["data_source"], "linux.process_stats");
  for (const Json& finding : trace["findings"])
    EXPECT_THAT(finding.dump(), Not(HasSubstr("wrote nothing")));
  EXPECT_THAT(GapsTextOf("surface2"),
              HasSubstr("process_tree: pid 610 /system/bin/surfaceflinger"));
}

TEST(SmallSessions, EventsThatNeedALostProcessTree_AreNamed) {
  EXPECT_THAT(AnswerLineOf(GapsOf("surface2"), "Sources"),
              HasSubstr("176.0 ms of events need the lost process tree of pid 610 "
                        "(surfaceflinger)"));
  EXPECT_THAT(FindingsOf("process_tree")["findings"][0]["cause"],
              HasSubstr("need the lost process tree of pid 610, pid 700."));
  EXPECT_THAT(GapsOf("surface2", {"--size", "1M"}).dump(), Not(HasSubstr("process tree of")));
}

// One size is advised once, whatever it is for.
TEST(SmallSessions, ProcessTree_TheSameSizeIsNoAlternative) {
  std::vector<int> sizes;
  const Json session = GapsOf("process_tree");
  for (const Json& remedy : session["remedies"])
    if (remedy["kind"] == "size") sizes.push_back(remedy["size"].get<int>());
  EXPECT_THAT(sizes, ElementsAre(16384));
}

TEST(SmallSessions, TwoSources_LossesAreOfTheSourceWhoseWriterItIs) {
  EXPECT_EQ(AnswerLineOf(GapsOf("two_sources"), "Sources"), "95.5% src.hot, 4.5% src.rare");
}

// Replays show that no size helps: an estimate of the trace's statistics adds none.
TEST(SmallSessions, StallStream_NoSizeIsAdvised) {
  const Ran advice = RunCommand(AdviseCommand(), {SmallSession("stall_stream")});
  EXPECT_EQ(advice.code, ExitCode::kClean);
  EXPECT_THAT(WithoutLineBreaks(advice.out), HasSubstr("No buffer size or read period helps"));
  EXPECT_THAT(advice.out, Not(HasSubstr("size_kb")));
}

// A larger ring keeps the chunk at which V1's reads stop, a smaller one overwrites it.
TEST(SmallSessions, V1Gap_SizesInBetweenAreTried) {
  const Json session = GapsOf("v1_gap");
  ASSERT_EQ(session["remedies"].size(), 1u);
  EXPECT_EQ(session["remedies"][0]["size"], 16384);
  EXPECT_EQ(session["remedies"][0]["replayed"]["in_trace"], 10);
  EXPECT_EQ(session["remedies"][0]["now"]["in_trace"], 5);
}

// A ring in a session that is written into a file is tried, not promised to keep all.
TEST(SmallSessions, DiscardLate_TheRingIsReplayed) {
  const Json session = GapsOf("discard_late");
  EXPECT_EQ(session["remedies"].size(), 2u);
  for (const Json& remedy : session["remedies"])
    EXPECT_FALSE(remedy["replayed"].is_null()) << remedy;
}

TEST(SmallSessions, UnreadBuffer_IsNotSaidToHaveLostNothing) {
  EXPECT_EQ(GapsOf("unread_buffer")["answer"]["headline"],
            "3 of 6 packets were not read, and are not in the trace.");
  EXPECT_THAT(RunCommand(GraphCommand(), {SmallSession("unread_buffer")}).out,
              HasSubstr("\nNo packet of the log was lost, but 3 packets were not read.\n"));
}

// No replay applies the advised size of the kernel's buffer: it is not advised to double it again.
TEST(SmallSessions, Surface2_AdviceIsNotRepeated) {
  const TempFolder folder;
  const std::string log = SmallSession("surface2"), config = folder.File("new.pbtxt");
  RunCommand(AdviseCommand(), {log, "-o", config});
  EXPECT_THAT(ReadFile(config), HasSubstr("buffer_size_kb: 8192"));
  const Ran again = RunCommand(AdviseCommand(), {log, "--config", config});
  EXPECT_EQ(again.code, ExitCode::kClean) << again.out;
}

// Two producers, of which the second lost more: each gets its own size, once.
TEST(SmallSessions, TwoDrops_EachProducerHasItsSize) {
  const TempFolder folder;
  const std::string log = SmallSession("two_drops"), config = folder.File("new.pbtxt");
  RunCommand(AdviseCommand(), {log, "-o", config});
  const std::string text = ReadFile(config);
  const size_t app = text.find("\"app\""), other = text.find("\"other\"");
  ASSERT_NE(other, std::string::npos) << text;
  EXPECT_LT(app, other) << text;
  EXPECT_THAT(text.substr(app, other - app), HasSubstr("shm_size_kb: 2048\n")) << text;
  EXPECT_THAT(text.substr(other), HasSubstr("shm_size_kb: 512\n")) << text;
  EXPECT_EQ(RunCommand(AdviseCommand(), {log, "--config", config}).code, ExitCode::kClean);
}

// The config of a newer service is not tried, and does not stop the examination.
TEST(SmallSessions, UnknownValueInAConfig_IsWarnedOf) {
  const TempFolder folder;
  const std::string log = folder.Write(
      "a.ops.jsonl",
      R"({"op":"config","session":1,"config":"0a0408044063"})"
      "\n"
      R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer","index":0,"session":1})"
      "\n"
      R"({"op":"commit","buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"0161"})"
      "\n");
  const Ran gaps = RunCommand(GapsCommand(), {log});
  EXPECT_THAT(gaps.out, HasSubstr("buffers[0]"));
  EXPECT_THAT(gaps.err, HasSubstr("no change of its trace config can be tried"));
}

TEST(SmallSessions, Mylife_TheProducerThatMissedTheFlushHasItsName) {
  EXPECT_THAT(GapsTextOf("mylife"), HasSubstr("producer 2 'beta'"));
  const Json doctor = FindingsOf("mylife");
  EXPECT_THAT(doctor["findings"][0]["where"], HasSubstr("'beta'"));
  EXPECT_THAT(AnswerLineOf(doctor, "Losses"), HasSubstr("'beta'"));
}

TEST(SmallSessions, Intern0_AdviceIsReplayed) {
  const Json session = GapsOf("intern0", {"--size", "8k"});
  EXPECT_THAT(session["remedies"], Not(IsEmpty()));
  for (const Json& remedy : session["remedies"])
    if (remedy["replayed"].is_null()) {
      EXPECT_NE(remedy["estimate"], "") << remedy;
      EXPECT_TRUE(remedy["kind"] != "size" || remedy["alternative"]) << remedy;
    }
}

// The size keeps all, so that the period is an alternative, and not in the same config.
TEST(SmallSessions, Intern0_AClearPeriodIsAnAlternative) {
  const Ran advice = RunCommand(AdviseCommand(), {SmallSession("intern0")});
  EXPECT_THAT(WithoutLineBreaks(advice.out),
              HasSubstr("Or: incremental_state_config.clear_period_ms: 40 (an estimate"));
  EXPECT_THAT(advice.out, Not(HasSubstr("clear_period_ms: 40 }")));
}

TEST(SmallSessions, Isolation_TheBuffersTellThemApart) {
  EXPECT_EQ(AnswerLineOf(GapsOf("isolation"), "Lost by"),
            "50.0% sequence 3 (evil, 2:1) in buffers[0], 50.0% sequence 3 (evil, 2:1) in buffer "
            "77");
}

// Drops of writers are counted in places.
TEST(SmallSessions, Screenshot_ItsPacketsAreLargerThanTheMemory) {
  const Json session = GapsOf("screenshot");
  EXPECT_THAT(session["answer"]["headline"], HasSubstr("at 2 places"));
  EXPECT_THAT(session["answer"]["headline"], Not(HasSubstr("%")));
  EXPECT_THAT(AnswerLineOf(session, "Why"), HasSubstr("larger than the shared memory"));
  EXPECT_THAT(GapsTextOf("screenshot"), HasSubstr("smaller packets, with pauses between them"));
  for (const Json& remedy : session["remedies"]) EXPECT_NE(remedy["kind"], "flush");
}

TEST(SmallSessions, Idlecpu_IsStale) {
  const Json stale = GapsOf("idlecpu")["stale"][0];
  EXPECT_EQ(stale["cpu"], 3);
  EXPECT_EQ(stale["longest_ns"].get<uint64_t>() / 1'000'000'000, 294u);
  const Json doctor = FindingsOf("idlecpu");
  EXPECT_THAT(doctor["findings"].dump(), HasSubstr("log.stale"));
  EXPECT_THAT(doctor["answer"].dump(), HasSubstr("CPU 3"));
}

TEST(SmallSessions, Stale_EventsOfALogAndOfATrace) {
  EXPECT_EQ(GapsOf("stale")["stale"][0]["stale"], 2);
  EXPECT_THAT(FindingsOf("stale.pftrace")["findings"].dump(), HasSubstr("order.hole"));
}

TEST(SmallSessions, Late_TheSorterDropsThem) {
  EXPECT_THAT(FindingsOf("late.pftrace")["findings"].dump(), HasSubstr("--full-sort"));
}

// A ring that overwrites does its job: what counts is how far it reaches back.
// The size goes into the producer's own entry, and other entries stay.
TEST(SmallSession, Screenshot_ChangesTheProducersEntry) {
  const TempFolder folder;
  const std::string config = folder.Write(
      "c.pbtxt",
      "buffers { size_kb: 4096 }\nproducers { producer_name: \"other\" shm_size_kb: 64 }\n"
      "producers { producer_name: \"screens\" }\n");
  const std::string advised =
      testing::ParsedJson(RunCommand(AdviseCommand(), {"--config", config, "--format", "json",
                                                       SmallSession("screenshot")})
                              .out)["sessions"][0]["config"];
  EXPECT_THAT(advised, HasSubstr("producer_name: \"other\""));
  EXPECT_THAT(advised, HasSubstr("shm_size_kb: 512"));
  EXPECT_EQ(advised.find("screens"), advised.rfind("screens")) << advised;
}

TEST(SmallSession, Keep_SpeaksOfTheReach) {
  const std::string advice =
      WithoutLineBreaks(RunCommand(AdviseCommand(), {SmallSession("stale"), "--keep", "30m"}).out);
  EXPECT_THAT(advice, HasSubstr("A replay with this config keeps the last 1 h 8 min."));
  EXPECT_THAT(advice, HasSubstr("was 64: a replay keeps the last 1 h 8 min "));
  EXPECT_THAT(advice, Not(HasSubstr("loses")));
}

// Events that the kernel lost are a loss, too, though no buffer lost a packet.
TEST(SmallSession, LossesOfTheKernel_AreNoCleanSession) {
  const Ran gaps = RunCommand(GapsCommand(), {SmallSession("idlecpu")});
  EXPECT_EQ(gaps.code, ExitCode::kNotice);
  EXPECT_THAT(gaps.out, Not(HasSubstr("Nothing was lost")));
  EXPECT_THAT(WithoutLineBreaks(gaps.out), HasSubstr("events lost by ftrace on 1 CPU"));
}

TEST(SmallSessions, NoRead_NothingIsAssumedToHaveBeenRead) {
  const Json answer = GapsOf("no_read")["answer"];
  EXPECT_EQ(answer["packets"], 0);
  EXPECT_EQ(AnswerLineOf(GapsOf("no_read"), "Losses"),
            "1 of 1 packet was not read, and is not in the trace.");
}

TEST(SmallSessions, WriterRestart_ARingRefusesLateChunksAndWasNotFull) {
  const Json trace = FindingsOf("writer_restart");
  std::vector<std::string> rules;
  for (const Json& finding : trace["findings"]) rules.push_back(finding["rule"].get<std::string>());
  EXPECT_THAT(rules, ElementsAre("log.lost", "buffer.late_chunks"));
  EXPECT_THAT(RunCommand(AdviseCommand(), {SmallSession("writer_restart")}).out,
              HasSubstr("No change of the config helps: the producer gave a writer an id again"));
}

TEST(SmallSessions, FtraceOverrun_DroppedAndOverrunEventsAreCountedApart) {
  const Json session = GapsOf("ftrace_overrun");
  EXPECT_THAT(AnswerLineOf(session, "Losses"), HasSubstr("3 events lost by ftrace on 1 CPU"));
  EXPECT_THAT(AnswerLineOf(session, "Kernel"), HasSubstr("overwrote 241,968 events"));
  EXPECT_THAT(AnswerLineOf(session, "Stages"), HasSubstr("the kernel lost 3 events"));
}

TEST(SmallSessions, DropUnknown_MemoryOfUnknownSizeIsTheDefault) {
  const Json trace = FindingsOf("drop_unknown");
  const Json& remedy = trace["remedies"][0];
  EXPECT_EQ(remedy["size"], 512 * 1024);
  EXPECT_EQ(remedy["estimate"], "more than the default of 256 KiB, as its size is not in the log");
  EXPECT_THAT(GapsTextOf("drop_unknown"),
              HasSubstr("shm_size_kb: 512 (an estimate); or let writers wait"));
}

TEST(SmallSessions, DiscardStreamV1_AdviseHasTheChangeOfTheAnswer) {
  const Json trace = FindingsOf("discard_stream_v1");
  EXPECT_EQ(trace["severity"], "warning") << "nothing was discarded here";
  const std::string change = trace["answer"]["change"].get<std::string>();
  EXPECT_EQ(change, "buffers[0].fill_policy RING_BUFFER");
  EXPECT_THAT(RunCommand(AdviseCommand(), {SmallSession("discard_stream_v1")}).out,
              HasSubstr("fill_policy: RING_BUFFER"));
}

}  // namespace
}  // namespace ringscope
