#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <thread>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/testing/message_text.h"
#include "formats/descriptors/descriptors.h"
#include "formats/testing/frames.h"
#include "formats/testing/make_zip.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::MakeZip;
using ::testing::Not;
using testing::ReadTestdata;
using testing::Sub;
using testing::Uint;

std::string Capture(const std::string& name) { return RS_TESTDATA "/captures/" + name; }
const std::string kDiscard = Capture("discard-v2/trace.pftrace.zst");
const std::string kLossless = Capture("lossless-v2/trace.pftrace.zst");

Ran RunDoctorOn(std::vector<std::string> args, const std::string& input = "") {
  return RunCommand(DoctorCommand(), std::move(args), input);
}

/// The document that a run prints.
Json DocumentOf(std::vector<std::string> args, const std::string& input = "") {
  args.insert(args.end(), {"--format", "json"});
  const Ran ran = RunDoctorOn(std::move(args), input);
  EXPECT_EQ(ran.error, "");
  return testing::ParsedJson(ran.out);
}

std::vector<std::string> TextsOf(const Json& array, const char* key) {
  std::vector<std::string> texts;
  for (const Json& object : array) texts.push_back(object[key].get<std::string>());
  return texts;
}

TEST(Doctor, Document) {
  const Json document = DocumentOf({kDiscard});
  EXPECT_EQ(document["schema"].get<std::string>(), "ringscope.doctor/1");
  ASSERT_EQ(document["traces"].size(), 1u);
  const Json& trace = document["traces"][0];
  EXPECT_EQ(trace["input"].get<std::string>(), kDiscard);
  EXPECT_EQ(trace["severity"].get<std::string>(), "data_loss");
  EXPECT_THAT(TextsOf(trace["counters"], "name"), Contains("traced_buf_patches_failed"));
  for (const Json& counter : trace["counters"]) {
    EXPECT_NE(counter["value"].get<uint64_t>(), 0u);
    EXPECT_NE(counter["severity"].get<std::string>(), "info");
  }
  EXPECT_THAT(TextsOf(trace["findings"], "rule"), Contains("buffer.discarded"));
}

TEST(Doctor, JoinedTracesAreJudgedSessionBySession) {
  const std::string joined = ReadTestdata("captures/lossless-v2/trace.pftrace.zst") +
                             ReadTestdata("captures/discard-v2/trace.pftrace.zst");
  const Json traces = DocumentOf({"-"}, joined)["traces"];
  ASSERT_EQ(traces.size(), 2u);
  EXPECT_EQ(traces[0]["session"].get<uint64_t>(), 1u);
  EXPECT_EQ(traces[1]["session"].get<uint64_t>(), 2u);
  const Json alone = DocumentOf({kDiscard})["traces"][0];
  EXPECT_EQ(traces[0]["counters"].dump(), DocumentOf({kLossless})["traces"][0]["counters"].dump());
  EXPECT_EQ(traces[1]["counters"].dump(), alone["counters"].dump());
  EXPECT_THAT(TextsOf(traces[1]["findings"], "rule"), Contains("trace.joined"));
  EXPECT_FALSE(alone.contains("session"));
}

TEST(Doctor, StandardInput) {
  const Json trace =
      DocumentOf({"-"}, ReadTestdata("captures/discard-v2/trace.pftrace.zst"))["traces"][0];
  EXPECT_EQ(trace["input"].get<std::string>(), "-");
  EXPECT_EQ(trace["findings"].dump(), DocumentOf({kDiscard})["traces"][0]["findings"].dump());
}

TEST(Doctor, LogIsReplayed) {
  const Json trace = DocumentOf({Capture("discard-v2/session.ops.jsonl.zst")})["traces"][0];
  EXPECT_EQ(trace["session"].get<uint64_t>(), 1u);
  EXPECT_THAT(trace["replay"].get<std::string>(), HasSubstr("v2@58, buffers read "));
  EXPECT_THAT(TextsOf(trace["findings"], "rule"), Contains("buffer.discarded"));
}

