// Plug-ins: a whole one gives what the engine that it wraps gives; each broken one is refused, or
// found out, with an error that names what is wrong.

#include "commands/plugin/plugin.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/replay_events.h"
#include "core/compare/random_stream.h"
#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/ops/events_jsonl.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

std::string PluginPath(const std::string& name) { return RS_PLUGINS "/" + name + ".so"; }
std::string Broken(const std::string& fault) { return PluginPath("test_plugin_" + fault); }
const std::string kExample = PluginPath("v2_plugin");

using testing::Events;
using testing::EventsOf;

// A buffer, a chunk of one packet, a patch that finds nothing, a read, and a read of a clone.
constexpr const char* kPluginLog =
    R"({"op":"buffer","id":3,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"producer","producer":1,"uid":0,"pid":0,"machine":7})"
    "\n"
    R"({"op":"commit","buffer":3,"producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"020801"})"
    "\n";
constexpr const char* kPatch =
    R"({"op":"patch","buffer":3,"producer":1,"writer":1,"chunk":9,"patches":[{"offset":0,"data":"00000000"}]})"
    "\n";
constexpr const char* kRead = R"({"op":"read","buffer":3})"
                              "\n";
constexpr const char* kClone = R"({"op":"clone_read","buffer":3})"
                               "\n";

/// The error of a replay with this plug-in.
std::string ErrorOf(const std::string& plugin, const std::string& log = kPluginLog) {
  const auto events = Events(MakeMemorySource(log), plugin);
  return events ? "no error" : events.error().ToString();
}

class PluginVersions : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(OfTheInterface, PluginVersions,
                         ::testing::Values("v2_plugin", "v2_plugin_abi_1"),
                         [](const auto& test) { return std::string(test.param); });

TEST_P(PluginVersions, ConformanceCases_AreThoseOfTheEngineItWraps) {
  const std::string plugin = PluginPath(GetParam());
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(RS_UNPACKED "/conformance/expected/v2@58")) {
    const std::string path = RS_UNPACKED "/conformance/cases/" + entry.path().filename().string();
    SCOPED_TRACE(path);
    const auto expected = EventsOf(path, "v2@58");
    const auto found = EventsOf(path, plugin);
    ASSERT_TRUE(expected) << expected.error().ToString();
    ASSERT_TRUE(found) << found.error().ToString();
    ASSERT_EQ(*found, *expected);
    ++cases;
  }
  EXPECT_EQ(cases, 314);
}

TEST(ExamplePlugin, Captures_AreReplayedAlike) {
  for (const char* capture : {"two-buffers-v2", "short-v2"}) {
    const std::string path =
        std::string(RS_TESTDATA "/captures/") + capture + "/session.ops.jsonl.zst";
    const auto expected = EventsOf(path, "v2@58");
    ASSERT_TRUE(expected) << expected.error().ToString();
    EXPECT_GT(expected->size(), 100'000u);
    const auto found = EventsOf(path, kExample);
    ASSERT_TRUE(found) << found.error().ToString();
    EXPECT_EQ(*found, *expected) << capture;
  }
}

/// Writes down all that is reported to it.
class Diary : public EngineObserver {
 public:
  void OnCommitted(const ObservedChunk& chunk) override { Add("committed", chunk); }
  void OnRewritten(const ObservedChunk& chunk) override { Add("rewritten", chunk); }
  void OnRelocated(const ObservedChunk& chunk) override { Add("relocated", chunk); }
  void OnErased(const ObservedChunk& chunk) override { Add("erased", chunk); }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason reason) override {
    Add("discarded", commit, static_cast<int>(reason));
  }
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit& by) override {
    Add("evicting", chunk);
    Add("for", by, 0);
  }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches& patches) override {
    Add("patched", patches, 0);
    Add("of", chunk);
  }
  void OnPatchMissed(const ObservedChunk* chunk, const ChunkPatches& patches,
                     PatchMiss miss) override {
    Add("missed", patches, static_cast<int>(miss));
    if (chunk != nullptr) Add("of", *chunk);
  }
  void OnPacketReturned(const Packet& packet) override {
    lines += fmt::format("packet {} {} ", packet.size, packet.dropped);
    Add("", packet.sequence, packet.place, 0);
  }
  void OnPacketAbandoned(SequenceKey key, const PacketPlace& place, uint32_t cause) override {
    Add("abandoned", key, place, cause);
  }
  void OnLossBit(SequenceKey key, ChunkId chunk, uint32_t bit) override {
    lines += fmt::format("loss {} {} {}\n", key.Packed(), Raw(chunk), bit);
  }
  void OnWrap() override { lines += "wrap\n"; }
  void OnPadding(uint64_t offset, uint32_t size) override {
    lines += fmt::format("padding {} {}\n", offset, size);
  }
  void OnStalled(SequenceKey key, ChunkId chunk, StallReason reason) override {
    lines += fmt::format("stalled {} {} {}\n", key.Packed(), Raw(chunk), static_cast<int>(reason));
  }

  void Add(const char* what, const ObservedChunk& c) {
    lines +=
        fmt::format("{} {} {} at {} {} {} {} {} {}\n", what, c.sequence.Packed(), Raw(c.chunk),
                    c.offset, c.outer_size, c.payload_size, c.payload_avail, c.flags, c.incomplete);
  }
  std::string lines;

 private:
  void Add(const char* what, const ChunkCommit& c, int reason) {
    lines += fmt::format("{} {} {} {} {} {} {} {} {} {}\n", what, c.sequence.Packed(), Raw(c.chunk),
                         c.identity.uid, c.identity.pid, c.fragments, c.flags, c.complete,
                         wire::AsText(c.payload), reason);
  }
  void Add(const char* what, const ChunkPatches& p, int miss) {
    lines += fmt::format("{} {} {} {} {}", what, p.sequence.Packed(), Raw(p.chunk), p.more, miss);
    for (const Patch& patch : p.patches)
      lines += fmt::format(" {} {}", patch.offset, wire::AsText(Bytes(patch.data, kPatchSize)));
    lines += "\n";
  }
  void Add(const char* what, SequenceKey key, const PacketPlace& place, uint32_t cause) {
    lines += fmt::format("{} {} {} {} {} {}\n", what, key.Packed(), Raw(place.first_chunk),
                         place.first_offset, Raw(place.last_chunk), cause);
  }
};

