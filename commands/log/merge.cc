#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "commands/common/session_reader.h"
#include "commands/many_logs/gaps_logs.h"
#include "commands/many_logs/sweep_logs.h"
#include "commands/report/json.h"
#include "commands/shell/commands.h"
#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "formats/io/byte_stream.h"

namespace ringscope {
namespace {

struct MergeArgs {
  std::vector<std::string> results;
  std::string format = "text";
};

constexpr uint64_t kMaxResult = uint64_t{2} << 30;

std::string SchemaOf(const char* kind) { return JsonDocument(kind)["schema"].get<std::string>(); }

void SetUp(CLI::App& app, MergeArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "RESULT", args.results, "RESULT",
           "Results of 'ringscope sweep' or 'ringscope gaps' for many logs, written with "
           "--format json; - reads standard input",
           Need::kRequired);
  AddFormat(app, args.format, {"text", "json", "csv"});
}

/// A result of either kind.
Result<Json> ReadResult(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenInput(context, path));
  RS_ASSIGN_OR_RETURN(const std::string text, ReadAll(*source, kMaxResult));
  RS_ASSIGN_OR_RETURN(Json document, InFile(path, ParseJson(text, SIZE_MAX)));
  const Json* schema = document.Find("schema");
  if (schema == nullptr)
    return Fail(ErrorCode::kCorrupt, "expected a JSON document with a schema", {path, {}, {}},
                "make it with --format json");
  const bool is_known = *schema == SchemaOf(kSweepLogs) || *schema == SchemaOf(kGapsLogs);
  if (!is_known || !document.contains("logs")) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} cannot be merged: expected {} or {}", schema->dump(),
                            SchemaOf(kSweepLogs), SchemaOf(kGapsLogs)),
                {path, {}, {}}, "make it with 'ringscope sweep --each' or 'ringscope gaps --each'");
  }
  return document;
}

template <typename Logs>
Result<ExitCode> MergeAs(const MergeArgs& args, const std::vector<Json>& documents,
                         Context& context) {
  Logs logs;
  for (size_t i = 0; i < documents.size(); ++i) {
    try {
      Logs added = FieldsFromJson<Logs>(documents[i].at("logs"));
      std::move(added.begin(), added.end(), std::back_inserter(logs));
    } catch (const JsonError& error) {  // a key that is missing, or of another type
      return Fail(ErrorCode::kCorrupt,
                  fmt::format("the result does not have the expected content: {}", error.what()),
                  {args.results[i], {}, {}}, "make the results with this version of ringscope");
    }
  }
  std::stable_sort(logs.begin(), logs.end(),
                   [](const auto& a, const auto& b) { return a.status.log < b.status.log; });
  const auto twice = std::adjacent_find(logs.begin(), logs.end(), [](const auto& a, const auto& b) {
    return a.status.log == b.status.log;
  });
  if (twice != logs.end())
    return Fail(ErrorCode::kUsage,
                fmt::format("log {} is in two of the results", twice->status.log), {},
                "name each shard's result once");
  return ReportLogs(context.console, args.format, logs);
}

Result<ExitCode> RunMerge(const MergeArgs& args, Context& context) {
  std::vector<Json> documents;
  for (const std::string& path : args.results) {
    RS_ASSIGN_OR_RETURN(documents.emplace_back(), ReadResult(context, path));
    if (documents.back()["schema"] != documents.front()["schema"])
      return Fail(ErrorCode::kUsage, "the result is of another command than those before it",
                  {path, {}, {}}, "merge results of sweep and of gaps separately");
  }
  if (documents.front()["schema"] == SchemaOf(kSweepLogs))
    return MergeAs<SweepLogs>(args, documents, context);
  if (args.format == "csv")
    return Fail(ErrorCode::kUsage, "only results of sweep can be written as csv");
  return MergeAs<GapsLogs>(args, documents, context);
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
