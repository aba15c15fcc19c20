// One examined session, many views: every number that two of them state is the same, and what a
// trace proves is what the log of its session says.
//
// Left out, since they answer another question: the reach that 'sweep' and the tracks of 'timeline'
// have, and 'report' draws from a sweep, is that of the commits that a size keeps at a moment. That
// of an examination is from the newest packet that was overwritten.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "commands/session/examined.h"
#include "commands/shell/commands.h"
#include "commands/testing/database.h"
#include "commands/testing/memory_run.h"
#include "commands/testing/track_reader.h"
#include "commands/view/table.h"
#include "core/session/replay_outcome.h"
#include "formats/testing/files.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

/// A log's session ends with its last read, a trace's when the service disables it. The consumer
/// reads after that: a small ring at once, all of a large buffer in the time that this takes.
constexpr double kUntilReadNs = 20e6, kUntilAllIsReadNs = 200e6;

using Counters = std::map<std::pair<std::string, std::string>, uint64_t>;  // by name and index

/// Counters of the buffers with a value other than 0, as trace processor has them.
template <typename List>
Counters CountersIn(const List& rows) {
  Counters counters;
  for (const StatRow& row : rows)
    if (row.value != 0 && row.name.starts_with("traced_buf_"))
      counters[{row.name, std::to_string(row.index.value_or(0))}] = row.value;
  return counters;
}

/// Packets of a sequence, or of several.
struct Packets {
  uint64_t written = 0, lost = 0, in_trace = 0, unusable = 0;
  friend bool operator==(const Packets&, const Packets&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Packets& packets) {
    return out << packets.written << " written, " << packets.lost << " lost, " << packets.in_trace
               << " in the trace, " << packets.unusable << " unusable";
  }
};

class ExaminedNumbers : public ::testing::TestWithParam<const char*> {
 protected:
  std::string log() const { return testing::CapturePath(GetParam()); }
  std::string folder() const { return testing::TestdataPath("captures") / GetParam(); }
  std::string trace() const { return folder() + "/trace.pftrace.zst"; }

  /// The value without any text.
  static Examination Examine(const std::vector<std::string>& inputs) {
    MemoryRun memory;
    auto examined = ExamineInputs(memory.context, inputs, {}, std::nullopt);
    EXPECT_TRUE(examined) << examined.error().ToString();
    EXPECT_THAT(examined->examinations, SizeIs(1));
    return std::move(examined->examinations.at(0));
  }
  Json SessionOf(const Command& command, std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--format", "json", log()});
    return testing::ParsedJson(RunCommand(command, options).out)["sessions"][0];
  }
};