TEST(Doctor, EachTraceOfAnArchive) {
  const std::string zip =
      MakeZip({{"main.txt", "text"},
               {"FS/a.pftrace", ReadTestdata("captures/discard-v2/trace.pftrace.zst")},
               {"FS/broken.pftrace", "nothing"},
               {"FS/b", ReadTestdata("captures/lossless-v2/trace.pftrace.zst")}});
  TempFolder folder;
  const std::string path = folder.Write("report.zip", zip);
  const Json document = DocumentOf({path});
  EXPECT_EQ(document["passed_over"], Json::array({path + ":main.txt"}));
  EXPECT_THAT(
      WithoutLineBreaks(RunDoctorOn({path}).out),
      HasSubstr("1 file is neither a trace nor a log and was passed over: " + path + ":main.txt"));
  const Json& traces = document["traces"];
  EXPECT_THAT(TextsOf(traces, "input"),
              ElementsAre(path + ":FS/a.pftrace", path + ":FS/broken.pftrace", path + ":FS/b"));
  EXPECT_TRUE(traces[1].contains("error"));
  const Json next = traces[0]["answer"]["lines"][traces[0]["answer"]["lines"].size() - 1];
  EXPECT_EQ(next["label"], "Next");
  EXPECT_EQ(next["text"], "ringscope doctor " + path + ":FS/a.pftrace");
  EXPECT_EQ(RunDoctorOn({path}).code, ExitCode::kNotice);
  EXPECT_THAT(TextsOf(DocumentOf({"-"}, zip)["traces"], "input"),
              ElementsAre("-:FS/a.pftrace", "-:FS/broken.pftrace", "-:FS/b"));
}

TEST(Doctor, LogsOfAnArchive_AndConfigsOfOneWithoutThem) {
  const std::string log = ReadTestdata("inputs/lossy.ops.jsonl");
  const std::string config = "buffers { size_kb: 64 }\n";
  const TempFolder folder;
  const std::string by_name =
      DocumentOf({folder.Write("b.ops.jsonl", log)})["traces"][0]["answer"]["headline"];
  const std::string zip =
      folder.Write("a.zip", MakeZip({{"b.ops.jsonl", log}, {"c.pbtxt", config}}));
  const Json document = DocumentOf({zip});
  EXPECT_THAT(TextsOf(document["traces"], "input"), ElementsAre(zip + ":b.ops.jsonl"));
  EXPECT_EQ(document["traces"][0]["answer"]["headline"], by_name);
  EXPECT_EQ(document["passed_over"], Json::array({zip + ":c.pbtxt"}));
  EXPECT_THAT(RunCommand(VerifyCommand(), {zip}).out, HasSubstr("no damage"));
  EXPECT_THAT(RunCommand(GraphCommand(), {zip}).error,
              HasSubstr("name a file in it as ARCHIVE:MEMBER"));
  const std::string only = folder.Write("b.zip", MakeZip({{"c.pbtxt", config}, {"d", "text"}}));
  EXPECT_THAT(TextsOf(DocumentOf({only})["traces"], "input"), ElementsAre(only + ":c.pbtxt"));
}

/// Writes into a named pipe, as another process does, while a command runs.
Ran RunWithPipe(const TempFolder& folder, const Command& command, const std::string& content,
                const std::vector<std::string>& more = {}) {
  const std::string pipe = folder.File("pipe");
  EXPECT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(pipe, std::ios::binary) << content; });
  std::vector<std::string> args = {pipe};
  args.insert(args.end(), more.begin(), more.end());
  Ran ran = RunCommand(command, args);
  writer.join();
  std::filesystem::remove(pipe);
  return ran;
}

