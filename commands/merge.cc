#include "commands/merge.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "commands/each_log.h"
#include "commands/gaps_logs.h"
#include "commands/json_output.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/sweep_logs.h"
#include "commands/sweep_report.h"
#include "formats/byte_stream.h"

namespace ringscope {
namespace {

constexpr uint64_t kMaxResult = uint64_t{2} << 30;
constexpr size_t kMaxDepth = 32;

/// What can be merged.
struct Kind {
  const char* schema;
  Json (*totals)(const Json& logs);
  void (*print)(Console& console, const Json& document);
};
constexpr Kind kKinds[] = {{kSweepLogs, SweepTotals, PrintSweepLogs},
                           {kGapsLogs, GapsTotals, PrintGapsLogs}};

std::string SchemaOf(const Kind& kind) { return JsonDocument(kind.schema)["schema"]; }

void SetUp(CLI::App& app, MergeArgs& args) {
  AddTexts(app, "RESULT", args.results, "RESULT",
           "Results of 'ringscope sweep' or 'ringscope gaps' over many logs, made with "
           "--format json; - reads standard input",
           Need::kRequired);
  AddFormat(app, args.format, {"text", "json", "csv"});
}

Result<std::string> ReadAll(Context& context, const std::string& path) {
  const auto& open_input = context.console.streams().open_input;
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source,
                      path == "-" && open_input ? open_input() : OpenByteSource(path));
  std::string text;
  std::vector<uint8_t> piece(256 * 1024);
  while (true) {
    RS_ASSIGN_OR_RETURN(const size_t size, source->Read(piece));
    if (size == 0) return text;
    text.append(reinterpret_cast<const char*>(piece.data()), size);
    if (text.size() > kMaxResult)
      return Fail(ErrorCode::kLimit, fmt::format("more than {} bytes", kMaxResult), {path, {}, {}});
  }
}

/// Levels of arrays and objects in a JSON text, so that none can be too deep to be handled.
size_t DepthOf(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return deepest;
}

Result<Json> ReadResult(Context& context, const std::string& path) {
  RS_ASSIGN_OR_RETURN(const std::string text, ReadAll(context, path));
  if (DepthOf(text) > kMaxDepth)
    return Fail(ErrorCode::kLimit, fmt::format("more than {} levels of JSON", kMaxDepth),
                {path, {}, {}});
  Json document = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (document.is_discarded() || !document.is_object() || !document.contains("schema")) {
    return Fail(ErrorCode::kCorrupt, "expected a JSON document with a schema", {path, {}, {}},
                "make it with --format json");
  }
  return document;
}

const Kind* KindOf(const Json& document) {
  for (const Kind& kind : kKinds)
    if (document["schema"] == SchemaOf(kind)) return &kind;
  return nullptr;
}

/// Adds a result's logs to those of others.
Status AddLogs(const Json& document, const std::string& path, const Kind*& kind, Json& logs) {
  const Kind* own = KindOf(document);
  if (own == nullptr || !document.contains("logs") || !document["logs"].is_array()) {
    return Fail(ErrorCode::kCorrupt,
                fmt::format("{} is no result that can be merged: expected {} or {}",
                            document["schema"].dump(-1, ' ', true), SchemaOf(kKinds[0]),
                            SchemaOf(kKinds[1])),
                {path, {}, {}}, "have 'ringscope sweep' or 'ringscope gaps' make it with --each");
  }
  if (kind != nullptr && kind != own) {
    return Fail(ErrorCode::kUsage, "the result is of another command than those before it",
                {path, {}, {}}, "merge results of sweep and of gaps apart");
  }
  kind = own;
  for (const Json& log : document["logs"]) logs.push_back(log);
  return {};
}

Status CheckNames(const Json& logs) {
  for (size_t i = 1; i < logs.size(); ++i) {
    if (logs[i].at("log") != logs[i - 1].at("log")) continue;
    return Fail(
        ErrorCode::kUsage,
        fmt::format("log {} is in two of the results", logs[i].at("log").get<std::string>()), {},
        "give each shard's result once");
  }
  return {};
}

Result<ExitCode> Merge(const MergeArgs& args, Context& context) {
  const Kind* kind = nullptr;
  Json logs = Json::array();
  for (const std::string& path : args.results) {
    RS_ASSIGN_OR_RETURN(const Json document, ReadResult(context, path));
    RS_RETURN_IF_ERROR(AddLogs(document, path, kind, logs));
  }
  std::stable_sort(logs.begin(), logs.end(), [](const Json& a, const Json& b) {
    return a.at("log").get_ref<const std::string&>() < b.at("log").get_ref<const std::string&>();
  });
  RS_RETURN_IF_ERROR(CheckNames(logs));
  Json document = JsonDocument(kind->schema);
  document["logs"] = std::move(logs);
  document["totals"] = kind->totals(document["logs"]);
  if (args.format == "json") {
    PrintJson(context.console, document);
  } else if (args.format == "text") {
    kind->print(context.console, document);
  } else {
    if (kind->schema != kSweepLogs)
      return Fail(ErrorCode::kUsage, "only results of sweep can be written as csv");
    context.console.Print(kSweepCsvTitles);
    for (const Json& log : document["logs"])
      for (const Json& session : log.at("sessions"))
        PrintSweepCsv(context.console, session, log.at("log").get<std::string>());
  }
  return WorstOf(document["logs"]);
}

}  // namespace

Result<ExitCode> RunMerge(const MergeArgs& args, Context& context) {
  try {
    return Merge(args, context);
  } catch (const Json::exception& error) {  // a key that is missing, or of another type
    return Fail(ErrorCode::kCorrupt,
                fmt::format("a result does not have what it should: {}", error.what()), {},
                "make the results with this version of ringscope");
  }
}

Command MergeCommand() {
  return {"merge",
          "Replay",
          "Join the results that shards of many logs gave",
          "Joins JSON results of 'ringscope sweep' or 'ringscope gaps' over many logs, such as "
          "those of the shards of a batch job. What comes out is what one run over all of the "
          "logs would have given.",
          {{"ringscope merge part-*.json", "A line for each log, and totals"},
           {"ringscope merge part-*.json --format json", "One result"}},
          Bind(SetUp, RunMerge)};
}

}  // namespace ringscope
