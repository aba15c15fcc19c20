// The released buffers' own answers: each case of testdata/conformance, replayed by each engine
// that it has answers for, event by event.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/ops/events_jsonl.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/string_sink.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Further keys are allowed in what we print, none may be missing or differ.
bool HasAnswers(const Json& expected, const Json& found) {
  if (!expected.is_object()) return expected == found;
  return found.is_object() &&
         std::all_of(expected.items().begin(), expected.items().end(), [&](const auto& item) {
           return found.contains(item.key()) && HasAnswers(item.value(), found[item.key()]);
         });
}

Result<std::string> ReplayToEvents(const std::string& path, const std::string& engine) {
  StringSink sink;
  EventsWriter events(sink);
  ReplayOptions options;
  options.session.all.engine = engine;
  options.plain_streams_as_recorded = true;
  Replay replay(options, events);
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<LogSource> log, OpenLog(path));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  RS_RETURN_IF_ERROR(events.Finish());
  return sink.text;
}

class ConformanceTest : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, ConformanceTest, testing::AllEngines(),
                         testing::NameOfParam<const char*>);

TEST_P(ConformanceTest, AllCases) {
  const std::filesystem::path root = std::string(RS_UNPACKED) + "/conformance";
  int cases = 0;
  for (const auto& entry : std::filesystem::directory_iterator(root / "expected" / GetParam())) {
    const std::string name = entry.path().filename();
    SCOPED_TRACE(name);
    const auto found = ReplayToEvents(root / "cases" / name, GetParam());
    ASSERT_TRUE(found) << found.error().ToString();
    const std::vector<Json> expected = testing::ParsedJsonLines(
        testing::ReadTestdata("conformance/expected/" + std::string(GetParam()) + "/" + name));
    const std::vector<Json> events = testing::ParsedJsonLines(*found);
    for (size_t i = 0; i < std::min(expected.size(), events.size()); ++i) {
      ASSERT_TRUE(HasAnswers(expected[i], events[i]))
          << "event " << i + 1 << "\nexpected " << expected[i] << "\nfound    " << events[i];
    }
    ASSERT_EQ(events.size(), expected.size());
    ++cases;
  }
  EXPECT_EQ(cases, std::string(GetParam()) == "v1" ? 284 : 314);
}

}  // namespace
}  // namespace ringscope