INSTANTIATE_TEST_SUITE_P(Captures, ExaminedNumbers, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

Packets PacketsIn(const Json& gaps) {  // of a buffer or a sequence
  Packets packets;
  packets.written = gaps["written"]["packets"].get<uint64_t>();
  packets.lost = gaps["lost"]["packets"].get<uint64_t>();
  packets.in_trace = gaps["fates"]["read"]["packets"].get<uint64_t>();
  if (gaps.contains("unusable")) packets.unusable = gaps["unusable"]["packets"].get<uint64_t>();
  return packets;
}

/// By their sequence in the log: "1:1".
std::map<std::string, Packets> PacketsBySequence(const Examination& session) {
  std::map<std::string, Packets> all;
  for (const SequenceStages& sequence : session.account.sequences) {
    Packets& packets = all[sequence.writer];
    packets.written += sequence.written()->packets;
    packets.in_trace += sequence[Stage::kLeft].count.packets;
    packets.unusable += sequence.unusable;
  }
  for (const Hole& hole : session.holes)
    if (hole.gap != nullptr)
      all[session.account.sequences[*hole.sequence].writer].lost += *hole.packets;
  return all;
}

/// The packets of each buffer and sequence are in one account, and what is lost is in holes.
TEST_P(ExaminedNumbers, OfPackets_AreThoseOfGapsAndAdviceAndTheDatabase) {
  const Examination session = Examine({log()});
  const Json gaps = SessionOf(GapsCommand()), advice = SessionOf(AdviseCommand());
  const auto packets = PacketsBySequence(session);
  std::map<std::string, Packets> in_gaps, in_database;
  for (const Json& sequence : gaps["sequences"])
    in_gaps[sequence["sequence"].get<std::string>()] = PacketsIn(sequence);
  EXPECT_EQ(in_gaps, packets);
  EXPECT_EQ(gaps["stages"], FieldsToJson(session.account));

  const TempFolder temporary;
  const std::string file = temporary.File("session.db");
  ASSERT_EQ(RunCommand(ExportCommand(), {log(), "-o", file}).error, "");
  testing::Database database(file);
  for (const auto& row :
       database.Ask("SELECT sequence, count(*), sum(is_loss), sum(fate = 'read') FROM packets "
                    "JOIN fates USING (fate) GROUP BY sequence"))
    in_database[row[0]] = {std::stoull(row[1]), std::stoull(row[2]), std::stoull(row[3]),
                           packets.contains(row[0]) ? packets.at(row[0]).unusable : 0};
  EXPECT_EQ(in_database, packets);

  ASSERT_EQ(gaps["buffers"].size(), session.log->outcome.buffers.size());
  ASSERT_EQ(advice["buffers"].size(), gaps["buffers"].size());
  for (size_t i = 0; i < gaps["buffers"].size(); ++i) {
    const Json& buffer = gaps["buffers"][i];
    const Packets want = PacketsIn(buffer);
    const StageAccount& account =
        session.account.buffers.at("buffers[" + buffer["index"].dump() + "]");
    EXPECT_EQ(account.written()->packets, want.written);
    EXPECT_EQ(account[Stage::kLeft].count.packets, want.in_trace);
    EXPECT_EQ(account[Stage::kSharedMemory].count.packets, buffer["fates"]["incomplete"]["packets"])
        << "unfinished";
    EXPECT_EQ(account[Stage::kBuffer].count.packets + account[Stage::kCommit].count.packets,
              want.lost + buffer["fates"]["stalled"]["packets"].get<uint64_t>())
        << "lost and waiting";
    EXPECT_EQ(advice["buffers"][i]["packets"], want.written);
    EXPECT_EQ(advice["buffers"][i]["lost_now"], want.lost);
    for (const auto& [fate, count] : buffer["fates"].items()) {
      const auto rows =
          database.Ask("SELECT count(*) FROM packets WHERE buffer = " + buffer["buffer"].dump() +
                       " AND fate = '" + fate + "'");
      EXPECT_EQ(rows[0][0], count["packets"].dump()) << fate;
    }
  }
  EXPECT_EQ(session.answer.packets, session.account.all[Stage::kLeft].count.packets);
  EXPECT_EQ(session.answer.usable,
            session.account.all[Stage::kLeft].count.packets - session.account.all.unusable);
}

/// A hole as views have it: its words, its packets, its remedy.
using Shown = std::tuple<std::string, std::string, std::string>;

/// The holes of a session are the gaps of 'gaps', of its CSV and of the database, and the slices of
/// 'timeline'.
TEST_P(ExaminedNumbers, OfHoles_AreThoseOfGapsAndTheTimelineAndTheDatabase) {
  const Examination session = Examine({log()});
  const Json gaps = SessionOf(GapsCommand());
  std::vector<std::tuple<std::string, std::string, std::string>> holes, listed, in_csv;
  std::vector<Shown> shown, drawn;
  for (const Hole& hole : session.holes) {
    ASSERT_TRUE(hole.sequence);
    shown.emplace_back(hole.what, hole.packets ? std::to_string(*hole.packets) : "unknown",
                       hole.is_unusable ? "" : hole.remedy);
    if (hole.gap == nullptr) continue;
    holes.emplace_back(session.account.sequences[*hole.sequence].writer,
                       std::to_string(*hole.packets), hole.remedy);
  }
  for (const Json& gap : gaps["gaps"])
    listed.emplace_back(gap["sequence"].get<std::string>(), gap["packets"].dump(),
                        gap["remedy"].get<std::string>());
  EXPECT_THAT(listed, ::testing::UnorderedElementsAreArray(holes));
  EXPECT_EQ(gaps["gaps_not_listed"], 0);

  const std::string csv = RunCommand(GapsCommand(), {"--format", "csv", log()}).out;
  const std::vector<std::string_view> rows = testing::Lines(csv);
  ASSERT_EQ(rows.size(), gaps["gaps"].size() + 1);
  for (size_t i = 0; i < gaps["gaps"].size(); ++i) {
    EXPECT_THAT(rows[i + 1], HasSubstr("," + gaps["gaps"][i]["packets"].dump() + ","));
    EXPECT_THAT(rows[i + 1], HasSubstr("," + CsvText(gaps["gaps"][i]["remedy"]) + ","));
  }

  const TempFolder temporary;
  const std::string file = temporary.File("session.db");
  ASSERT_EQ(RunCommand(ExportCommand(), {log(), "-o", file}).error, "");
  testing::Rows in_database;
  for (const auto& [sequence, packets, remedy] : holes) in_database.push_back({sequence, packets});
  EXPECT_THAT(testing::Database(file).Ask("SELECT sequence, packets FROM gaps"),
              ::testing::UnorderedElementsAreArray(in_database));

  const Ran timeline = RunCommand(TimelineCommand(), {log(), "-o", "-"});
  const testing::Trace tracks = testing::ParseTracks(timeline.out);
  for (const testing::Event& event : tracks.events) {
    const std::string& track = tracks.tracks.at(event.track).name;
    if (event.type == 2 || (track != "lost packets" && track != "unusable packets")) continue;
    std::string remedy = event.args.contains("remedy") ? event.args.at("remedy") : "";
    drawn.emplace_back(event.name, event.args.at("packets"),
                       remedy == "none is known" ? "" : std::move(remedy));
  }
  EXPECT_THAT(drawn, ::testing::UnorderedElementsAreArray(shown));
}

/// A buffer has one new size, whoever names it.
TEST_P(ExaminedNumbers, OfRemedies_AreThoseOfGapsAndAdviceAndTheTimeline) {
  const Examination session = Examine({log()});
  const Json gaps = SessionOf(GapsCommand()), advice = SessionOf(AdviseCommand());
  const Json want = FieldsToJson(session.remedies.remedies);
  EXPECT_EQ(gaps["remedies"], want);
  EXPECT_EQ(advice["remedies"], want);
  EXPECT_EQ(advice.value("config", Json()), FieldsToJson(session.changed_config));
  EXPECT_EQ(advice["together"], FieldsToJson(session.remedies.together));
  std::map<std::string, std::string> sizes;  // by buffer
  for (const Remedy& remedy : session.remedies.remedies) {
    if (!remedy.As<SizeRemedy>() || remedy.is_alternative) continue;
    for (const ConfigChange& change : remedy.changes) {
      if (!change.path.ends_with(".size_kb")) continue;
      EXPECT_EQ(std::stoull(change.value) * 1024, remedy.size);
      EXPECT_TRUE(sizes.emplace(change.path, change.value).second) << "a second size";
      EXPECT_THAT(session.answer.change, HasSubstr(change.path));
      EXPECT_THAT(session.answer.change, HasSubstr(" -> " + change.value));
      EXPECT_THAT(session.changed_config.value_or(""), HasSubstr("size_kb: " + change.value));
    }
    EXPECT_EQ(advice["buffers"][remedy.index]["size_then"], remedy.size);
    EXPECT_EQ(advice["buffers"][remedy.index]["lost_then"], remedy.outcome->lost);
  }
  EXPECT_EQ(sizes.empty(), session.remedies.now.lost == 0);
  for (const ConfigChange& change : session.changes())
    if (sizes.contains(change.path)) {
      EXPECT_EQ(change.value, sizes[change.path]);
    }
  for (const Hole& hole : session.holes)
    if (const auto size = sizes.find(hole.where + ".size_kb");
        size != sizes.end() && hole.remedy.find(size->first) != std::string::npos) {
      EXPECT_THAT(hole.remedy, HasSubstr(size->first + ": " + size->second));
    }
}

/// Rows of the CSV that trace processor's own table was written to.
Counters CountersOfTraceProcessor(const std::string& csv, bool losses) {
  Counters counters;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string name, index, severity, source, value;
    for (std::string* field : {&name, &index, &severity, &source, &value})
      std::getline(fields, *field, ',');
    if (name.starts_with("traced_buf_") && value != "0" && (!losses || severity != "info"))
      counters[{name, index}] = std::stoull(value);
  }
  return counters;
}

