#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>

#include "commands/session/replay_run.h"
#include "commands/shell/commands.h"
#include "commands/testing/database.h"
#include "commands/testing/memory_run.h"
#include "formats/sqlite/sqlite_export.h"
#include "formats/testing/parsed_json.h"
#include "formats/testing/testdata.h"

namespace ringscope {
namespace {

using testing::Database;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

Ran Export(std::vector<std::string> args, const std::string& output,
           const std::string& input = "") {
  args.insert(args.end(), {"-o", output});
  Ran ran = RunCommand(ExportCommand(), args, input);
  EXPECT_EQ(ran.out, "") << "results are in the file";
  return ran;
}

// Two packets of a producer that connected, one of which is evicted by a packet of another's, and a
// chunk for a buffer that is not there.
constexpr const char* kSession =
    R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
    "\n"
    R"({"op":"producer","ts":1000,"producer":1,"uid":7,"pid":42,"name":"app"})"
    "\n"
    R"({"op":"producer","ts":1500,"producer":2,"uid":7,"pid":43,"name":"chatty"})"
    "\n"
    R"({"op":"commit","ts":2000,"buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":1,"payload":"020801"})"
    "\n"
    R"({"op":"commit","ts":3000,"buffer":1,"producer":2,"writer":3,"chunk":5,"fragments":1,"payload":")";
constexpr const char* kStray =
    R"({"op":"commit","ts":4000,"buffer":9,"producer":1,"writer":1,"chunk":1,"fragments":1,"payload":"020801"})"
    "\n";

/// The session with a second packet that fills the buffer.
std::string FullBufferLog() {
  std::string payload =
      "e01f"
      "12dd1f";  // a fragment of 4064 bytes: field 2 of 4061
  for (int i = 0; i < 4061; ++i) payload += "00";
  return kSession + payload + "\"}\n" + kStray;
}

TEST(Export, Tables_HaveWhatHappened) {
  const TempFolder folder;
  const std::string file = folder.File("case.db");
  const Ran ran = Export({"-"}, file, FullBufferLog());
  ASSERT_EQ(ran.code, ExitCode::kClean) << ran.error;
  EXPECT_THAT(ran.err, HasSubstr("case.db: 1 session, 3 packets written, 2 lost\n"));
  Database database(file);
  EXPECT_THAT(
      database.Ask("SELECT buffer, producer, writer, size, fate, cause, culprit_producer, "
                   "culprit_writer, culprit_chunk, decided_ns FROM packets "
                   "ORDER BY written_ns"),
      ElementsAre(
          ElementsAre("1", "1", "1", "2", "overwritten", "evicted", "2", "3", "5", "3000"),
          ElementsAre("1", "2", "3", "4064", "read", "NULL", "NULL", "NULL", "NULL", "4000"),
          ElementsAre("9", "1", "1", "2", "discarded", "no_such_buffer", "NULL", "NULL", "NULL",
                      "4000")));
  EXPECT_THAT(database.Ask("SELECT chunk, entry, why, exit, left_ns FROM chunks ORDER BY id"),
              ElementsAre(ElementsAre("0", "committed", "NULL", "evicted", "3000"),
                          ElementsAre("5", "committed", "NULL", "read", "4000"),
                          ElementsAre("1", "refused", "no_such_buffer", "none", "NULL")));
  EXPECT_THAT(database.Ask("SELECT id, evicted_by, unread_bytes FROM chunks WHERE evicted_by"),
              ElementsAre(ElementsAre("1", "2", "3")));
  EXPECT_THAT(database.Ask("SELECT culprit_name, packets, bytes, percent FROM culprits"),
              ElementsAre(ElementsAre("chatty", "1", "2", "100.0")));
  EXPECT_THAT(database.Ask("SELECT victim, culprit FROM culprits"),
              ElementsAre(ElementsAre("1:1", "2:3")));
  EXPECT_THAT(database.Ask("SELECT sequence, process, packets, bytes, percent FROM evicted_by"),
              ElementsAre(ElementsAre("2:3", "chatty", "1", "2", "100.0")));
  EXPECT_THAT(database.Ask("SELECT sequence, buffer, process, packets, cause, written_from, "
                           "lost_from, written_from_utc FROM gap_times"),
              ElementsAre(ElementsAre("1:1", "1", "app", "1", "evicted", "0.0", "1.0e-06", "NULL"),
                          ElementsAre("1:1", "9", "app", "1", "no_such_buffer", "2.0e-06",
                                      "2.0e-06", "NULL")));
  EXPECT_THAT(database.Ask("SELECT producer_name, buffer, fate, packets FROM data_loss"),
              ElementsAre(ElementsAre("app", "1", "overwritten", "1"),
                          ElementsAre("app", "9", "discarded", "1")));
  EXPECT_THAT(database.Ask("SELECT buffer, engine FROM buffers"),
              ElementsAre(ElementsAre("1", "v2@58"), ElementsAre("9", "NULL")));
  EXPECT_THAT(database.Ask("SELECT pass, packets, bytes FROM reads"),
              ElementsAre(ElementsAre("1", "1", "4064")));
  EXPECT_THAT(database.Ask("SELECT value FROM stats WHERE name = 'traced_buf_chunks_overwritten'"),
              ElementsAre(ElementsAre("1")));
  EXPECT_THAT(database.Ask("PRAGMA foreign_key_check"), IsEmpty());
  // The man page describes all tables and columns.
  const std::string page = ReadFile(std::string(RS_SOURCE_DIR) + "/man/ringscope-export.h2m");
  for (const auto& table : database.Ask("SELECT name, type FROM sqlite_schema WHERE type IN "
                                        "('table', 'view')")) {
    const size_t at = page.find(".TP\n\\fB" + table[0] + "\\fR");
    ASSERT_NE(at, std::string::npos) << table[0];
    const std::string item = page.substr(at, page.find(".TP\n", at + 1) - at);
    if (table[1] == "view") continue;
    for (const auto& column :
         database.Ask("SELECT name FROM pragma_table_info('" + table[0] + "')"))
      EXPECT_TRUE(std::regex_search(item, std::regex("(fB|\\b)" + column[0] + "\\b")))
          << table[0] << "." << column[0];
  }
  EXPECT_THAT(database.Ask("PRAGMA user_version"),
              ElementsAre(ElementsAre(std::to_string(kSqliteSchemaVersion))));
}

TEST(Export, Stalled_SaysWhatItWaitsFor) {
  const TempFolder folder;
  const std::string file = folder.File("case.db");
  const Ran ran = Export(
      {"-"}, file,
      R"({"op":"buffer","id":1,"size":4096,"policy":"ring_buffer"})"
      "\n"
      R"({"op":"commit","ts":2000,"buffer":1,"producer":1,"writer":1,"chunk":0,"fragments":1,"flags":6,"payload":"020801"})"
      "\n"
      R"({"op":"commit","ts":3000,"buffer":1,"producer":1,"writer":1,"chunk":1,"fragments":2,"flags":1,"payload":"020801020801"})"
      "\n");
  ASSERT_EQ(ran.code, ExitCode::kClean) << ran.error;
  Database database(file);
  EXPECT_THAT(database.Ask("SELECT cause, waits_for, packets, since_ns, waited_ns FROM stalls"),
              ElementsAre(ElementsAre("waits_for_patch", "0", "2", "2000", "1000")));
}

TEST(Export, Packets_SayWhatTheyAreAbout) {
  const TempFolder folder;
  const std::string path = folder.File("a.db");
  const std::string log =
      std::string(RS_TESTDATA) + "/captures/two-buffers-v2/session.ops.jsonl.zst";
  ASSERT_EQ(Export({log}, path).code, ExitCode::kClean);
  Database database(path);
  // Names of events that are interned; ends of slices have none of their own.
  EXPECT_THAT(database.Ask("SELECT DISTINCT name FROM packets WHERE content = 'track_event' AND "
                           "name LIKE 'net/%' OR name = 'end of slice' ORDER BY name"),
              ElementsAre(ElementsAre("end of slice"), ElementsAre("net/Packet")));
  // Nothing is known of these.
  EXPECT_THAT(database.Ask("SELECT DISTINCT name FROM packets WHERE content = 'for_testing'"),
              ElementsAre(ElementsAre("NULL")));
}

TEST(Export, Target_IsReplacedOrLeftAsItWas) {
  const TempFolder folder;
  const std::string file = folder.Write("case.db", "something else");
  EXPECT_EQ(Export({"-", "--force"}, file, "no log").code, ExitCode::kFailed);
  EXPECT_EQ(ReadFile(file), "something else");
  EXPECT_EQ(Export({"-"}, file, FullBufferLog()).code, ExitCode::kFailed);
  EXPECT_EQ(ReadFile(file), "something else");
  EXPECT_EQ(Export({"-", "--force"}, file, FullBufferLog()).code, ExitCode::kClean);
  EXPECT_EQ(Export({"-"}, file, FullBufferLog()).code, ExitCode::kClean) << "its own database";
  EXPECT_TRUE(ReadFile(file).starts_with("SQLite format 3"));
  EXPECT_EQ(folder.FileCount(), 1u) << "a file was left";
}

TEST(Export, Places_WhereNoDatabaseCanBe) {
  const TempFolder folder;
  const auto refused = [](const std::string& file) {
    return Export({"-"}, file, FullBufferLog()).error;
  };
  EXPECT_THAT(refused("-"), HasSubstr("standard output"));
  EXPECT_THAT(refused("/dev/null"), HasSubstr("not a regular file"));
  EXPECT_THAT(refused(folder.File("no/such/folder.db")), HasSubstr("the folder must exist"));
}

TEST(Export, NoRoom_IsAnErrorAndLeavesNothing) {
  const TempFolder folder;
  const std::string log = std::string(RS_TESTDATA) + "/captures/short-v2/session.ops.jsonl.zst";
  Ran ran;
  {
    const FileSizeLimit limit(400'000);
    ran = Export({log}, folder.File("case.db"));
  }
  EXPECT_EQ(ran.code, ExitCode::kFailed);
  EXPECT_THAT(ran.error, HasSubstr("case.db: cannot write the database"));
  EXPECT_EQ(folder.FileCount(), 0u) << "a file was left";
}

class ExportOfCapture : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Captures, ExportOfCapture, testing::AllCaptures(),
                         testing::NameOfParam<const char*>);

// The database and `gaps` have one number for one question.
TEST_P(ExportOfCapture, SumsAreThoseOfGaps) {
  const TempFolder folder;
  const std::string log = testing::CapturePath(GetParam());
  ASSERT_NE(Export({log}, folder.File("case.db")).code, ExitCode::kFailed);
  Database database(folder.File("case.db"));
  const auto session =
      testing::ParsedJson(RunCommand(GapsCommand(), {log, "--format", "json"}).out)["sessions"][0];

  testing::Rows lost;
  for (const auto& sequence : session["sequences"])
    lost.push_back({sequence["sequence"], sequence["buffer"].dump(),
                    sequence["lost"]["packets"].dump(), sequence["lost"]["bytes"].dump()});
  EXPECT_THAT(database.Ask("SELECT sequence, buffer, lost_packets, lost_bytes FROM sequences"),
              ::testing::UnorderedElementsAreArray(lost));
  std::erase_if(lost, [](const auto& row) { return row[2] == "0"; });
  EXPECT_THAT(database.Ask("SELECT sequence, buffer, sum(packets), sum(bytes) FROM data_loss "
                           "GROUP BY sequence, buffer"),
              ::testing::UnorderedElementsAreArray(lost));

  testing::Rows gaps;
  for (const auto& gap : session["gaps"])
    gaps.push_back({gap["sequence"], gap["buffer"].dump(), gap["first"]["chunk"].dump(),
                    gap["packets"].dump(), gap["bytes"].dump(), gap["lost"]["from_ns"].dump()});
  EXPECT_EQ(session["gaps_not_listed"], 0);
  EXPECT_THAT(database.Ask("SELECT sequence, buffer, first_chunk, packets, bytes, lost_from_ns "
                           "FROM gaps"),
              ::testing::UnorderedElementsAreArray(gaps));

  // "27.6% sequence 5 (demo-app/appbin, 1:4), 27.5% sequence 7 (demo-app/appbin, 1:6), ..."
  std::string want;
  for (const auto& row : database.Ask("SELECT percent, sequence FROM evicted_by LIMIT 2"))
    want += (want.empty() ? "" : "|") + row[0] + "% " + row[1];
  std::string got;
  const std::regex share(R"(([0-9.]+)%[^%]*?([0-9]+:[0-9]+)[) ])");
  for (const auto& line : session["answer"]["lines"]) {
    if (line["label"] != "Evicted by") continue;
    const std::string text = line["text"];
    for (std::sregex_iterator match(text.begin(), text.end(), share), end; match != end; ++match)
      got += (got.empty() ? "" : "|") + std::string((*match)[1]) + "% " + std::string((*match)[2]);
  }
  EXPECT_EQ(got, want);

  // By pair, they add up to what was overwritten.
  EXPECT_EQ(database.Ask("SELECT sequence, buffer, sum(packets), sum(bytes) FROM evictors "
                         "GROUP BY sequence, buffer"),
            database.Ask("SELECT sequence, buffer, sum(packets), sum(bytes) FROM sums "
                         "WHERE fate = 'overwritten' GROUP BY sequence, buffer"));
  EXPECT_EQ(database.Ask("SELECT session, buffer, victim, culprit, packets, bytes FROM culprits "
                         "ORDER BY 1, 2, 3, 4"),
            database.Ask("SELECT session, buffer, sequence, culprit_producer || ':' || "
                         "culprit_writer, count(*), sum(size) FROM packets "
                         "WHERE fate = 'overwritten' GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4"));
  EXPECT_EQ(database.Ask("SELECT sequence, fate, cause, sum(packets), sum(bytes) FROM sums "
                         "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"),
            database.Ask("SELECT sequence, fate, cause, count(*), sum(size) FROM packets "
                         "GROUP BY 1, 2, 3 ORDER BY 1, 2, 3"));
}

TEST(Export, QueriesOfTheDocumentation_Run) {
  const TempFolder folder;
  const std::string log = testing::CapturePath("ring-v2");
  ASSERT_NE(Export({log}, folder.File("case.db")).code, ExitCode::kFailed);
  Database database(folder.File("case.db"));
  size_t queries = 0;
  for (const char* file : {"/docs/tour.md", "/man/ringscope-export.h2m"}) {
    const std::string page = ReadFile(std::string(RS_SOURCE_DIR) + file);
    const std::regex query("sqlite3 [^\n']*case.db '(SELECT [^']*)'");
    for (std::sregex_iterator at(page.begin(), page.end(), query), end; at != end; ++at) {
      SCOPED_TRACE((*at)[1]);
      database.Ask((*at)[1]);
      ++queries;
    }
  }
  EXPECT_GE(queries, 5u);
}

/// Listens to a replay beside the accounts.
class Counter : public ReplayListener, public LedgerSink {
 public:
  Status OnPacket(const SessionPacket&) override {
    ++returned;
    return {};
  }
  uint64_t returned = 0;
};

/// (session, fate) to packets and bytes.
using Fates = std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>>;

class ExportOverTestdata : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Engines, ExportOverTestdata, testing::AllEngines(),
                         testing::NameOfParam<const char*>);