/// What the engine does to a hostile stream, in an observer's words.
std::string Watch(const EngineInfo& info, uint32_t seed) {
  Diary diary;
  const auto engine =
      info.create({.size = 4096, .policy = FillPolicy::kRingBuffer, .observer = &diary}).value();
  RandomStream stream(seed, Conduct::kHostile);
  for (int i = 0; i < 400; ++i) {
    const auto step = stream.Next();
    switch (step.kind) {
      case RandomStream::Kind::kCommit:
        engine->Commit(step.commit);
        break;
      case RandomStream::Kind::kPatch:
        engine->ApplyPatches(step.patches);
        break;
      default:
        engine->BeginRead();
        while (engine->NextPacket() != nullptr) continue;
    }
    EXPECT_EQ(engine->CheckInvariants(), "");
    const auto cursor =
        engine->VisitChunks([&](const ObservedChunk& chunk) { diary.Add("held", chunk); });
    diary.lines += fmt::format("cursor {}\n", cursor.value());
  }
  return diary.lines;
}

TEST(ExamplePlugin, Observer_ReceivesTheSame) {
  const EngineLookup lookup = EnginesAndPlugins();
  const EngineInfo& plugin = *lookup(kExample).value();
  EXPECT_TRUE(plugin.reports.chunks && plugin.reports.abandoned && plugin.reports.stalls);
  std::string all;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const std::string expected = Watch(*FindEngine("v2@58").value(), seed);
    ASSERT_EQ(Watch(plugin, seed), expected) << seed;
    all += expected;
  }
  for (const char* what :
       {"committed", "rewritten", "relocated", "erased", "discarded", "evicting", "patched",
        "missed", "packet", "abandoned", "loss", "wrap", "padding", "stalled", "held"})
    EXPECT_THAT(all, HasSubstr(what));
}

TEST(ExamplePlugin, Failures_OfCreateAreReported) {
  const auto engine = EnginesAndPlugins()(kExample).value()->create({.size = 0});
  ASSERT_FALSE(engine);
  EXPECT_THAT(engine.error().ToString(), HasSubstr("v2_plugin.so: the plug-in's create failed: "));
}

TEST(PluginLookup, EnginesOutliveIt) {
  std::unique_ptr<Engine> engine;
  {
    const EngineLookup lookup = EnginesAndPlugins();
    engine = lookup(kExample).value()->create({.size = 4096}).value();
    EXPECT_EQ(lookup(kExample).value(), lookup(kExample).value());  // loaded once
  }
  EXPECT_EQ(engine->stats().buffer_size, 4096u);
}

