#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "commands/many_logs/diffed_logs.h"
#include "commands/many_logs/doctor_logs.h"
#include "commands/many_logs/gaps_logs.h"
#include "commands/many_logs/sweep_logs.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/view/json.h"
#include "formats/inputs/content_words.h"
#include "formats/io/byte_stream.h"

namespace ringscope {
namespace {

struct MergeArgs {
  std::vector<std::string> results;
  std::string format = "text";
};

constexpr uint64_t kMaxResult = uint64_t{2} << 30;

void SetUp(CLI::App& app, MergeArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "RESULT", args.results, "RESULT",
           "Results of 'ringscope sweep', 'gaps', 'diff' or 'doctor' for many logs or traces, "
           "written with --format json; - reads standard input",
           Need::kRequired);
  AddFormat(app, args.format, {"text", "json", "csv"});
}

Status RefuseCsv(const std::string& format, const char* command) {
  if (format != "csv") return {};
  return Fail(ErrorCode::kUsage, fmt::format("results of {} cannot be written as csv", command), {},
              "use text or json");
}

Result<ExitCode> Write(const SweepLogs& logs, const ShardsHeld& shards, const std::string& format,
                       Console& console) {
  return ReportLogs(console, format, logs, shards);
}
Result<ExitCode> Write(const GapsLogs& logs, const ShardsHeld& shards, const std::string& format,
                       Console& console) {
  RS_RETURN_IF_ERROR(RefuseCsv(format, "gaps"));
  return ReportLogs(console, format, logs, shards);
}
Result<ExitCode> Write(const DiffedLogs& logs, const ShardsHeld& shards, const std::string& format,
                       Console& console) {
  RS_RETURN_IF_ERROR(RefuseCsv(format, "diff"));
  return ReportLogs(console, format, logs, shards);
}
Result<ExitCode> Write(const DoctorTraces& traces, const ShardsHeld& shards,
                       const std::string& format, Console& console) {
  return ReportLogs(console, format, traces, shards);
}

template <typename Session>
const std::string& FileOf(const LogResult<Session>& log) {
  return log.status.log;
}
const std::string& FileOf(const DoctorTrace& trace) { return trace.file; }

template <typename Results>
Results ResultsIn(const Json& document, const char* key) {
  if constexpr (std::same_as<Results, DiffedLogs>)
    return DiffedLogsFromJson(document);
  else
    return FieldsFromJson<Results>(document.at(key));
}

/// Joins the results in the arrays `key` of the documents.
template <typename Results>
Result<ExitCode> MergeAs(const char* key, const MergeArgs& args, const std::vector<Json>& documents,
                         Context& context) {
  Results results;
  ShardsHeld shards;
  std::map<std::string, size_t> documents_of;  // by the log's file
  for (size_t i = 0; i < documents.size(); ++i) {
    try {
      if (const Json* held = documents[i].Find("shards"))
        RS_RETURN_IF_ERROR(InFile(args.results[i], shards.Join(FieldsFromJson<ShardsHeld>(*held))));
      Results added = ResultsIn<Results>(documents[i], key);
      for (const auto& result : added) {
        const auto [known, is_new] = documents_of.try_emplace(FileOf(result), i);
        if (!is_new && known->second != i)
          return Fail(ErrorCode::kUsage,
                      fmt::format("log {} is in two of the results", known->first), {},
                      "name each shard's result once");
      }
      std::move(added.begin(), added.end(), std::back_inserter(results));
    } catch (const JsonError& error) {  // a key that is missing, or of another type
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("the result does not have the expected content: {}", error.what()),
                  {args.results[i], {}, {}}, "make the results with this version of ringscope");
    }
  }
  std::stable_sort(results.begin(), results.end(),
                   [](const auto& a, const auto& b) { return FileOf(a) < FileOf(b); });
  return Write(results, shards, args.format, context.console);
}

/// Results that can be merged.
struct ResultKind {
  std::string schema;
  const char* key;  // of the array that is joined
  Result<ExitCode> (*merge)(const char* key, const MergeArgs& args,
                            const std::vector<Json>& documents, Context& context);
};
const std::vector<ResultKind>& ResultKinds() {
  const auto schema_of = [](const char* kind) {
    return JsonDocument(kind)["schema"].get<std::string>();
  };
  static const std::vector<ResultKind> kinds = {
      {schema_of(kSweepLogs), "logs", MergeAs<SweepLogs>},
      {schema_of(kGapsLogs), "logs", MergeAs<GapsLogs>},
      {schema_of(kDiffDocument), "logs", MergeAs<DiffedLogs>},
      {kDoctorSchema, "traces", MergeAs<DoctorTraces>},
  };
  return kinds;
}

/// nullptr: a document that cannot be merged.
const ResultKind* KindOfResult(const Json& document) {
  for (const ResultKind& kind : ResultKinds())
    if (document["schema"] == kind.schema && document.contains(kind.key)) return &kind;
  return nullptr;
}

/// A result of any kind.
Result<Json> ReadResult(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(const std::string text,
                      ReadText(*source, kMaxResult, "a result", "make it with --format json"));
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos || (text[first] != '{' && text[first] != '['))
    return tl::unexpected<Error>(
        WrongContent(text, path, "a result", "make it with --format json"));
  RS_ASSIGN_OR_RETURN(Json document, InFile(path, ParseJson(text, SIZE_MAX)));
  const Json* schema = document.Find("schema");
  if (schema == nullptr)
    return Fail(ErrorCode::kCorrupt, "expected a JSON document with a schema", {path, {}, {}},
                "make it with --format json");
  if (KindOfResult(document) == nullptr) {
    std::vector<std::string> schemas;
    for (const ResultKind& kind : ResultKinds()) schemas.push_back(kind.schema);
    return Fail(
        ErrorCode::kCorrupt,
        fmt::format("{} cannot be merged: expected {}", schema->dump(), Joined(schemas, " or ")),
        {path, {}, {}},
        "make it with --each and --format json, by 'ringscope sweep', 'gaps', 'diff' or 'doctor'");
  }
  return document;
}

Result<ExitCode> RunMerge(const MergeArgs& args, Context& context) {
  std::vector<Json> documents;
  for (const std::string& path : args.results) {
    RS_ASSIGN_OR_RETURN(documents.emplace_back(), ReadResult(context, path));
    if (documents.back()["schema"] != documents.front()["schema"])
      return Fail(ErrorCode::kUsage, "the result is of another command than those before it",
                  {path, {}, {}}, "merge the results of each command separately");
  }
  const ResultKind& kind = *KindOfResult(documents.front());
  return kind.merge(kind.key, args, documents, context);
}

}  // namespace

Command MergeCommand() {
  return {
      "merge",
      "Replay",
      "Join the results of several runs over many logs",
      "Joins JSON results of 'ringscope sweep', 'gaps', 'diff' or 'doctor' over many "
      "logs or traces, such as those of the shards of a batch job. The output and the exit status "
      "are those of one run over all of the logs, but what differs in each session of a diff is in "
      "JSON alone. If the results are those of shards, all of them "
      "have to be there: the output names those that are missing.",
      {{"ringscope merge part-*.json", "A line for each log, and totals"},
       {"ringscope merge part-*.json --format json", "One result"}},
      Bind(SetUp, RunMerge),
      {.notice =
           "Done, and shards are missing, some logs failed, or the joined runs had a finding.",
       .failed = "Failed, or all logs had failed. The message reports where, what was expected, "
                 "and what to do."}};
}

}  // namespace ringscope