// A pipe and standard input can be read only once, and commands read their inputs several times.
TEST(Doctor, PipesGiveTheAnswersOfFiles) {
  const TempFolder folder;
  const std::string log = ReadTestdata("inputs/lossy.ops.jsonl");
  const std::string trace = ReadTestdata("captures/discard-v2/trace.pftrace.zst");
  const std::string log_path = folder.Write("lossy.ops.jsonl", log);
  for (const Command& command : {DoctorCommand(), GapsCommand(), StatsCommand(), AdviseCommand()}) {
    SCOPED_TRACE(command.name);
    for (const auto& [path, content] : {std::pair(log_path, log), std::pair(kDiscard, trace)}) {
      const auto unnamed = [](const Ran& ran, const std::string& name) {
        Json document = testing::ParsedJson(ran.out);
        Json& list = document[document.contains("traces") ? "traces" : "sessions"];
        for (Json& one : list) {
          EXPECT_EQ(one["input"], name);
          one.erase("input");
          if (one.contains("answer")) one["answer"].erase("lines");  // with the next command
        }
        return list.dump();
      };
      const std::vector<std::string> json = {"--format", "json"};
      const std::string of_file = unnamed(RunCommand(command, {path, "--format", "json"}), path);
      EXPECT_EQ(unnamed(RunCommand(command, {"-", "--format", "json"}, content), "-"), of_file);
      EXPECT_EQ(unnamed(RunWithPipe(folder, command, content, json), folder.File("pipe")), of_file);
    }
  }
  EXPECT_THAT(RunWithPipe(folder, DiffCommand(), trace, {kDiscard}).out,
              HasSubstr("A and B are the same"));
  EXPECT_THAT(RunCommand(DiffCommand(), {"-", kDiscard}, trace).out,
              HasSubstr("A and B are the same"));
  EXPECT_THAT(RunDoctorOn({"-", kLossless}, trace).out, HasSubstr("2 traces, by their findings"));
  EXPECT_THAT(RunDoctorOn({"--brief", "-"}, trace).out, Not(HasSubstr("Next")));
}

TEST(Doctor, OptionsThatAnInputLacks_AreNotIgnored) {
  const TempFolder folder;
  const std::string config = folder.Write("c.pbtxt", "buffers { size_kb: 64 }\n");
  EXPECT_THAT(RunDoctorOn({config, "--session", "3"}).error, HasSubstr("no session 3"));
  EXPECT_THAT(RunDoctorOn({kDiscard, "--reads", "end"}).err, HasSubstr("are not used"));
  EXPECT_THAT(RunCommand(AdviseCommand(), {kDiscard, "--keep", "10s"}).error,
              HasSubstr("a trace has no commits"));
  const std::string zip = folder.Write(
      "a.zip", MakeZip({{"a.pftrace", ReadTestdata("captures/discard-v2/trace.pftrace.zst")}}));
  EXPECT_THAT(RunDoctorOn({zip, "--session", "3"}).out, HasSubstr("no session 3"));
}

TEST(Doctor, TheSameFileTwice_IsOneFile) {
  EXPECT_EQ(RunDoctorOn({kDiscard, kDiscard}).out, RunDoctorOn({kDiscard}).out);
}

