// The adapter around a stand-in for Perfetto's buffers, which has the differences of each release
// and ringscope's own engines inside: it gives what these engines give.

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "commands/plugin/plugin.h"
#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/replay_events.h"
#include "core/compare/random_stream.h"
#include "core/ledger/ledger.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

std::string Adapter(int release, const char* buffer) {
  return fmt::format("{}/perfetto_{}.so{}", RS_PLUGINS, release, buffer);
}

std::vector<std::string> CasesOf(const std::string& engine) {
  std::vector<std::string> cases;
  for (const auto& entry : fs::directory_iterator(RS_UNPACKED "/conformance/expected/" + engine))
    cases.push_back(RS_UNPACKED "/conformance/cases/" + entry.path().filename().string());
  std::sort(cases.begin(), cases.end());
  return cases;
}

/// Events without the places of packets: V1 does not show them, nor V2 those of empty fragments.
std::string WithoutPlaces(const std::string& events) {
  std::string rest;
  for (size_t at = 0; at < events.size();) {
    const size_t place = std::min(events.find(",\"chunk\":", at), events.size());
    rest.append(events, at, place - at);
    at = std::min(events.find('}', place), events.size());
  }
  return rest;
}

/// Returns true if all places that the first events have are those of the second.
bool PlacesAgree(const std::string& found, const std::string& expected) {
  std::istringstream a(found), b(expected);
  for (std::string of_a, of_b; std::getline(a, of_a) && std::getline(b, of_b);)
    if (of_a.find("\"chunk\":") != std::string::npos && of_a != of_b) return false;
  return true;
}

class PerfettoReleases : public ::testing::TestWithParam<int> {};

INSTANTIATE_TEST_SUITE_P(V2, PerfettoReleases, ::testing::Values(54, 55, 56, 57, 58),
                         [](const auto& test) { return fmt::format("v{}", test.param); });

TEST_P(PerfettoReleases, ConformanceCases_AreThoseOfTheEngine) {
  const std::string engine = fmt::format("v2@{}", GetParam());
  const std::vector<std::string> cases = CasesOf(engine);
  EXPECT_EQ(cases.size(), 314u);
  // The stand-in renews its headers with each packet, which takes time.
  for (size_t i = 0; i < cases.size(); i += GetParam() == 58 ? 1 : 3) {
    const std::string& path = cases[i];
    const auto expected = testing::EventsOf(path, engine);
    const auto found = testing::EventsOf(path, Adapter(GetParam(), ""));
    ASSERT_TRUE(expected && found) << path;
    ASSERT_EQ(WithoutPlaces(*found), WithoutPlaces(*expected)) << path;
    ASSERT_TRUE(PlacesAgree(*found, *expected)) << path;
  }
}

TEST(PerfettoV1, ConformanceCases_AreThoseOfTheEngine) {
  const std::vector<std::string> cases = CasesOf("v1");
  EXPECT_EQ(cases.size(), 284u);
  for (const std::string& path : cases) {
    const auto expected = testing::EventsOf(path, "v1");
    ASSERT_TRUE(expected) << path;
    // v53 has no V2: its first plug-in is V1.
    for (const std::string& adapter : {Adapter(53, ""), Adapter(58, ":v1")}) {
      const auto found = testing::EventsOf(path, adapter);
      ASSERT_TRUE(found) << path;
      ASSERT_EQ(WithoutPlaces(*found), WithoutPlaces(*expected)) << path;
    }
  }
}

// A place that one side does not report, such as that of an empty fragment, is no difference.
TEST(PerfettoBuffers, Fuzz_FindsNothing) {
  const std::pair<const char*, std::string> sides[] = {
      {"v2@58", Adapter(58, "")}, {"v2@54", Adapter(54, "")}, {"v1", Adapter(58, ":v1")}};
  for (const auto& [engine, adapter] : sides) {
    const Ran ran = RunCommand(FuzzCommand(), {"--a", engine, "--b", adapter, "--count", "150"});
    EXPECT_EQ(ran.error, "");
    EXPECT_EQ(ran.code, ExitCode::kClean) << engine << ran.out;
  }
}

