// Real traces: their statistics are those that trace processor derives, and doctor's findings are
// those that they must have.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>
#include <tuple>

#include "core/base/text.h"
#include "core/examine/examination.h"
#include "core/testing/message_text.h"
#include "core/trace/stat_rows.h"
#include "formats/testing/testdata.h"
#include "formats/trace/trace_file_scan.h"

namespace ringscope {
namespace {

/// name, index (-1: none), severity -> value
using StatTable = std::map<std::tuple<std::string, int64_t, std::string>, uint64_t>;

TraceFacts ScanCapture(const std::string& capture) {
  auto source =
      OpenByteSource(testing::TestdataPath("captures/" + capture + "/trace.pftrace.zst").string());
  return ScanTraceFile(std::move(*source)).value().sessions.at(0);
}

/// Trace processor's rows, without those with 0, which it leaves out here.
StatTable TableOfTraceProcessor(const std::string& capture) {
  StatTable table;
  std::istringstream csv(
      testing::ReadTestdata("captures/" + capture + "/trace_processor_stats.csv"));
  std::string line;
  std::getline(csv, line);
  while (std::getline(csv, line)) {
    std::istringstream fields(line);
    std::string name, index, severity, source, value;
    std::getline(fields, name, ',');
    std::getline(fields, index, ',');
    std::getline(fields, severity, ',');
    std::getline(fields, source, ',');
    std::getline(fields, value, ',');
    table[{name, index == "[NULL]" ? -1 : std::stoll(index), severity}] = std::stoull(value);
  }
  return table;
}

class ScannedCapture : public ::testing::TestWithParam<const char*> {};

TEST_P(ScannedCapture, StatisticsAreThoseOfTraceProcessor) {
  StatTable ours;
  for (const StatRow& row : StatRowsOf(ScanCapture(GetParam()))) {
    if (row.value == 0) continue;
    ours[{row.name, row.index ? int64_t{*row.index} : -1, std::string(Name(row.severity))}] =
        row.value;
  }
  EXPECT_EQ(ours, TableOfTraceProcessor(GetParam()));
}

TEST_P(ScannedCapture, CountersOfTheExaminationAreItsLosses) {
  const Examination diagnosis = ExamineTrace(ScanCapture(GetParam()));
  StatTable ours;
  for (const StatRow& row : diagnosis.counters)
    ours[{row.name, row.index ? int64_t{*row.index} : -1, std::string(Name(row.severity))}] =
        row.value;
  StatTable theirs = TableOfTraceProcessor(GetParam());
  std::erase_if(theirs, [](const auto& row) { return std::get<2>(row.first) == "info"; });
  EXPECT_EQ(ours, theirs);
}

TEST_P(ScannedCapture, FindingsSayAllThatPeopleNeed) {
  const Examination diagnosis = ExamineTrace(ScanCapture(GetParam()));
  EXPECT_FALSE(diagnosis.answer.headline.empty());
  for (const Finding& finding : diagnosis.findings) {
    EXPECT_FALSE(finding.what.empty()) << finding.rule->id;
    EXPECT_TRUE(finding.what.text.ends_with('.')) << finding.what.text;
    EXPECT_FALSE(finding.remedy.empty()) << finding.rule->id;
    EXPECT_TRUE(IsUtf8(finding.what.text + finding.where.text + finding.cause.text))
        << finding.rule->id;
  }
  EXPECT_TRUE(std::ranges::is_sorted(diagnosis.findings, std::ranges::greater(), &Finding::harm));
}

INSTANTIATE_TEST_SUITE_P(Captures, ScannedCapture, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

std::vector<std::string> RulesFound(const Examination& diagnosis) {
  std::vector<std::string> rules;
  for (const Finding& finding : diagnosis.findings)
    rules.push_back(std::string(finding.rule->id) + " " + std::string(Name(finding.harm)));
  std::ranges::sort(rules);
  return rules;
}

bool Finds(const Examination& diagnosis, const std::string& rule) {
  const auto rules = RulesFound(diagnosis);
  return std::ranges::find(rules, rule) != rules.end();
}

TEST(DoctorOfCaptures, ARingWhosePacketsLackTheirStateIsUseless) {
  const Examination diagnosis = ExamineTrace(ScanCapture("ring-v2"));
  EXPECT_EQ(diagnosis.answer.severity, Harm::kError);
  EXPECT_EQ(std::string(diagnosis.findings.front().rule->id), "state.unusable");
  EXPECT_NE(diagnosis.answer.headline.find("the UI can show 2 of 4,912 packets"), std::string::npos)
      << diagnosis.answer.headline;
}

TEST(DoctorOfCaptures, ADiscardingBufferSaysWhenItWasFull) {
  const Examination diagnosis = ExamineTrace(ScanCapture("discard-v2"));
  EXPECT_TRUE(Finds(diagnosis, "buffer.discarded data_loss"));
  // Their chunks were discarded, which is the loss.
  EXPECT_TRUE(Finds(diagnosis, "buffer.patches_failed info"));
}

TEST(DoctorOfCaptures, AStreamedSessionLostUnreadData) {
  const Examination diagnosis = ExamineTrace(ScanCapture("stream-v2"));
  EXPECT_TRUE(Finds(diagnosis, "buffer.overwritten data_loss"));
  EXPECT_TRUE(Finds(diagnosis, "buffer.packet_loss data_loss"));
}

TEST(DoctorOfCaptures, ALosslessSessionHasItsViolationOnly) {
  std::vector<std::string> harmful;
  for (const Finding& finding : ExamineTrace(ScanCapture("lossless-v2")).findings)
    if (finding.harm >= Harm::kWarning) harmful.emplace_back(finding.rule->id);
  EXPECT_EQ(harmful, std::vector<std::string>{"buffer.abi_violations"});
}

/// A trace in which each counter can have a row.
TraceFacts TraceWithAllCounters() {
  using testing::Sub;
  using testing::Uint;
  TraceFacts facts;
  facts.stats_packets = 1;
  facts.has_filter = true;
  facts.config = Uint(proto::TraceConfig::kWriteIntoFile, 1);
  facts.discards_into_file[0] = 1;
  TraceBuffer& buffer = facts.buffers.emplace_back();
  buffer.has_stats = buffer.has_losses = true;
  for (const uint64_t phase : {1, 2}) {
    std::string cpu;
    for (uint32_t field = 1; field < 10; ++field) cpu += Uint(field, 0);
    const std::string stats = Uint(1, phase) + Sub(2, cpu) + Sub(10, Uint(1, 0) + Uint(2, 0));
    facts.ftrace.AddStats(wire::AsBytes(stats));
  }
  facts.ftrace.AddBundle(wire::AsBytes(Uint(1, 0) + Uint(3, 1)));
  for (size_t i = 0; i < kContentStats.size(); ++i)
    if (kContentStats[i].is_indexed) facts.content.At(static_cast<ContentStat>(i), 0) = 0;
  return facts;
}

TEST(CountersOfTraceProcessor, AreCountedOrListedInTheDocumentation) {
  std::map<std::string, std::string> severities;  // by name
  for (const StatRow& row : StatRowsOf(TraceWithAllCounters()))
    severities[row.name] = Name(row.severity);
  std::istringstream lines(testing::ReadTestdata("trace_processor_losses.tsv"));
  const std::string page = testing::ReadTestdata("../docs/traces.md");
  const std::string list = page.substr(page.find("## Counters"));
  size_t rows = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    const std::string name = line.substr(0, line.find('\t'));
    ++rows;
    const auto counted = severities.find(name);
    EXPECT_NE(counted == severities.end(), list.find("`" + name + "`") == std::string::npos)
        << name;
    if (counted != severities.end()) {
      EXPECT_EQ(name + "\t" + counted->second, line);
    }
  }
  EXPECT_EQ(rows, 217u);
}

}  // namespace
}  // namespace ringscope