TEST(Doctor, PacketsOlderThanTheSession_GiveNoReach) {
  std::string log = "{\"op\":\"buffer\",\"size\":4096,\"id\":0,\"policy\":\"ring_buffer\"}\n";
  std::string payload;
  for (int i = 0; i < 600; ++i) payload += "024001";  // a packet with timestamp 1
  for (int chunk = 0; chunk < 8; ++chunk)
    log += fmt::format(
        "{{\"op\":\"commit\",\"ts\":{},\"producer\":1,\"writer\":1,\"chunk\":{},\"fragments\":600,"
        "\"payload\":\"{}\"}}\n",
        1'000'000'000 + chunk * 1'000'000, chunk, payload);
  log += "{\"op\":\"read\",\"ts\":1100000000}\n";
  const std::string text = WithoutLineBreaks(RunDoctorOn({"-"}, log).out);
  EXPECT_THAT(text,
              AllOf(HasSubstr(" packets (75.0%) were lost"), Not(HasSubstr("Only the last"))));
}

TEST(Doctor, OnlyARule) {
  const Json trace = DocumentOf({kDiscard, "--rule", "buffer.discarded"})["traces"][0];
  EXPECT_THAT(TextsOf(trace["findings"], "rule"), ElementsAre("buffer.discarded"));
  EXPECT_EQ(RunDoctorOn({kDiscard, "--rule", "order.late"}).code, ExitCode::kClean);
  EXPECT_THAT(RunDoctorOn({kDiscard, "--rule", "buffer.discard"}).error,
              HasSubstr("did you mean 'buffer.discarded'?"));
}

TEST(Doctor, ConfigAlone) {
  TempFolder folder;
  const std::string path =
      folder.Write("a.pbtxt",
                   "buffers { size_kb: 64 fill_policy: DISCARD }\nwrite_into_file: true\n"
                   "data_sources { config { name: \"track_event\" } }\n");
  const Ran ran = RunDoctorOn({"--config", path});
  EXPECT_EQ(ran.code, ExitCode::kNotice) << ran.out;
  EXPECT_THAT(ran.out, AllOf(HasSubstr("a.pbtxt: "), HasSubstr("Remedy:")));
  EXPECT_THAT(RunDoctorOn({"--config", folder.Write("b.pbtxt", "buffers { size: 1 }")}).error,
              HasSubstr("b.pbtxt:1"));
  EXPECT_THAT(RunDoctorOn({}).error, HasSubstr("nothing to examine"));
  const std::string later = folder.Write("later.pbtxt", "buffers { size_kb: 64 frobnicate: 1 }");
  EXPECT_THAT(WithoutLineBreaks(RunDoctorOn({"--config", later}).error),
              AllOf(HasSubstr("later.pbtxt:1: column 23: "), HasSubstr("of a later Perfetto")));
}

TEST(Doctor, FitsOnAScreen_AndAllHasTheRest) {
  const std::string text = RunDoctorOn({kDiscard}).out;
  EXPECT_LE(std::count(text.begin(), text.end(), '\n'), 40);
  EXPECT_THAT(text, Not(HasSubstr("config with these changes")));
  EXPECT_THAT(RunDoctorOn({kDiscard, "--all"}).out, HasSubstr("config with these changes"));
}

TEST(Doctor, LinesAndRows) {
  EXPECT_EQ(CountOf(RunDoctorOn({kDiscard, kLossless, "--format", "jsonl"}).out, "{\"input\":"),
            2u);
  const Ran csv = RunDoctorOn({kDiscard, "--format", "csv", "--rule", "buffer.discarded"});
  EXPECT_THAT(csv.out, AllOf(HasSubstr("input,session,rule,severity,what,where,remedy\n"),
                             HasSubstr("buffer.discarded,data_loss,")));
}

TEST(Doctor, ManyTraces_AreSummedUp) {
  TempFolder folder;
  for (const char* name : {"a.pftrace", "b.pftrace.zst", "c.perfetto-trace"})
    folder.Write(name, ReadTestdata("captures/discard-v2/trace.pftrace.zst"));
  folder.Write("d.pftrace", "nothing");
  folder.Write("e.txt", "not looked at");
  const Ran whole = RunDoctorOn({folder.path(), "--format", "json"});
  EXPECT_EQ(whole.code, ExitCode::kNotice);
  EXPECT_EQ(testing::ParsedJson(whole.out)["groups"].size(), 2u);
  EXPECT_EQ(testing::ParsedJson(whole.out)["passed_over"], Json::array({folder.path() + "/e.txt"}));
  const Ran text = RunDoctorOn({folder.path()});
  EXPECT_THAT(text.out, HasSubstr("1 file is neither a trace nor a log and was passed over:"));
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("     3  data loss: The buffer was full, and discarded the rest;"),
                    HasSubstr("     1  error: not readable;"),
                    HasSubstr("buffers[0].size_kb: 12288 for the 3 that need it\n")));
}