/// What happens to chunks, as lines.
class ChunkDiary : public EngineObserver {
 public:
  void OnCommitted(const ObservedChunk& chunk) override { Add("committed", chunk); }
  void OnRewritten(const ObservedChunk& chunk) override { Add("rewritten", chunk); }
  void OnRelocated(const ObservedChunk& chunk) override { Add("relocated", chunk); }
  void OnDiscarded(const ChunkCommit& commit, DiscardReason) override {
    lines.insert(fmt::format("discarded {}", Raw(commit.chunk)));
  }
  // What of these was consumed as the call began, or later on, is not the same for all.
  void OnEvicting(const ObservedChunk& chunk, const ChunkCommit&) override {
    AddName("evicting", chunk);
  }
  void OnErased(const ObservedChunk& chunk) override { AddName("erased", chunk); }
  void OnPatched(const ObservedChunk& chunk, const ChunkPatches&) override {
    Add("patched", chunk);
  }
  void OnPatchMissed(const ObservedChunk*, const ChunkPatches&, PatchMiss miss) override {
    lines.insert(fmt::format("missed {}", Name(miss)));
  }
  void OnWrap() override { lines.insert("wrap"); }

  void Add(const char* what, const ObservedChunk& c) {
    std::string payload(wire::AsText(c.payload));
    lines.insert(fmt::format("{} {} {} at {} {} {} {} {:02x} {} {}", what, c.sequence.Packed(),
                             Raw(c.chunk), c.offset, c.outer_size, c.payload_size, c.payload_avail,
                             c.flags, c.incomplete, std::hash<std::string>()(payload)));
  }
  std::multiset<std::string> lines;

 private:
  void AddName(const char* what, const ObservedChunk& c) {
    lines.insert(fmt::format("{} {} {} {} {}", what, c.sequence.Packed(), Raw(c.chunk), c.offset,
                             std::hash<std::string>()(std::string(wire::AsText(c.payload)))));
  }
};

TEST_P(PerfettoReleases, Observer_ReceivesTheSameOfChunks) {
  const EngineLookup lookup = EnginesAndPlugins();
  const EngineInfo* const infos[] = {lookup(fmt::format("v2@{}", GetParam())).value(),
                                     lookup(Adapter(GetParam(), "")).value()};
  std::map<std::string, int> seen;
  for (uint32_t seed = 0; seed < 12; ++seed) {
    const bool hostile = seed >= 6;
    ChunkDiary diaries[2];
    std::unique_ptr<Engine> engines[2];
    for (int i = 0; i < 2; ++i) {
      engines[i] =
          infos[i]
              ->create({.size = 4096,
                        .policy = seed % 3 == 2 ? FillPolicy::kDiscard : FillPolicy::kRingBuffer,
                        .observer = &diaries[i]})
              .value();
    }
    RandomStream stream(seed, hostile ? Conduct::kHostile : Conduct::kCorrect);
    for (int step = 0; step < 300; ++step) {
      const auto next = stream.Next();
      for (int i = 0; i < 2; ++i) {
        if (next.kind == RandomStream::Kind::kCommit) {
          engines[i]->Commit(next.commit);
        } else if (next.kind == RandomStream::Kind::kPatch) {
          engines[i]->ApplyPatches(next.patches);
        } else {
          engines[i]->BeginRead();
          while (engines[i]->NextPacket() != nullptr) continue;
        }
        ASSERT_EQ(engines[i]->CheckInvariants(), "") << seed << " " << step;
        const auto hold = [&](const ObservedChunk& chunk) { diaries[i].Add("held", chunk); };
        ASSERT_TRUE(engines[i]->VisitChunks(hold));
      }
      ASSERT_EQ(diaries[1].lines, diaries[0].lines) << seed << " " << step;
      for (const std::string& line : diaries[0].lines) ++seen[line.substr(0, line.find(' '))];
      for (ChunkDiary& diary : diaries) diary.lines.clear();
    }
  }
  for (const char* what : {"committed", "rewritten", "discarded", "evicting", "erased", "patched",
                           "missed", "wrap", "held"})
    EXPECT_GT(seen[what], 0) << what;
  EXPECT_EQ(seen["relocated"] > 0, GetParam() == 58);
}

}  // namespace
}  // namespace ringscope