TEST_P(ExaminedNumbers, OfCounters_AreThoseOfStatsAndOfTraceProcessor) {
  const Examination both = Examine({log(), trace()}), alone = Examine({trace()});
  const std::string csv = ReadFile(folder() + "/trace_processor_stats.csv");
  EXPECT_EQ(CountersIn(TraceProcessorStats(both.log->outcome)),
            CountersOfTraceProcessor(csv, /*losses=*/false));
  for (const Examination* session : {&both, &alone})
    EXPECT_EQ(CountersIn(session->counters), CountersOfTraceProcessor(csv, /*losses=*/true));
  // As 'stats' reads the log alone.
  const Examination session = Examine({log()});
  Counters in_stats;
  std::istringstream rows(
      RunCommand(StatsCommand(), {log(), "--data-loss", "--format", "csv"}).out);
  std::string titles;
  std::getline(rows, titles);
  for (std::string row; std::getline(rows, row);) {
    std::istringstream fields(row);
    std::string number, name, index, severity, value;
    for (std::string* field : {&number, &name, &index, &severity, &value})
      std::getline(fields, *field, ',');
    if (name.starts_with("traced_buf_")) in_stats[{name, index}] = std::stoull(value);
  }
  EXPECT_EQ(CountersIn(session.counters), in_stats);
}