// Whatever the input is, the run ends with an answer or an error that names the file.

TEST(Doctor, OtherInputsAreRefused) {
  TempFolder folder;
  const std::string png("\x89PNG\r\n\x1A\n\0\0\0\rIHDR", 16);
  for (const std::string& content :
       {png, std::string("some text\n"), std::string("hehe"),
        std::string("{\"event\":\"patch\",\"ok\":false}\n"), MakeZip({{"a.txt", "text"}})}) {
    const std::string path = folder.Write("input", content);
    const Ran ran = RunDoctorOn({path});
    EXPECT_THAT(ran.error, HasSubstr(path)) << content;
  }
}

TEST(Doctor, EmptyFile) {
  TempFolder folder;
  const Ran ran = RunDoctorOn({folder.Write("a.pftrace", "")});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("(trace.empty)"));
}

TEST(Doctor, EmptyLog) {
  TempFolder folder;
  for (const char* name : {"a.tblog", "a.ops.jsonl", "a.ops.jsonl.zst"}) {
    const Ran ran = RunDoctorOn({folder.Write(name, "")});
    EXPECT_THAT(ran.error, HasSubstr("the file is empty")) << name;
  }
}

TEST(Doctor, LostPacketsOfALogAreItsVerdict) {
  for (const char* name : {"lost-names", "never-patched"}) {
    const std::string log = std::string(RS_TESTDATA "/inputs/") + name + ".ops.jsonl";
    EXPECT_EQ(RunDoctorOn({log}).code, ExitCode::kNotice);
    EXPECT_EQ(RunDoctorOn({"--brief", log}).code, ExitCode::kNotice);
    const Json trace = DocumentOf({log})["traces"][0];
    EXPECT_EQ(trace["severity"].get<std::string>(), "data_loss");
    EXPECT_THAT(
        trace["verdict"].get<std::string>(),
        AnyOf(HasSubstr(") were lost"), HasSubstr("Only the last 50.0 ms of 80.0 ms are left")));
  }
  const Json lost =
      DocumentOf({RS_TESTDATA "/inputs/lost-names.ops.jsonl"})["traces"][0]["findings"][0];
  EXPECT_EQ(lost["rule"].get<std::string>(), "log.lost");
  EXPECT_EQ(lost["changes"][0]["value"].get<std::string>(), "16");
  EXPECT_FALSE(lost["changes"][0]["is_estimate"].get<bool>());
}

TEST(Doctor, RulesOfALog) {
  const auto rules = [](const std::string& log) {
    return TextsOf(DocumentOf({log})["traces"][0]["findings"], "rule");
  };
  EXPECT_THAT(rules(RS_TESTDATA "/inputs/broken-writers.ops.jsonl"),
              AllOf(Contains("log.lost"), Contains("log.waiting")));
  EXPECT_THAT(rules(RS_TESTDATA "/sessions/mylife.ops.jsonl.zst"), Contains("log.signs"));
}

TEST(Doctor, ARecommitThatLosesNothingIsANote) {
  const std::string log = Capture("lossless-v2/session.ops.jsonl.zst");
  const Json trace = DocumentOf({log})["traces"][0];
  EXPECT_EQ(trace["severity"].get<std::string>(), "ok");
  const Json rule = DocumentOf({"--rule", "buffer.abi_violations", log})["traces"][0];
  EXPECT_EQ(TextsOf(rule["findings"], "severity"), std::vector<std::string>{"info"});
}