TEST(PluginLookup, OtherNamesAreTheCatalogues) {
  EXPECT_EQ(EnginesAndPlugins()("v2").value(), FindEngine("v2").value());
  EXPECT_THAT(EnginesAndPlugins()("v2@59").error().ToString(), HasSubstr("did you mean"));
  EXPECT_TRUE(IsPluginPath("libx.so"));
  EXPECT_TRUE(IsPluginPath("plugins/x"));
  EXPECT_FALSE(IsPluginPath("v2@58"));
}

TEST(PluginLookup, SeveralPluginsOfOneFile_AreCalledByName) {
  const EngineLookup lookup = EnginesAndPlugins();
  EXPECT_EQ(lookup(Broken("SECOND")).value()->corresponds, "Plug-in test");
  EXPECT_EQ(lookup(Broken("SECOND") + ":test").value()->corresponds, "Plug-in test");
  const EngineInfo& second = *lookup(Broken("SECOND") + ":second").value();
  EXPECT_EQ(second.corresponds, "Plug-in second");
  EXPECT_EQ(second.name, Broken("SECOND") + ":second");
  const auto third = lookup(Broken("SECOND") + ":third");
  ASSERT_FALSE(third);
  EXPECT_THAT(third.error().ToString(), HasSubstr("has no plug-in 'third', found: test, second"));
  EXPECT_EQ(Plugin::LoadAll(Broken("SECOND")).value().size(), 2u);
}

TEST(PluginLookup, ColonsInPathsAreNoNames) {
  const fs::path folder = fs::path(::testing::TempDir()) / "plug:ins";
  fs::create_directories(folder);
  const std::string plain = (folder / "libx.so").string(), with = (folder / "libx.so:v1").string();
  for (const std::string& path : {plain, with})
    fs::copy_file(Broken("NONE"), path, fs::copy_options::overwrite_existing);
  EXPECT_TRUE(IsPluginPath("libx.so:v1"));
  EXPECT_EQ(EnginesAndPlugins()(plain).value()->corresponds, "Plug-in test");
  EXPECT_EQ(EnginesAndPlugins()(with).value()->corresponds, "Plug-in test");
  fs::remove(with);
  EXPECT_THAT(EnginesAndPlugins()(with).error().ToString(), HasSubstr("has no plug-in 'v1'"));
  EXPECT_EQ(PluginName::Parse("./a:b/c.so").file, "./a:b/c.so");
  fs::remove_all(folder);
}

TEST(PluginLookup, APluginOfVersion1IsAskedForIt) {
  const auto plugin = Plugin::Load(PluginPath("test_plugin_abi_1")).value();
  EXPECT_EQ(plugin->functions.abi_version, 1u);
  EXPECT_TRUE(plugin->EventNames(true).empty());
  const auto whole = Plugin::Load(PluginPath("v2_plugin_abi_1")).value();
  EXPECT_EQ(whole->functions.abi_version, 1u);
  EXPECT_TRUE(whole->EventNames(false).empty());
}

// Chunks are of use only with their end: what belongs to them is left out, what counts by itself is
// not.
TEST(PluginLookup, PartOfTheReports) {
  const auto plugin = Plugin::Load(Broken("PARTIAL")).value();
  EXPECT_THAT(plugin->EventNames(true), ::testing::ElementsAre("committed", "discarded"));
  Diary diary;
  const auto engine = EnginesAndPlugins()(Broken("PARTIAL"))
                          .value()
                          ->create({.size = 4096, .observer = &diary})
                          .value();
  engine->Commit({.sequence = {ProducerId{1}, WriterId{1}}});
  EXPECT_EQ(engine->failure(), nullptr);
  EXPECT_THAT(diary.lines, ::testing::StartsWith("discarded "));
  EXPECT_THAT(diary.lines, ::testing::EndsWith(" 5\n"));
}

TEST(PluginLookup, NoLogCanHaveCodeLoaded) {
  ReplayListener sink;
  Session::Options options;
  options.find_engine = EnginesAndPlugins();
  Session session(options, sink);
  BufferSetUp setup;
  setup.size = 4096;
  setup.engine = kExample;
  const Status status = session.Apply({.time_ns = {}, .body = setup});
  ASSERT_FALSE(status);
  EXPECT_THAT(status.error().ToString(), HasSubstr("which this build does not have"));
}

TEST(PluginFaults, Whole_IsReplayed) {
  const auto events = Events(MakeMemorySource(kPluginLog), PluginPath("test_plugin_abi_1"));
  ASSERT_TRUE(events) << events.error().ToString();
  const auto expected = Events(MakeMemorySource(kPluginLog), "v2");
  EXPECT_EQ(events->substr(0, events->find("\"stats\"")),
            expected->substr(0, expected->find("\"stats\"")));
}