/// In the trace and unusable, by the sequence's id in the trace; those without a packet left out.
std::map<uint32_t, Packets> PacketsInTrace(const Examination& session) {
  std::map<uint32_t, Packets> all;
  for (const SequenceStages& sequence : session.account.sequences)
    if (const uint64_t packets = sequence[Stage::kLeft].count.packets; packets > 0)
      all[sequence.id] = {.in_trace = packets, .unusable = sequence.unusable};
  return all;
}

/// Unusable packets by the holes of a sequence, by its id in the trace.
std::map<uint32_t, uint64_t> UnusableInHoles(const Examination& session) {
  std::map<uint32_t, uint64_t> all;
  for (const Hole& hole : session.holes)
    if (hole.is_unusable) all[session.account.sequences[*hole.sequence].id] += *hole.packets;
  return all;
}

bool Overlap(const TimeSpan& one, const TimeSpan& other) {
  return one.first_ns <= other.last_ns && other.first_ns <= one.last_ns;
}

TEST_P(ExaminedNumbers, ThatATraceProves_AreThoseOfTheLog) {
  const Examination both = Examine({log(), trace()}), alone = Examine({trace()});
  EXPECT_EQ(PacketsInTrace(alone), PacketsInTrace(both));
  EXPECT_EQ(alone.answer.packets, both.answer.packets);
  EXPECT_EQ(alone.answer.usable, both.answer.usable);
  EXPECT_FALSE(alone.account.all.written()) << "a trace does not show what was written";
  for (const auto& [name, account] : alone.account.buffers) {
    ASSERT_TRUE(both.account.buffers.contains(name));
    const StageAccount& in_log = both.account.buffers.at(name);
    EXPECT_EQ(account[Stage::kLeft].count.packets, in_log[Stage::kLeft].count.packets);
    EXPECT_EQ(account.unusable, in_log.unusable);
    // Where a trace says that a number is exact, it is.
    for (const auto& row : kEnumRows<Stage>)
      if (account[row.value].is_known && row.value < Stage::kUnknown) {
        EXPECT_EQ(account[row.value].count.packets, in_log[row.value].count.packets) << row.name;
      }
  }
  // An imported log has no record of the session's start: it begins with its first writer.
  constexpr double kUntilFirstWriterNs = 5e6;
  ASSERT_TRUE(alone.subject.time && both.subject.time);
  EXPECT_NEAR(static_cast<double>(both.subject.time->first_ns),
              static_cast<double>(alone.subject.time->first_ns), kUntilFirstWriterNs);
  EXPECT_NEAR(static_cast<double>(both.subject.time->last_ns),
              static_cast<double>(alone.subject.time->last_ns), kUntilAllIsReadNs);
  // How far back a ring reaches.
  ASSERT_EQ(alone.reach.size(), both.reach.size());
  for (const auto& [buffer, reach] : alone.reach) {
    ASSERT_TRUE(both.reach.contains(buffer));
    EXPECT_FALSE(both.reach.at(buffer).is_estimate);
    if (!reach.is_estimate) {
      EXPECT_NEAR(static_cast<double>(reach.ns), static_cast<double>(both.reach.at(buffer).ns),
                  kUntilReadNs);
    }
  }
  const Examination by_log = Examine({log()});
  for (const auto& [buffer, reach] : by_log.reach)
    if (both.reach.contains(buffer)) {
      EXPECT_NEAR(static_cast<double>(reach.ns), static_cast<double>(both.reach.at(buffer).ns),
                  kUntilReadNs);
    }
  // Each hole that the trace shows is one of the log's, of the same sequence and at the same time.
  EXPECT_EQ(UnusableInHoles(alone), UnusableInHoles(both));
  for (const Hole& hole : alone.holes) {
    if (hole.is_unusable) continue;
    if (!hole.sequence && !hole.buffer && hole.stage == Stage::kUnknown) {  // of a data source
      const auto source = both.account.sources.find(hole.where);
      EXPECT_TRUE(source == both.account.sources.end() ||
                  source->second[Stage::kLeft].count.packets == 0)
          << hole.what;
      continue;
    }
    const bool is_in_log = std::ranges::any_of(both.holes, [&](const Hole& other) {
      return !other.is_unusable && other.stage == hole.stage && other.where == hole.where &&
             Overlap(other.span, hole.span) &&
             (!hole.sequence || both.account.sequences[*other.sequence].id ==
                                    alone.account.sequences[*hole.sequence].id);
    });
    EXPECT_TRUE(is_in_log) << hole.what << " in " << hole.where;
  }
  // A trace that shows places where a buffer lost packets shows holes there.
  for (const Stage stage : {Stage::kSharedMemory, Stage::kBuffer}) {
    uint64_t places = 0, of_holes = 0;
    for (const SequenceStages& sequence : alone.account.sequences) places += sequence[stage].places;
    for (const Hole& hole : alone.holes)
      if (hole.sequence && !hole.is_unusable && hole.stage == stage) of_holes += hole.places;
    EXPECT_EQ(of_holes, places) << Name(stage);
  }
}

