// Comparisons of neighbouring releases, held to the released buffers' own answers: two replays of a
// case give the same if, and only if, the two releases' answers to it are the same.

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/compare/log_differ.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// What a release answered to a case.
struct Answers {
  std::vector<std::string> results;  // packets and patches, in order
  std::vector<Json> counters;
  bool reads = false;  // the case has reads
};

Answers AnswersOf(const std::string& engine, const std::string& name) {
  const std::string text = testing::ReadTestdata("conformance/expected/" + engine + "/" + name);
  Answers answers;
  for (const std::string_view line : testing::Lines(text)) {
    const Json event = testing::ParsedJson(line);
    const std::string kind = event["event"];
    answers.reads |= kind == "read_done";
    if (kind == "stats") answers.counters.push_back(event["stats"]);
    // With the ends of passes, as a packet may only be returned at another moment.
    if (kind == "packet" || kind == "clone_packet" || kind == "patch" || kind == "read_done")
      answers.results.emplace_back(line);
  }
  return answers;
}

LogDiff DiffCase(const std::string& a, const std::string& b, const std::string& name) {
  DiffOptions options;
  options.sides.a.session.all.engine = a;
  options.sides.b.session.all.engine = b;
  LogDiffer diff(options);
  const auto log = OpenLog(testing::TestdataPath("conformance/cases/" + name).string()).value();
  while (const std::optional<Op> op = log->Next().value())
    EXPECT_TRUE(diff.Apply(*op, log->record_number()));
  return diff.Finish().value();
}

class DiffConformance : public ::testing::TestWithParam<std::pair<const char*, const char*>> {};

INSTANTIATE_TEST_SUITE_P(Neighbours, DiffConformance,
                         ::testing::Values(std::pair("v2@54", "v2@55"), std::pair("v2@55", "v2@56"),
                                           std::pair("v2@56", "v2@57"),
                                           std::pair("v2@57", "v2@58")),
                         [](const auto& test) {
                           return std::string(test.param.first + 3) + "_" +
                                  std::string(test.param.second + 3);
                         });

TEST_P(DiffConformance, IsSameWhereTheAnswersAre) {
  const auto& [a, b] = GetParam();
  int same = 0, different = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(testing::TestdataPath("conformance/expected") / a)) {
    const std::string name = entry.path().filename();
    SCOPED_TRACE(name);
    const Answers of_a = AnswersOf(a, name);
    const Answers of_b = AnswersOf(b, name);
    if (!of_a.reads) continue;  // diff reads such a case at its end, and there is no answer to that
    const LogDiff result = DiffCase(a, b, name);
    EXPECT_EQ(result.SameResults(), of_a.results == of_b.results);
    EXPECT_EQ(result.counts[DifferenceKind::kCounter] == 0, of_a.counters == of_b.counters);
    ++(of_a.results == of_b.results ? same : different);
  }
  EXPECT_GT(same, 50);
  EXPECT_GT(different, 20);
}

}  // namespace
}  // namespace ringscope