TEST(PluginFaults, WithoutPlaces_FatesAreUnknown) {
  const auto events = Events(MakeMemorySource(kPluginLog), Broken("NONE"));
  EXPECT_THAT(events.value(), HasSubstr("\"fnv1a64\":\"084db707b5028782\"}"));
  EXPECT_EQ(RunCommand(StatsCommand(), {"-", "--engine", Broken("NONE")}, kPluginLog).error, "");
  EXPECT_THAT(RunCommand(GapsCommand(), {"-", "--engine", Broken("NONE")}, kPluginLog).error,
              HasSubstr("buffer 3: the plug-in does not report the places of its packets"));
}

struct FaultCase {
  const char* fault;
  const char* error;
};

TEST(PluginFaults, AreReportedWithTheFile) {
  const FaultCase cases[] = {
      {"NO_SYMBOL", "exports no function 'ringscope_get_plugin'"},
      {"NULL_PLUGIN", "does not support version 2 of the plug-in interface"},
      {"ABI_VERSION", "has version 7 of the plug-in interface, expected 1 to 2"},
      {"CIRCLE", "has more than 64 plug-ins"},
      {"MACHINE", "buffer 3: the plug-in cannot continue: machine 7"},
      {"SMALL_STRUCT", "struct_size is 32 bytes, expected at least 96"},
      {"NULL_FUNCTION", "function 'commit' is null"},
      {"NO_NAME", "has no name"},
      {"CREATE", "buffer 3: the plug-in's create failed: no space for so many bytes"},
      {"NULL_SLICE",
       "buffer 3: the plug-in returned a packet whose slice 0 has 2 bytes "
       "at a null pointer"},
      {"NULL_SLICES", "a packet with 1 slice at a null pointer"},
      {"HUGE_PACKET", "returned more than was ever committed"},
      {"NO_SEQUENCE", "a packet of sequence 0:0"},
      {"FAR_PLACE", "a packet in chunks 1 to 0, expected no more chunks than were"},
      {"ENDLESS", "returned more than was ever committed"},
      {"BAD_ANSWER", "next_packet returned 7, expected 1 or 0"},
      {"COMMIT", "cannot continue: a check of the plug-in's own did not hold"},
      {"PATCH", "cannot continue: no reason given"},
      {"CLONE", "the plug-in's clone failed: not while it rains"},
      {"NONE", "cannot clone a buffer: it has no clone function"},
      {"OLDER", "cannot clone a buffer: it has no clone function"},
      {"NEWER", "cannot clone a buffer: it has no clone function"}};
  for (const FaultCase& fault : cases) {
    SCOPED_TRACE(fault.fault);
    const std::string path = Broken(fault.fault);
    const std::string error = ErrorOf(path, std::string(kPluginLog) + kPatch + kRead + kClone);
    EXPECT_THAT(error, ::testing::StartsWith(path + ": "));
    EXPECT_THAT(error, HasSubstr(fault.error));
    EXPECT_THAT(error, ::testing::EndsWith(")"));  // ends with what to do
  }
}

/// What a plug-in's replay ends with if someone watches.
std::string ObservedError(const std::string& plugin) {
  EngineObserver observer;
  const auto engine =
      EnginesAndPlugins()(plugin).value()->create({.size = 4096, .observer = &observer}).value();
  engine->Commit({.sequence = {ProducerId{1}, WriterId{1}}});
  engine->BeginRead();
  return engine->failure() == nullptr ? "none" : engine->failure()->ToString();
}

TEST(PluginFaults, BadReports_AreErrors) {
  EXPECT_THAT(ObservedError(Broken("BAD_REPORT")),
              HasSubstr("called 'discarded' with 77, expected at most 5"));
  EXPECT_THAT(ObservedError(Broken("NO_CHUNK")),
              HasSubstr("called 'committed' without what the call is about"));
  EXPECT_THAT(ObservedError(Broken("LATE_DISCARD")),
              HasSubstr("called 'discarded' outside a commit"));
  EXPECT_THAT(ObservedError(Broken("OTHER_DISCARD")),
              HasSubstr("called 'discarded' for chunk 5 of 1:1, expected the commit under way, "
                        "chunk 0 of 1:1"));
  EXPECT_THAT(ObservedError(Broken("FAR_GIVEN_UP")),
              HasSubstr("called 'packet_given_up' with chunks 1 to 0, expected no more than were"));
  EXPECT_EQ(ObservedError(Broken("NONE")), "none");
}