/// The fields add up by themselves, of a log and of a trace.
TEST_P(ExaminedNumbers, OfTheValue_AddUp) {
  const Examination session = Examine({log()}), alone = Examine({trace()});
  ASSERT_TRUE(session.log && session.subject.time);
  EXPECT_EQ(session.subject.time->length_ns(),
            static_cast<int64_t>(session.log->outcome.duration_ns()));
  EXPECT_EQ(session.subject.sizes, alone.subject.sizes);
  EXPECT_FALSE(alone.log);
  ASSERT_TRUE(alone.trace);
  for (const Examination* each : {&session, &alone}) {
    StageAccount sum;
    std::map<size_t, uint64_t> unusable;
    for (const SequenceStages& sequence : each->account.sequences) sum += sequence;
    EXPECT_EQ(sum[Stage::kLeft].count, each->account.all[Stage::kLeft].count);
    EXPECT_EQ(sum.unusable, each->account.all.unusable);
    for (const Hole& hole : each->holes) {
      EXPECT_LE(hole.span.first_ns, hole.span.last_ns) << hole.what;
      // A log that does not show the session's start begins with the first record that a writer
      // caused, and the event of that is older.
      constexpr int64_t kBeforeFirstRecordNs = 1'000'000;
      EXPECT_GE(hole.span.first_ns, each->subject.time->first_ns - kBeforeFirstRecordNs);
      EXPECT_LE(hole.span.last_ns, each->subject.time->last_ns) << hole.what;
      if (hole.is_unusable) unusable[*hole.sequence] += *hole.packets;
    }
    for (size_t i = 0; i < each->account.sequences.size(); ++i)
      EXPECT_EQ(unusable[i], each->account.sequences[i].unusable);
    for (const auto& [buffer, reach] : each->reach)
      EXPECT_LE(reach.ns, static_cast<uint64_t>(each->subject.time->length_ns())) << buffer;
  }
  for (const auto& [buffer, reach] : session.reach) {
    EXPECT_EQ(
        session.subject.time->last_ns - static_cast<int64_t>(reach.ns),
        static_cast<int64_t>(session.log->gaps.Find(session.log->outcome.buffers.at(buffer).id)
                                 ->newest_overwritten_ns));
  }
}

}  // namespace
}  // namespace ringscope
