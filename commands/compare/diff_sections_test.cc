// A comparison does not depend on how many records the sides replay before they are compared, nor
// on how far a side is ahead.

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/compare/diff_logs.h"
#include "commands/compare/diff_report.h"
#include "commands/compare/diff_words.h"
#include "commands/testing/memory_run.h"
#include "core/compare/log_differ.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

/// Replays as late as it can: side B first, and all that was put.
class LateRunner : public SideRunner {
 public:
  explicit LateRunner(SideWork work) : work_(std::move(work)) {}
  void Put(DiffSection& section) override { waiting_.push_back(&section); }
  void Wait() override {
    for (const Side side : {Side::kB, Side::kA})
      for (DiffSection* section : waiting_) work_(side, *section);
    waiting_.clear();
  }

 private:
  SideWork work_;
  std::deque<DiffSection*> waiting_;
};

/// The whole report, as JSON.
std::string ReportOf(const std::string& path, const DiffArgs& args, DiffOptions options) {
  MemoryRun run;
  std::string warnings;
  options.describe = OperationText;
  options.warn = [&](Side side, const std::string& text) { warnings += Letter(side) + text; };
  LogDiffer diff(std::move(options));
  const auto log = OpenLog(path).value();
  while (const std::optional<Op> op = log->Next().value())
    EXPECT_TRUE(diff.Apply(*op, log->record_number()));
  EXPECT_TRUE(diff.CatchUp());
  const SessionDiff session{
      .path = path, .session = 1, .clone = {}, .result = diff.Finish().value()};
  EXPECT_TRUE(ReportDiffs(args, {session}, run.console));
  return run.Output() + warnings;
}

/// @param choose sets the options of the sides
template <typename Choose>
void ExpectSameReports(const std::string& name, Choose choose) {
  SCOPED_TRACE(name);
  const std::string path = testing::TestdataPath(name).string();
  DiffArgs args;
  args.format = "json";
  choose(args);
  DiffOptions options = ToDiffOptions(args, {});
  options.section_records = 1;
  const std::string expected = ReportOf(path, args, options);
  EXPECT_NE(expected.find("\"counters\""), std::string::npos);
  options.section_records = 4096;
  EXPECT_EQ(ReportOf(path, args, options), expected);
  options.runner = [](SideWork work) { return std::make_unique<LateRunner>(std::move(work)); };
  for (const size_t records : {size_t{1}, size_t{5}}) {
    options.section_records = records;
    EXPECT_EQ(ReportOf(path, args, options), expected) << records;
  }
}

void ExpectSameReports(const std::string& name) {
  ExpectSameReports(name, [](DiffArgs& args) {
    args.sides.a.session.all.engine = "v2@54";
    args.sides.b.session.all.engine = "v2@58";
  });
  ExpectSameReports(name, [](DiffArgs& args) {
    args.sides.a.session.all.engine = args.sides.b.session.all.engine = "v1";
    args.sides.b.session.all.size = 16384;
  });
  ExpectSameReports(name, [](DiffArgs& args) {
    args.sides.a.reads.mode = ReadsMode::kEnd;
    args.sides.b.session.all.policy = FillPolicy::kDiscard;
  });
}

TEST(DiffSections, Captures_SameReports) {
  for (const std::string& name : testing::ListTestdata("captures", ".ops.jsonl.zst"))
    ExpectSameReports(name);
}

TEST(DiffSections, ConformanceCases_SameReports) {
  for (const std::string& name : testing::ListTestdata("conformance/cases", ".jsonl.zst"))
    ExpectSameReports(name);
}

}  // namespace
}  // namespace ringscope