TEST(Doctor, ARecommitWithAPacketThatIsRefusedIsALoss) {
  const std::string head =
      "{\"op\":\"buffer\",\"id\":1,\"size\":4096,\"policy\":\"ring_buffer\",\"engine\":\"v2@58\"}\n"
      "{\"op\":\"producer\",\"producer\":1,\"uid\":0,\"pid\":5,\"name\":\"p\"}\n";
  const auto commit = [](const std::string& fragments, const std::string& payload) {
    return "{\"op\":\"commit\",\"buffer\":1,\"producer\":1,\"writer\":1,\"uid\":0,\"pid\":5,"
           "\"chunk\":0,\"fragments\":" +
           fragments + ",\"flags\":0,\"complete\":true,\"payload\":\"" + payload + "\"}\n";
  };
  const std::string read = "{\"op\":\"read\",\"buffer\":1}\n";
  const std::string small = "024007", large =
                                          "20"
                                          "fa011d" +
                                          std::string(58, '7');
  TempFolder folder;
  const auto severity = [&](const std::string& again) {
    const std::string log = folder.Write("a.ops.jsonl", head + commit("1", small) + again + read);
    const Json trace = DocumentOf({"--rule", "buffer.abi_violations", log})["traces"][0];
    return TextsOf(trace["findings"], "severity");
  };
  EXPECT_THAT(severity(commit("2", small + large)), ElementsAre("data_loss"));
  EXPECT_THAT(severity(commit("0", "")), ElementsAre("info"));
}

TEST(Doctor, WhatALogDoesNotRecordIsNotKnown) {
  const Json trace = DocumentOf({Capture("short-v2/session.ops.jsonl.zst")})["traces"][0];
  EXPECT_THAT(TextsOf(trace["findings"], "rule"), Not(Contains("clock.no_snapshots")));
  EXPECT_THAT(trace["unknown"].dump(), Not(HasSubstr("the service did no final flush")));
  EXPECT_THAT(trace["unknown"].dump(), HasSubstr("no clock snapshot is in the log"));
}

TEST(Doctor, AConfigIsTakenInEachForm) {
  const std::string text =
      "buffers { size_kb: 64 }\ndata_sources { config { name: \"foo.bar\" } }\n";
  const std::string message = descriptors::Encode("TraceConfig", text, "").value();
  const TempFolder folder;
  const Ran by_name = RunDoctorOn({folder.Write("a.pbtxt", text)});
  EXPECT_THAT(by_name.out, HasSubstr("foo.bar"));
  for (const std::string& form :
       {text, message, testing::Gzipped(text), testing::Gzipped(message)}) {
    const Ran piped = RunCommand(DoctorCommand(), {"-"}, form);
    EXPECT_EQ("a.pbtxt" + piped.out.substr(1), by_name.out.substr(folder.path().size() + 1));
    EXPECT_EQ(piped.code, by_name.code);
    EXPECT_EQ(RunDoctorOn({folder.Write("a.bin", form)}).code, by_name.code);
    EXPECT_EQ(RunCommand(DoctorCommand(), {"--config", "-"}, form).out, piped.out);
  }
  EXPECT_THAT(RunCommand(GapsCommand(), {"-"}, message).error,
              HasSubstr("this is a trace config, not a log"));
}

TEST(Doctor, AFolderOfConfigs) {
  const TempFolder folder;
  folder.Write("a.pbtxt", "buffers { size_kb: 64 }\n");
  folder.Write("b.textproto", "bufers { size_kb: 64 }\n");
  folder.Write("c.md", "# text\n");
  const Ran ran = RunDoctorOn({folder.path()});
  EXPECT_THAT(ran.out, AllOf(HasSubstr("2 configs, by their findings"), HasSubstr("b.textproto"),
                             HasSubstr("1 file is neither a trace nor a log")));
}

