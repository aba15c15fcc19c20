// What fuzz reads and writes: logs to mutate, the corpus, findings.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <filesystem>

#include "commands/compare/fuzz.h"
#include "commands/plugin/plugin.h"
#include "commands/replays/log_streams.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/text.h"
#include "formats/inputs/open_log.h"
#include "formats/io/byte_stream.h"
#include "formats/io/output_file.h"
#include "formats/ops/ops_jsonl.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

/// Payloads of logs to mutate that are kept in memory, bytes.
constexpr uint64_t kMostSourceBytes = uint64_t{1} << 30;

/// Letters, digits and dashes, of bounded length.
std::string FileWord(std::string_view text) {
  constexpr size_t kLongest = 80;
  std::string word;
  for (const char c : text) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain)
      word += c;
    else if (!word.empty() && word.back() != '-')
      word += '-';
  }
  word.resize(std::min(word.size(), kLongest));
  while (word.ends_with('-')) word.pop_back();
  return word;
}

/// The engine, whatever of its rules is switched: those are no engines elsewhere.
std::string EngineName(const FuzzSide& side) {
  const std::string& full = side.info.name;
  return IsPluginPath(full) ? full : full.substr(0, full.find_first_of("+-"));
}

std::string EngineWord(const FuzzSide& side) {
  const std::string name = EngineName(side);
  return FileWord(IsPluginPath(name) ? fs::path(name).stem().string() : name);
}

/// Of an engine's own losses: "ringscope gaps FILE --engine v2@58".
std::string GapsCommandLine(const FuzzPlan& plan, Side side, const std::string& file) {
  return fmt::format("ringscope gaps {} --engine {}", file,
                     ShellWord(EngineName(plan.sides[side])));
}

/// The note that says what the stream shows, and the stream.
std::string FileText(const FuzzPlan& plan, const CampaignFinding& finding) {
  const FuzzFinding& shown = finding.shown ? *finding.shown : finding.first;
  const std::string command = shown.mismatch.oracle == Oracle::kLosses
                                  ? GapsCommandLine(plan, *shown.mismatch.side, "FILE")
                                  : DiffCommandLine(plan, "FILE");
  const std::string note = fmt::format("'{}' shows: {} ({})", command, finding.text, shown.cause);
  std::string text = FormatOp({.time_ns = {}, .body = Note{note}}) + "\n";
  for (const StoredOp& op : ToOps(finding.smallest)) text += FormatOp(op.op()) + "\n";
  return text;
}

Result<std::string> FileContent(const std::string& path) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenByteSource(path));
  constexpr size_t kMost = size_t{64} << 20;  // findings are small
  return ReadStart(*source, kMost);
}

/// Where a text goes, or is already.
struct TextPath {
  std::string path;
  bool is_there = false;
};

/// The first of "NAME.ops.jsonl", "NAME-2.ops.jsonl" ... that is free, or has this text.
TextPath PathFor(const fs::path& folder, const std::string& name, const std::string& text) {
  for (int i = 1;; ++i) {
    const std::string number = i == 1 ? "" : fmt::format("-{}", i);
    const std::string file = name + number + ".ops.jsonl";
    std::string path = folder == "." ? file : (folder / file).string();
    std::error_code ignored;
    if (!fs::exists(path, ignored)) return {path, false};
    if (const auto content = FileContent(path); content && *content == text) return {path, true};
  }
}

Status WriteText(const std::string& path, const OutputKind& kind, const std::string& text) {
  RS_ASSIGN_OR_RETURN(const auto file, OutputFile::Create(path, kind, Replace::kAny));
  RS_RETURN_IF_ERROR(file->Write(text));
  return file->Commit();
}

}  // namespace

Result<std::vector<PlainStream>> ReadSources(const std::vector<std::string>& logs,
                                             Context& context) {
  RS_ASSIGN_OR_RETURN(std::vector<LogStream> streams,
                      ReadLogStreams(logs, kMostSourceBytes, context));
  std::vector<PlainStream> sources;
  for (LogStream& stream : streams) sources.push_back(std::move(stream.stream));
  return sources;
}

Result<std::vector<CorpusStream>> ReadCorpus(const std::string& folder) {
  std::vector<std::string> paths;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored))
    if (entry.path().string().ends_with(".ops.jsonl")) paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  std::vector<CorpusStream> corpus;
  for (const std::string& path : paths) {
    CorpusStream& stream = corpus.emplace_back();
    stream.path = path;
    RS_ASSIGN_OR_RETURN(const auto log, OpenLog(path));
    while (true) {
      RS_ASSIGN_OR_RETURN(const std::optional<Op> op, InFile(path, log->Next()));
      if (!op) break;
      AddOp(*op, stream.stream);
    }
  }
  return corpus;
}

std::string DiffCommandLine(const FuzzPlan& plan, const std::string& file) {
  return fmt::format("ringscope diff {} --a {} --b {}", file, ShellWord(EngineName(plan.sides.a)),
                     ShellWord(EngineName(plan.sides.b)));
}

Status WriteFindings(const FuzzPlan& plan, const std::string& folder, CaseStyle style,
                     CampaignResult& result) {
  for (CampaignFinding& finding : result.findings) {
    if (!finding.seed) continue;  // it is in the corpus
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) return Fail(ErrorCode::kIo, error.message(), {folder, {}, {}});
    const std::string text = FileText(plan, finding);
    const std::string name = fmt::format("{}-{}-{}", EngineWord(plan.sides.a),
                                         EngineWord(plan.sides.b), FileWord(finding.first.cause));
    const TextPath place = PathFor(folder, name, text);
    finding.written_to = place.path;
    if (!place.is_there) RS_RETURN_IF_ERROR(WriteText(place.path, kOpsOutput, text));
    if (style == CaseStyle::kOps || !finding.shown) continue;
    // An engine that fails has no expectations.
    const auto test_case = WriteTestCase({.cause = finding.shown->cause,
                                          .what = finding.shown->mismatch.text,
                                          .stream = finding.smallest},
                                         plan.engines(), style);
    if (!test_case) continue;
    RS_RETURN_IF_ERROR(WriteText(TestCasePath(place.path), kTestCaseOutput, *test_case));
  }
  return {};
}

}  // namespace ringscope
