#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "commands/common/each_log.h"
#include "commands/common/gaps_logs.h"
#include "commands/common/sweep_logs.h"
#include "commands/report/json.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/output.h"
#include "formats/io/byte_stream.h"

namespace ringscope {
namespace {

struct MergeArgs {
  std::vector<std::string> results;
  std::string format = "text";
};

constexpr uint64_t kMaxResult = uint64_t{2} << 30;

/// What can be merged.
struct Kind {
  const char* schema;
  Json (*document)(const std::vector<LogResult>& logs);
  void (*print)(Console& console, const std::vector<LogResult>& logs);
};
constexpr Kind kKinds[] = {{kSweepLogs, SweepLogsJson, PrintSweepLogs},
                           {kGapsLogs, GapsLogsJson, PrintGapsLogs}};

Json SchemaOf(const Kind& kind) { return JsonDocument(kind.schema)["schema"]; }

void SetUp(CLI::App& app, MergeArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "RESULT", args.results, "RESULT",
           "Results of 'ringscope sweep' or 'ringscope gaps' for many logs, written with "
           "--format json; - reads standard input",
           Need::kRequired);
  AddFormat(app, args.format, {"text", "json", "csv"});
}

Result<Json> ReadResult(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxResult));
  Result<Json> parsed = ParseJson(text, SIZE_MAX);
  if (!parsed) {
    parsed.error().where.path = path;
    return parsed;
  }
  Json& document = *parsed;
  if (!document.is_object() || !document.contains("schema")) {
    return Fail(ErrorCode::kCorrupt, "expected a JSON document with a schema", {path, {}, {}},
                "make it with --format json");
  }
  return parsed;
}

const Kind* KindOf(const Json& document) {
  for (const Kind& kind : kKinds)
    if (document["schema"] == SchemaOf(kind)) return &kind;
  return nullptr;
}

/// Adds a result's logs to those of others.
Status AddLogsOf(const Json& document, const std::string& path, const Kind*& kind,
                 std::vector<LogResult>& logs) {
  const Kind* own = KindOf(document);
  if (own == nullptr || !document.contains("logs") || !document["logs"].is_array()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} is no result that can be merged: expected {} or {}",
                            document["schema"].dump(), SchemaOf(kKinds[0]).get<std::string>(),
                            SchemaOf(kKinds[1]).get<std::string>()),
                {path, {}, {}}, "have 'ringscope sweep' or 'ringscope gaps' make it with --each");
  }
  if (kind != nullptr && kind != own) {
    return Fail(ErrorCode::kUsage, "the result is of another command than those before it",
                {path, {}, {}}, "merge results of sweep and of gaps apart");
  }
  kind = own;
  std::vector<LogResult> added = ReadLogs(document["logs"]);
  std::move(added.begin(), added.end(), std::back_inserter(logs));
  return {};
}

Status CheckNames(const std::vector<LogResult>& logs) {
  const auto twice = std::adjacent_find(logs.begin(), logs.end(), [](const auto& a, const auto& b) {
    return a.status.log == b.status.log;
  });
  if (twice == logs.end()) return {};
  return Fail(ErrorCode::kUsage, fmt::format("log {} is in two of the results", twice->status.log),
              {}, "give each shard's result once");
}

Result<ExitCode> Merge(const MergeArgs& args, Context& context) {
  const Kind* kind = nullptr;
  std::vector<LogResult> logs;
  for (const std::string& path : args.results) {
    RS_ASSIGN_OR_RETURN(const Json document, ReadResult(context, path));
    RS_RETURN_IF_ERROR(AddLogsOf(document, path, kind, logs));
  }
  std::stable_sort(logs.begin(), logs.end(), [](const LogResult& a, const LogResult& b) {
    return a.status.log < b.status.log;
  });
  RS_RETURN_IF_ERROR(CheckNames(logs));
  const Json document = kind->document(logs);  // also finds what a result lacks
  if (args.format == "json") {
    context.console.Print(JsonText(document));
  } else if (args.format == "text") {
    kind->print(context.console, logs);
  } else {
    if (kind->schema != kSweepLogs)
      return Fail(ErrorCode::kUsage, "only results of sweep can be written as csv");
    PrintSweepLogsCsv(context.console, logs);
  }
  return WorstOf(StatusesOf(logs));
}

Result<ExitCode> RunMerge(const MergeArgs& args, Context& context) {
  try {
    return Merge(args, context);
  } catch (const JsonError& error) {  // a key that is missing, or of another type
    return Fail(ErrorCode::kCorrupt,
                fmt::format("a result does not have what it should: {}", error.what()), {},
                "make the results with this version of ringscope");
  }
}

}  // namespace

Command MergeCommand() {
  return {
      "merge",
      "Replay",
      "Join the results of several runs over many logs",
      "Joins JSON results of 'ringscope sweep' or 'ringscope gaps' over many logs, such as "
      "those of the shards of a batch job. The output and the exit status are those of one run "
      "over all of the logs.",
      {{"ringscope merge part-*.json", "A line for each log, and totals"},
       {"ringscope merge part-*.json --format json", "One result"}},
      Bind(SetUp, RunMerge),
      {.notice = "Done, and some logs failed, or the joined runs had a finding.",
       .failed = "Failed, or all logs had failed. The message reports where, what was expected, "
                 "and what to do."}};
}

}  // namespace ringscope