TEST(PluginFaults, ChunksThatCannotBe_AreAnError) {
  const auto error_of = [](const std::string& plugin) {
    const auto engine = EnginesAndPlugins()(plugin).value()->create({.size = 4096}).value();
    const auto cursor = engine->VisitChunks([](const ObservedChunk&) {});
    return cursor ? "none" : cursor.error().ToString();
  };
  EXPECT_THAT(error_of(Broken("OVERLAP")),
              HasSubstr("test_plugin_OVERLAP.so: the plug-in's chunks after offset 32 or its write "
                        "cursor 0 are not possible in a buffer of 4096 bytes"));
  EXPECT_THAT(error_of(Broken("FAR_CURSOR")), HasSubstr("its write cursor 4097 are not possible"));
  EXPECT_THAT(error_of(Broken("NONE")), HasSubstr("the plug-in does not report its chunks"));
  EXPECT_THAT(error_of(Broken("OLDER")), HasSubstr("the plug-in does not report its chunks"));
  EXPECT_EQ(error_of(kExample), "none");
}

// It is neither an endless list of what is wrong nor an endless loop.
TEST(PluginFaults, RewritesOfChunksThatNeverCame_EndWithAResultOrAnError) {
  constexpr int kCommits = 10'000;
  constexpr size_t kMostBytes = 64 << 10;
  const TempFolder folder;
  std::string log = R"({"op":"buffer","id":3,"size":4096,"policy":"ring_buffer"})"
                    "\n";
  for (int i = 0; i < kCommits; ++i)
    log += fmt::format(
        R"({{"op":"commit","buffer":3,"producer":1,"writer":1,"chunk":{},"fragments":1,"payload":"020801"}})"
        "\n",
        i);
  const std::string path = folder.Write("log.ops.jsonl", log);
  const std::string plugin = Broken("REWRITE");
  const auto expect_an_end = [&](const Command& command, std::vector<std::string> args) {
    args.push_back(path);
    const Ran ran = RunCommand(command, args);
    EXPECT_TRUE(!ran.error.empty() || !ran.out.empty() || !ran.err.empty());
    EXPECT_LT(ran.out.size() + ran.err.size() + ran.error.size(), kMostBytes);
  };
  expect_an_end(GapsCommand(), {"--engine", plugin});
  expect_an_end(TimelineCommand(), {"--engine", plugin, "-o", folder.File("timeline.pftrace")});
  expect_an_end(DiffCommand(), {"--a", plugin, "--b", "v2"});
  expect_an_end(GraphCommand(), {"--engine", plugin});
}

TEST(PluginFaults, AfterAFailureNothingContinues) {
  const auto engine = EnginesAndPlugins()(Broken("COMMIT")).value()->create({.size = 4096}).value();
  const uint8_t bytes[] = {1, 7};
  engine->Commit({.sequence = {ProducerId{1}, WriterId{1}}, .payload = bytes});
  engine->stats();  // a commit that nobody observes is waited for with the first question
  ASSERT_NE(engine->failure(), nullptr);
  const std::string first = engine->failure()->message;
  engine->BeginRead();
  EXPECT_EQ(engine->NextPacket(), nullptr);
  EXPECT_FALSE(engine->ApplyPatches({.sequence = {ProducerId{1}, WriterId{1}}}));
  EXPECT_FALSE(engine->Clone());
  EXPECT_EQ(engine->CheckInvariants(), first);
  EXPECT_EQ(engine->failure()->message, first);
}

TEST(PluginFaults, FilesThatAreNone_AreErrors) {
  EXPECT_THAT(ErrorOf("./no-such.so"),
              HasSubstr("./no-such.so: the plug-in cannot be opened: No such file or directory"));
  const TempFolder folder;
  const std::string text = folder.Write("text.so", "This is no shared object.\n");
  EXPECT_THAT(ErrorOf(text), HasSubstr("expected a shared object that can be loaded, found: "));
  EXPECT_THAT(ErrorOf(folder.path()), HasSubstr("expected a shared object"));
}

TEST(PluginFaults, InTheLastRead_AreReported) {
  const Ran ran = RunCommand(
      StatsCommand(), {"-", "--engine", Broken("NO_SEQUENCE"), "--reads", "none"}, kPluginLog);
  EXPECT_THAT(ran.error, HasSubstr("a packet of sequence 0:0"));
}

}  // namespace
}  // namespace ringscope