TEST(Doctor, AConfigIsExaminedByItsName) {
  TempFolder folder;
  const std::string config = folder.Write("config.pbtxt", "buffers { size_kb: 64 }\n");
  EXPECT_THAT(RunDoctorOn({"--brief", config}).out, HasSubstr("Next    ringscope doctor "));
  EXPECT_EQ(RunDoctorOn({"--all", config}).out, RunDoctorOn({"--all", "--config", config}).out);
  const std::string mistyped = folder.Write("typo.pbtxt", "bufers { size_kb: 64 }\n");
  EXPECT_THAT(RunDoctorOn({mistyped}).error, HasSubstr("did you mean 'buffers'?"));
  EXPECT_THAT(RunDoctorOn({folder.Write("no_line.pbtxt", "# a comment\n")}).out,
              HasSubstr("The config has no data source"));
  EXPECT_THAT(RunDoctorOn({folder.Write("empty.pbtxt", "")}).error,
              HasSubstr("this is an empty file, not a trace config"));
  const std::string document = folder.Write("a.json", "{}");
  EXPECT_THAT(RunDoctorOn({document}).error, Not(HasSubstr("as a trace config")));
}

// Up to eight sessions of one file have an answer each.
TEST(Doctor, ManySessionsOfAFile_AreSummedUp) {
  const TempFolder folder;
  const std::string trace = ReadTestdata("traces/slow-data-sources.pftrace");
  for (const bool many : {false, true}) {
    std::string joined;
    for (int i = 0; i < (many ? 9 : 8); ++i) joined += trace;
    const std::string text = RunDoctorOn({folder.Write("joined.pftrace", joined)}).out;
    EXPECT_EQ(text.find("9 sessions, by their findings") != std::string::npos, many);
    EXPECT_EQ(text.find("session 8: data loss") != std::string::npos, !many);
  }
}

TEST(Doctor, TimesOfALogCountFromItsSessionsStartToItsEnd) {
  const std::string text = RunDoctorOn({"--all", Capture("discard-v2/session.ops.jsonl.zst")}).out;
  EXPECT_THAT(WithoutLineBreaks(text), HasSubstr("up to the end at 3.033 s."));
}

TEST(Doctor, FitsOnAScreenUnlessAllIsAskedFor) {
  const std::string log = Capture("two-buffers-v2/session.ops.jsonl.zst");
  EXPECT_LE(std::ranges::count(RunDoctorOn({log}).out, '\n'), 40);
  EXPECT_GT(std::ranges::count(RunDoctorOn({"--all", log}).out, '\n'), 40);
}

TEST(Doctor, NamesOfDataSources_AreCheckedWhereALogHasThem) {
  TempFolder folder;
  const std::string config = folder.Write("a.pbtxt",
                                          "buffers { size_kb: 4096 }\n"
                                          "data_sources { config { name: \"track_event\" } }\n"
                                          "data_sources { config { name: \"linux.ftrce\" } }\n");
  EXPECT_THAT(WithoutLineBreaks(RunDoctorOn({"--config", config}).out),
              HasSubstr("No data source is known by the name 'linux.ftrce'; the nearest known name "
                        "is 'linux.ftrace'"));
  const std::string log = std::string(RS_TESTDATA) + "/inputs/life.ops.jsonl";
  EXPECT_THAT(WithoutLineBreaks(RunDoctorOn({"--all", "--config", config, log}).out),
              HasSubstr("'linux.ftrce'; did you mean 'linux.ftrace'?"));
}

TEST(Doctor, CutOffTrace) {
  TempFolder folder;
  std::string trace = ReadTestdata("captures/discard-v2/trace.pftrace.zst");
  trace.resize(trace.size() / 2);
  const Ran ran = RunDoctorOn({folder.Write("a.pftrace.zst", trace)});
  EXPECT_EQ(ran.error, "");
  EXPECT_EQ(ran.code, ExitCode::kNotice);
}

TEST(Doctor, OneOfSeveralIsMissing) {
  const Ran ran = RunDoctorOn({kDiscard, "/nowhere.pftrace"});
  EXPECT_EQ(ran.code, ExitCode::kNotice);
  EXPECT_THAT(ran.out, HasSubstr("     1  error: not readable; /nowhere.pftrace: cannot open"));
  EXPECT_THAT(RunDoctorOn({"/nowhere.pftrace"}).error, HasSubstr("/nowhere.pftrace"));
}

}  // namespace
}  // namespace ringscope
