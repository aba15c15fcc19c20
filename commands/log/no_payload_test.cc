// Logs without payloads: what is left of a log, and what the commands make of it.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <set>
#include <string>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "core/base/wire.h"
#include "core/testing/message_text.h"
#include "formats/io/hex.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::Sub;
using testing::Uint;

/// A log of a capture, and the same without payloads.
class NoPayloadCapture : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    full_ = Import("full.tblog", {});
    bare_ = Import("bare.tblog", {"--no-payload"});
  }
  std::string Import(const std::string& name, std::vector<std::string> options) {
    std::filesystem::create_directories(folder_.File(name.substr(0, 4)));
    const std::string path = folder_.File(name.substr(0, 4) + "/a.tblog");
    options.insert(options.end(), {testing::CapturePath(GetParam()), "-o", path});
    EXPECT_EQ(RunCommand(ImportCommand(), options).error, "");
    return path;
  }

  TempFolder folder_;
  std::string full_, bare_;
};
INSTANTIATE_TEST_SUITE_P(Captures, NoPayloadCapture, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

/// Without what is the name of something in a packet, and the paths.
Json WithoutNames(Json document) {
  static const std::set<std::string> kNames = {
      "input",   "log",   "path",        "thread", "name",   "names",
      "kind",    "kinds", "writer_name", "title",  "answer",  // with names of threads
      "content",                                              // of packets in several fragments
      "config",                                               // with all remedies
      "xxh3"};                                                // of bytes
  if (document.is_object()) {
    for (const std::string& name : kNames) document.erase(name);
    for (auto& [key, value] : document.items()) value = WithoutNames(value);
  } else if (document.is_array()) {
    Json rest = Json::array();
    for (Json& value : document) rest.push_back(WithoutNames(value));
    document = rest;
  }
  return document;
}

TEST_P(NoPayloadCapture, ReportsAreThoseOfTheFullLog) {
  const auto run = [](Command command, std::vector<std::string> args, const std::string& path) {
    args.insert(args.end(), {path, "--format", "json"});
    const Ran ran = RunCommand(command, args);
    EXPECT_EQ(ran.error, "");
    return WithoutNames(testing::ParsedJson(ran.out));
  };
  const auto expect_same = [&](Command command, std::vector<std::string> args) {
    SCOPED_TRACE(command.name);
    const Json full = run(command, args, full_), bare = run(command, args, bare_);
    EXPECT_TRUE(full == bare) << Json::diff(full, bare).dump(1).substr(0, 2000);
  };
  expect_same(ReplayCommand(), {});
  expect_same(ReplayCommand(), {"--size", "64k", "--engine", "v1"});
  expect_same(StatsCommand(), {});
  expect_same(GapsCommand(), {});
  expect_same(GapsCommand(), {"--size", "64k"});
  expect_same(SweepCommand(), {"--sizes", "16k,64k,1M"});
  expect_same(DiffCommand(), {"--a", "v1", "--b", "v2@58"});
  expect_same(AdviseCommand(), {});
}

// These packets are mostly filled with one letter, which hardly takes space in the full log either.
TEST_P(NoPayloadCapture, IsATenthOfTheChunksBytes) {
  const auto full = std::filesystem::file_size(full_), bare = std::filesystem::file_size(bare_);
  const Json info = testing::ParsedJson(RunCommand(InfoCommand(), {full_, "--format", "json"}).out);
  EXPECT_LE(bare * 10, info["sessions"][0]["chunk_bytes"].get<uint64_t>());
  EXPECT_LE(bare * 3, full * 2);
}

/// Operations whose packets, patches and leftovers have a marker wherever bytes can be.
std::string MarkedOps(const std::string& marker) {
  const std::string packet = Uint(8, 1000) + Sub(11, Sub(23, marker)) + Sub(999, marker);
  std::string payload;
  wire::AppendVarint(payload, packet.size());
  payload += packet + marker;
  const auto hex = [](std::string_view text) {
    std::string out;
    AppendHex(out, wire::AsBytes(text));
    return out;
  };
  return R"({"op":"buffer","id":0,"size":65536,"policy":"ring_buffer"}
{"op":"commit","producer":1,"writer":1,"chunk":0,"fragments":1,"payload":")" +
         hex(payload) + R"("}
{"op":"patch","producer":1,"writer":1,"chunk":0,"patches":[{"offset":4,"data":")" +
         hex(marker.substr(0, 4)) + R"("}]}
{"op":"request","producer":1,"raw":")" +
         hex("\x0a\x7f" + marker) + R"("}
)";
}

TEST(NoPayload, NothingOfItIsInTheFile) {
  const std::string marker = "Marker-in-a-packet";
  TempFolder folder;
  const std::string log = folder.File("log.tblog");
  const auto dump = [&](std::vector<std::string> options) {
    options.insert(options.end(), {"-", "-o", log, "--force"});
    EXPECT_EQ(RunCommand(ImportCommand(), options, MarkedOps(marker)).error, "");
    return RunCommand(DumpCommand(), {log, "--format", "ops"}).out;
  };
  std::string hex, start;
  AppendHex(hex, wire::AsBytes(marker));
  AppendHex(start, wire::AsBytes(marker.substr(0, 4)));
  EXPECT_THAT(dump({}), HasSubstr(hex));
  const std::string bare = dump({"--no-payload"});
  EXPECT_THAT(bare, Not(HasSubstr(start)));
  EXPECT_THAT(bare, HasSubstr(R"("without_payload":true)"));
  // The text is as good as the log.
  const std::string again = folder.File("again.tblog");
  EXPECT_EQ(RunCommand(ImportCommand(), {"-", "-o", again}, bare).error, "");
  EXPECT_EQ(ReadFile(again), ReadFile(log));
}

TEST(NoPayload, WhatNeedsPackets_IsRefused) {
  TempFolder folder;
  const std::string log = folder.File("log.tblog");
  EXPECT_EQ(
      RunCommand(ImportCommand(), {"-", "-o", log, "--no-payload"}, MarkedOps("secret")).error, "");
  const auto expect_refusal = [&](Command command, std::vector<std::string> args) {
    SCOPED_TRACE(command.name);
    args.push_back(log);
    const Ran ran = RunCommand(command, args);
    EXPECT_EQ(ran.error_code, ErrorCode::kUsage);
    EXPECT_THAT(ran.error, HasSubstr("needs the content of packets"));
  };
  expect_refusal(ReplayCommand(), {"-o", folder.File("out.pftrace")});
  expect_refusal(DumpCommand(), {"--decode"});
  EXPECT_EQ(folder.FileCount(), 1u);
  const Ran recorded =
      RunCommand(RecordCommand(), {"--no-payload", "--compare", "t.pftrace", "-o", "x.tblog"});
  EXPECT_EQ(recorded.error_code, ErrorCode::kUsage);
  EXPECT_THAT(RunCommand(InfoCommand(), {log}).out, HasSubstr("left out"));
}

}  // namespace
}  // namespace ringscope