// All conformance cases go into one database, a session each; with the two kinds of buffers that
// captures come from, those as well.
TEST_P(ExportOverTestdata, RowsAreThePacketsWritten) {
  const TempFolder folder;
  std::vector<std::string> logs;
  const bool with_captures = GetParam() == std::string("v1") || GetParam() == std::string("v2@58");
  for (const char* folder_of_logs : {"conformance/cases", "captures"}) {
    for (const auto& entry :
         std::filesystem::recursive_directory_iterator(testing::TestdataPath(folder_of_logs))) {
      const std::string path = entry.path().string();
      const bool is_case = path.find("/conformance/cases/") != std::string::npos;
      if ((is_case && path.ends_with(".zst")) ||
          (with_captures && path.ends_with("session.ops.jsonl.zst")))
        logs.push_back(path);
    }
  }
  std::sort(logs.begin(), logs.end());
  ReplayChoices choices;
  choices.session.all.engine = GetParam();

  Fates want;
  std::map<std::string, uint64_t> returned;
  MemoryRun memory;
  SessionReader sessions(memory.context, {logs, {}}, "replaying");
  while (sessions.NextSession().value()) {
    ReplayRun run(memory.context, sessions, choices);
    auto& counter = run.Add<Counter>();
    const auto outcome = run.ToEnd();
    ASSERT_TRUE(outcome) << outcome.error().ToString();
    const std::string number = std::to_string(sessions.session());
    for (const auto& [id, totals] : run.totals()) {
      for (size_t i = 0; i < kFates; ++i) {
        if (totals.by_fate[i].packets == 0) continue;
        auto& [packets, bytes] = want[{number, Name(static_cast<Fate>(i))}];
        packets += totals.by_fate[i].packets;
        bytes += totals.by_fate[i].bytes;
      }
    }
    if (counter.returned > 0) returned[number] = counter.returned;
  }
  EXPECT_EQ(sessions.session(), with_captures ? 386u : 379u);

  const std::string file = folder.File("all.db");
  logs.insert(logs.end(), {"--engine", GetParam()});
  ASSERT_NE(Export(logs, file).code, ExitCode::kFailed);
  Database database(file);
  Fates got;
  for (const auto& row : database.Ask("SELECT session, fate, count(*), sum(size) FROM packets "
                                      "GROUP BY session, fate"))
    got[{row[0], row[1]}] = {std::stoull(row[2]), std::stoull(row[3])};
  EXPECT_EQ(got, want);

  std::map<std::string, uint64_t> by_reads;
  for (const auto& row : database.Ask("SELECT session, sum(packets) FROM reads GROUP BY session "
                                      "HAVING sum(packets) > 0"))
    by_reads[row[0]] = std::stoull(row[1]);
  EXPECT_EQ(by_reads, returned);

  EXPECT_THAT(database.Ask("PRAGMA foreign_key_check"), IsEmpty());
  EXPECT_THAT(database.Ask("PRAGMA integrity_check"), ElementsAre(ElementsAre("ok")));
  EXPECT_THAT(database.Ask("SELECT (SELECT sum(packets) FROM sequences) - "
                           "(SELECT count(*) FROM packets WHERE fate <> 'writer_dropped')"),
              ElementsAre(ElementsAre("0")));
  EXPECT_THAT(database.Ask("SELECT (SELECT sum(packets) FROM data_loss) - (SELECT count(*) FROM "
                           "packets JOIN fates USING (fate) WHERE is_loss)"),
              ElementsAre(ElementsAre("0")));
}

}  // namespace
}  // namespace ringscope
