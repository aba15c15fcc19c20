// One question, one number: what several commands say of a session is the same in all of them.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/app.h"
#include "commands/testing/memory_run.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using Counts = std::map<std::string, uint64_t>;

/// The first session of a command's answer as JSON.
nlohmann::json SessionOf(std::vector<std::string> args) {
  args.insert(args.end(), {"--format", "json"});
  MemoryRun memory;
  const int status = RunApp(args, memory.streams);
  EXPECT_THAT(status, ::testing::AnyOf(0, 3)) << memory.err.text;
  return nlohmann::json::parse(memory.out.text).at("sessions").at(0);
}

/// A number of each object of an array, by another field of it.
Counts By(const nlohmann::json& array, const char* key,
          const std::function<uint64_t(const nlohmann::json&)>& value) {
  Counts counts;
  for (const nlohmann::json& object : array) {
    const nlohmann::json& name = object.at(key);
    counts[name.is_string() ? name.get<std::string>() : name.dump()] += value(object);
  }
  return counts;
}

std::function<uint64_t(const nlohmann::json&)> At(const char* pointer) {
  return [path = nlohmann::json::json_pointer(pointer)](const nlohmann::json& object) {
    return object.at(path).get<uint64_t>();
  };
}

class OneNumber : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string log_ =
      std::string(RS_TESTDATA) + "/captures/" + GetParam() + "/session.ops.jsonl.zst";
  const nlohmann::json gaps_ = SessionOf({"gaps", log_, "--limit", "0"});
};

TEST_P(OneNumber, PacketsOfABuffer) {
  const Counts written = By(gaps_.at("buffers"), "buffer", At("/written/packets"));
  const Counts lost = By(gaps_.at("buffers"), "buffer", At("/lost/packets"));

  const nlohmann::json replay = SessionOf({"replay", log_});
  EXPECT_EQ(By(replay.at("buffers"), "buffer", At("/packets/written")), written);
  EXPECT_EQ(By(replay.at("buffers"), "buffer", At("/packets/lost")), lost);

  const nlohmann::json advise = SessionOf({"advise", log_});
  EXPECT_EQ(By(advise.at("predicted"), "buffer", At("/packets")), written);
  EXPECT_EQ(By(advise.at("predicted"), "buffer", At("/lost_now")), lost);

  const nlohmann::json sweep = SessionOf({"sweep", log_});
  for (const nlohmann::json& configuration : sweep.at("configurations")) {
    if (configuration.at("scale") != 1.0) continue;
    const nlohmann::json& rows = configuration.at("buffers");
    EXPECT_EQ(By(rows, "buffer", At("/written/packets")), written);
    EXPECT_EQ(By(rows, "buffer",
                 [](const nlohmann::json& row) {
                   return At("/overwritten/packets")(row) + At("/discarded/packets")(row);
                 }),
              lost);
  }
}

TEST_P(OneNumber, PacketsOfASequence) {
  const Counts written = By(gaps_.at("sequences"), "sequence", At("/written/packets"));
  const Counts lost = By(gaps_.at("sequences"), "sequence", At("/lost/packets"));

  const nlohmann::json advise = SessionOf({"advise", log_});
  EXPECT_EQ(By(advise.at("sequences"), "sequence", At("/packets")), written);
  EXPECT_EQ(By(advise.at("sequences"), "sequence", At("/lost")), lost);

  const nlohmann::json graph = SessionOf({"graph", log_, "--top", "1000"});
  EXPECT_EQ(By(graph.at("graphs"), "sequence",
               [](const nlohmann::json& each) {
                 uint64_t all = 0;
                 for (const auto& [fate, count] : each.at("packets").items())
                   if (fate == "overwritten" || fate == "discarded") all += At("/packets")(count);
                 return all;
               }),
            lost);
}

TEST_P(OneNumber, WhoEvictedHowManyPackets) {
  Counts gaps, graph;
  for (const nlohmann::json& gap : gaps_.at("gaps"))
    for (const nlohmann::json& evictor : gap.at("evicted_by"))
      gaps[evictor.at("sequence")] += At("/packets")(evictor);
  const nlohmann::json graphs = SessionOf({"graph", log_, "--top", "1000"});
  for (const nlohmann::json& each : graphs.at("graphs"))
    for (const nlohmann::json& item : each.at("items"))
      if (item.contains("packets_evicted_by"))
        for (const auto& [sequence, packets] : item.at("packets_evicted_by").items())
          graph[sequence] += packets.get<uint64_t>();
  EXPECT_EQ(graph, gaps);
  // The answer names the first of them with the same shares.
  uint64_t all = 0;
  for (const auto& [sequence, packets] : gaps) all += packets;
  bool is_named = false;
  const nlohmann::json& lines = gaps_.at("answer").at("lines");
  for (const nlohmann::json& line : lines) {
    if (line.at("label") != "Evicted by") continue;
    is_named = true;
    const std::string text = line.at("text");
    const double percent = std::strtod(text.c_str(), nullptr);
    const std::string first = text.substr(text.find(' ') + 1);
    const std::string sequence = first.substr(0, first.find(' '));
    EXPECT_NEAR(percent, 100.0 * static_cast<double>(gaps[sequence]) / static_cast<double>(all),
                0.051)
        << text;
  }
  EXPECT_EQ(is_named, all > 0);
}

