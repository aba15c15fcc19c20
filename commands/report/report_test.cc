#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/shell/commands.h"
#include "commands/testing/memory_run.h"

namespace ringscope {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using Document = nlohmann::ordered_json;

std::string CaptureFile(const std::string& name) {
  return std::string(RS_TESTDATA) + "/captures/" + name;
}

/// The documents that a page has in it.
Document DataOf(const std::string& page) {
  const std::string start = "<script type=\"application/json\" id=\"data\"";
  const size_t begin = page.find('>', page.find(start)) + 1;
  return Document::parse(page.substr(begin, page.find("</script>", begin) - begin));
}

TEST(ReportPage, Log_HasTheDocumentsOfTheCommands) {
  const std::string log = CaptureFile("two-buffers-v2/session.ops.jsonl.zst");
  const Ran ran = RunCommand(ReportCommand(), {log});
  ASSERT_EQ(ran.error, "");
  EXPECT_EQ(ran.code, ExitCode::kNotice) << "packets were lost";
  EXPECT_THAT(ran.out, Not(HasSubstr("{{")));
  const Document data = DataOf(ran.out);
  EXPECT_TRUE(data.at("problems").empty()) << data.at("problems");
  // The same as the command prints, the largest gaps first.
  Document gaps = Document::parse(RunCommand(GapsCommand(), {log, "--format", "json"}).out);
  auto& listed = gaps["sessions"][0]["gaps"].get_ref<Document::array_t&>();
  std::ranges::stable_sort(listed, std::ranges::greater(),
                           [](const Document& gap) { return gap["packets"].get<uint64_t>(); });
  EXPECT_EQ(data.at("gaps"), gaps);
  for (const char* name : {"doctor", "info", "sweep", "advise"})
    EXPECT_TRUE(data.at(name).contains("schema")) << name;
}

TEST(ReportPage, ARemedyThatIsNoChangeOfTheConfigIsOneLine) {
  const Ran ran =
      RunCommand(ReportCommand(), {RS_TESTDATA "/corpus/trace_scan_fuzz/plain.pftrace"});
  EXPECT_THAT(ran.out, HasSubstr("<dt>Change</dt><dd>"));
  EXPECT_THAT(ran.out, Not(HasSubstr("<strong></strong>")));
}

TEST(ReportPage, Log_CanBeReadWithoutJavaScript) {
  const Ran ran =
      RunCommand(ReportCommand(), {CaptureFile("ring-v2/session.ops.jsonl.zst"), "--quick"});
  const Document data = DataOf(ran.out);
  const std::string body = ran.out.substr(0, ran.out.find("<script type="));
  EXPECT_THAT(
      body,
      HasSubstr("128,295 packets were written: 5 were unfinished in shared memory; buffers[0] lost "
                "123,378 (96.2%)"));
  EXPECT_THAT(body, HasSubstr("overwritten before they were read"));
  // The session over time, with what each bar is.
  EXPECT_THAT(body, HasSubstr("<div class=\"timeline\""));
  EXPECT_THAT(body, HasSubstr(">sequence 3 (demo-app/appbin, 1:2)</span>"));
  EXPECT_THAT(body, HasSubstr("<rect class=\"lost overwritten\""));
  EXPECT_THAT(body,
              HasSubstr("<title>50,126 packets lost: overwritten before they were read</title>"));
  EXPECT_FALSE(data.contains("sweep"));
}

TEST(ReportPage, Trace_HasNoDocumentsThatNeedALog) {
  const Ran ran = RunCommand(ReportCommand(), {CaptureFile("ring-v2/trace.pftrace.zst")});
  ASSERT_EQ(ran.error, "");
  const Document data = DataOf(ran.out);
  EXPECT_TRUE(data.contains("doctor"));
  EXPECT_FALSE(data.contains("gaps"));
}

TEST(ReportPage, SeveralTraces_AreGroupedByTheirFindings) {
  const TempFolder folder;
  const std::string trace = CaptureFile("ring-v2/trace.pftrace.zst");
  for (const char* name : {"a.pftrace.zst", "b.pftrace.zst"})
    std::filesystem::copy(trace, folder.File(name));
  const Ran ran =
      RunCommand(ReportCommand(), {folder.File("a.pftrace.zst"), folder.File("b.pftrace.zst"),
                                   CaptureFile("lossless-v2/trace.pftrace.zst")});
  ASSERT_EQ(ran.error, "");
  const Document groups = DataOf(ran.out).at("doctor").at("groups");
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(groups[0].at("traces"), 2);  // the worst first
  const std::string body = ran.out.substr(0, ran.out.find("<script type="));
  EXPECT_THAT(body, HasSubstr("a.pftrace.zst and 1 more with the same findings"));
  EXPECT_THAT(body, HasSubstr("3 traces, by their findings</p>\n<p>error: 2; warning: 1</p>"));
  EXPECT_LT(body.find("3 traces"), body.find("and 1 more"));
  EXPECT_THAT(body, Not(HasSubstr("b.pftrace.zst</p>")));
}

TEST(ReportPage, ThousandTraces_FitIntoAMegabyte) {
  const TempFolder folder;
  std::vector<std::filesystem::path> traces;
  for (const auto& entry : std::filesystem::directory_iterator(RS_TESTDATA "/traces"))
    if (entry.path().extension() == ".pftrace") traces.push_back(entry.path());
  for (size_t i = 0; i < 1000; ++i)
    std::filesystem::copy(traces[i % traces.size()],
                          folder.File(std::to_string(i) + "-of-a-fleet.pftrace"));
  const Ran ran = RunCommand(ReportCommand(), {folder.path()});
  ASSERT_EQ(ran.error, "");
  EXPECT_THAT(ran.out, HasSubstr("1,000 traces, by their findings"));
  EXPECT_LT(ran.out.size(), 1'000'000u);
}

TEST(ReportPage, OnATerminal_AFileIsRequired) {
  CLI::App app;
  const Runner run = ReportCommand().bind(app);
  app.parse(std::vector<std::string>{CaptureFile("ring-v2/trace.pftrace.zst")});
  MemoryRun memory;
  memory.out.terminal = true;
  const auto code = run(memory.context);
  ASSERT_FALSE(code);
  EXPECT_EQ(code.error().code, ErrorCode::kUsage);
  EXPECT_THAT(code.error().ToString(), HasSubstr("-o report.html"));
  EXPECT_EQ(memory.Output(), "");
}

// "256 -> 8192": the present value is that of the session's config.
TEST(ReportPage, ChangesHaveTheirPresentValue) {
  for (const char* file : {"ring-v2/session.ops.jsonl.zst", "ring-v2/trace.pftrace.zst"}) {
    const Document data = DataOf(RunCommand(ReportCommand(), {CaptureFile(file)}).out);
    const Document& change = data.contains("advise")
                                 ? data["advise"]["sessions"][0]["remedies"][0]["changes"][0]
                                 : data["doctor"]["traces"][0]["findings"][0]["changes"][0];
    EXPECT_EQ(change.at("path"), "buffers[0].size_kb") << file;
    EXPECT_EQ(change.at("was"), "256") << file;
  }
}

TEST(ReportPage, SessionsOfALog_HaveEachTheirAnswer) {
  const TempFolder folder;
  const std::string inputs = std::string(RS_TESTDATA) + "/inputs/";
  std::string log;
  for (const char* name : {"clean.ops.jsonl", "lossy.ops.jsonl"})
    log += RunCommand(ImportCommand(), {inputs + name, "-o", "-"}).out;
  const Ran ran = RunCommand(ReportCommand(), {folder.Write("two.tblog", log), "--quick"});
  ASSERT_EQ(ran.error, "");
  const std::string body = ran.out.substr(0, ran.out.find("<script type="));
  const size_t lossy = body.find("two.tblog: session 2");  // the worst first
  EXPECT_LT(lossy, body.find("two.tblog: session 1"));
  EXPECT_THAT(body, HasSubstr("two.tblog: session 1</p>\n<p class=\"headline ok\">"));
}

TEST(ReportPage, NamesOfTheInput_AreText) {
  const TempFolder folder;
  const std::string path = folder.File("a<b>\"&.ops.jsonl.zst");
  std::filesystem::copy(CaptureFile("lossless-v2/session.ops.jsonl.zst"), path);
  const Ran ran = RunCommand(ReportCommand(), {path, "--quick"});
  ASSERT_EQ(ran.error, "");
  EXPECT_THAT(ran.out, Not(HasSubstr("a<b>")));
  EXPECT_EQ(DataOf(ran.out).at("input"), path);
}

TEST(ReportPage, MissingInput_IsAnError) {
  const Ran ran = RunCommand(ReportCommand(), {"nothing.tblog"});
  EXPECT_THAT(ran.error, HasSubstr("nothing.tblog"));
}

}  // namespace
}  // namespace ringscope