TEST_P(OneNumber, SizeThatLosesNothing) {
  const Counts needed = By(gaps_.at("remedies").at("sizes"), "buffer", At("/size"));
  const nlohmann::json advise = SessionOf({"advise", log_});
  const Counts planned = By(advise.at("predicted"), "buffer", At("/size_then"));
  for (const auto& [buffer, size] : needed) EXPECT_EQ(planned.at(buffer), size) << buffer;
  const nlohmann::json found = SessionOf({"sweep", log_, "--target", "loss=0"}).at("targets").at(0);
  if (!needed.empty()) {
    EXPECT_EQ(By(found.at("buffers"), "buffer", At("/size")), planned);
  }
}

TEST_P(OneNumber, SizesOfATrace) {
  const std::string trace =
      std::string(RS_TESTDATA) + "/captures/" + GetParam() + "/trace.pftrace.zst";
  MemoryRun memory;
  RunApp(std::vector<std::string>{"doctor", trace, "--format", "json"}, memory.streams);
  const nlohmann::json doctor = nlohmann::json::parse(memory.out.text).at("traces").at(0);
  const nlohmann::json advice = SessionOf({"advise", trace});
  if (!advice.contains("is_estimate")) {
    // Nothing was lost: then doctor has no size, either.
    EXPECT_EQ(doctor.dump().find("size_kb\""), std::string::npos);
    return;
  }
  std::map<std::string, std::string> sizes;
  for (const nlohmann::json& finding : doctor.at("findings"))
    for (const nlohmann::json& change : finding.at("changes"))
      sizes.try_emplace(change.at("path").get<std::string>(),
                        change.at("value").get<std::string>());
  for (const nlohmann::json& buffer : advice.at("buffers")) {
    const auto size = sizes.find("buffers[" + buffer.at("buffer").dump() + "].size_kb");
    if (size == sizes.end())
      EXPECT_EQ(buffer.at("size_then"), buffer.at("size"));
    else
      EXPECT_EQ(buffer.at("size_then").get<uint64_t>() / 1024, std::stoull(size->second));
  }
}

/// Losses that no size helps are losses: packets of this session are aborted and cut.
TEST(OneNumberOfLossesOtherwise, IsThatOfGaps) {
  const std::string log = std::string(RS_TESTDATA) + "/inputs/recorded-losses.tblog";
  const nlohmann::json gaps = SessionOf({"gaps", log, "--limit", "0"});
  const Counts lost = By(gaps.at("buffers"), "buffer", At("/lost/packets"));
  const Counts of_sequences = By(gaps.at("sequences"), "sequence", At("/lost/packets"));

  const nlohmann::json advise = SessionOf({"advise", log});
  EXPECT_EQ(By(advise.at("predicted"), "buffer", At("/lost_now")), lost);
  EXPECT_EQ(By(advise.at("sequences"), "sequence", At("/lost")), of_sequences);

  const nlohmann::json sweep = SessionOf({"sweep", log, "--target", "loss=0"});
  uint64_t otherwise = 0;
  for (const nlohmann::json& configuration : sweep.at("configurations")) {
    const nlohmann::json& rows = configuration.at("buffers");
    for (const nlohmann::json& row : rows) {
      const std::string id = row.at("buffer").dump();
      const std::string size = id + "=" + row.at("size").dump();
      const nlohmann::json replay = SessionOf({"replay", log, "--size", size});
      EXPECT_EQ(At("/lost")(row), By(replay.at("buffers"), "buffer", At("/packets/lost")).at(id))
          << size;
      otherwise += At("/lost_otherwise")(row);
    }
    if (configuration.at("scale") == 1.0) {
      EXPECT_EQ(By(rows, "buffer", At("/lost")), lost);
    }
  }
  EXPECT_GT(otherwise, 0u);
  const nlohmann::json& found = sweep.at("targets").at(0);
  EXPECT_FALSE(found.at("found").get<bool>());
  EXPECT_THAT(found.at("why_not").get<std::string>(), ::testing::HasSubstr("whatever its size"));
}

INSTANTIATE_TEST_SUITE_P(Captures, OneNumber, testing::AllCaptures());

}  // namespace
}  // namespace ringscope
