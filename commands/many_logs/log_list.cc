#include "commands/many_logs/log_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "commands/shell/input.h"
#include "commands/shell/values.h"
#include "formats/inputs/input_kind.h"
#include "formats/inputs/log_parts.h"
#include "formats/inputs/open_log.h"
#include "formats/io/line_reader.h"
#include "formats/io/log_source.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMaxLine = 64 * 1024;
constexpr size_t kMaxList = size_t{256} << 20;

bool IsListed(std::string_view name, ListedInputs inputs) {
  if (IsLogName(name)) return true;
  return inputs == ListedInputs::kTraces && (IsTraceName(name) || name.ends_with(".zip"));
}

Status AddFolder(const std::string& folder, ListedInputs inputs, std::vector<std::string>& paths) {
  std::error_code error;
  const size_t before = paths.size();
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    if (entry->is_regular_file(ignored) && IsListed(entry->path().filename().string(), inputs))
      paths.push_back(entry->path().lexically_normal().string());
  }
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("cannot search the folder: {}", error.message()),
                {folder, {}, {}});
  if (paths.size() == before) {
    return Fail(ErrorCode::kUsage,
                inputs == ListedInputs::kTraces
                    ? "the folder has no traces: no .pftrace, .perfetto-trace, .zip, .tblog, "
                      ".ops.jsonl"
                    : "the folder has no logs: no .tblog, no .ops.jsonl",
                {folder, {}, {}});
  }
  return {};
}

Status AddLogOrFolder(const std::string& path, ListedInputs inputs, std::vector<std::string>& paths,
                      bool& each) {
  std::error_code ignored;
  if (fs::is_directory(path, ignored)) {
    each = true;
    const size_t before = paths.size();
    RS_RETURN_IF_ERROR(AddFolder(path, inputs, paths));
    for (size_t i = before; i < paths.size(); ++i) RS_RETURN_IF_ERROR(RunFiles::AddInput(paths[i]));
    return {};
  }
  paths.push_back(path);
  return RunFiles::AddInput(path);
}

Status AddListed(Context& context, const std::string& list, ListedInputs inputs,
                 std::vector<std::string>& paths) {
  RS_ASSIGN_OR_RETURN(std::unique_ptr<ByteSource> source, OpenInput(context, list));
  RS_ASSIGN_OR_RETURN(const std::string text,
                      ReadText(*source, kMaxList, "a list", "expected a path on each line"));
  LineReader lines(MakeMemorySource(text, source->path()), kMaxLine);
  bool each = true;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<std::string_view> line, lines.Next());
    if (!line) return {};
    std::string_view path = *line;
    if (path.ends_with('\r')) path.remove_suffix(1);
    if (path.empty() || path.front() == '#') continue;
    RS_RETURN_IF_ERROR(AddLogOrFolder(std::string(path), inputs, paths, each));
  }
}

/// Whether a log is standard input or begins with a further part of a session.
bool ContinuesSession(const std::string& path) {
  if (path == "-") return true;
  const auto log = OpenLog(path);
  if (!log) return false;  // its reader will report why
  const auto first = (*log)->Next();
  if (!first || !*first) return false;
  const auto* header = std::get_if<LogHeader>(&(*first)->body);
  return header != nullptr && header->part > 0;
}

}  // namespace

bool IsLogName(std::string_view name) {
  for (const std::string_view compression : {".zst", ".gz"})
    if (name.ends_with(compression)) {
      name.remove_suffix(compression.size());
      break;
    }
  return name.ends_with(".tblog") || name.ends_with(".ops.jsonl");
}

void AddLogList(CLI::App& app, LogChoices& choices, const std::string& name,
                const std::string& more, Need need) {
  InGroup(app, kInputGroup);
  const std::string logs =
      "ommit logs (.tblog) or operations (.ops.jsonl), plain or compressed (zstd, gzip)";
  const std::string inputs =
      choices.inputs == ListedInputs::kLogs
          ? "C" + logs
          : "Perfetto traces, plain or compressed (zstd, gzip); zip archives of them, such as bug "
            "reports; c" +
                logs;
  AddTexts(app, name, choices.logs, kLogType,
           inputs + "; folders of them; @FILE for a list of them; - reads standard input" + more,
           need);
  AddFlag(app, "--each", choices.each,
          choices.inputs == ListedInputs::kLogs
              ? "Process each log separately and print a line for each, and totals (default for "
                "folders, lists, and several logs that are not parts of one session)"
              : "Print sums over all traces instead of a report on each (default for folders and "
                "lists)");
  AddParsed(app, "--shard", choices.shard, ParseShard, "I/N",
            "Process every N-th input in name order, starting with the I-th (from 1)");
}

Result<LogList> ExpandLogs(Context& context, const LogChoices& choices) {
  LogList list;
  list.each = choices.each || choices.shard.has_value();
  for (const std::string& log : choices.logs) {
    if (log.starts_with('@') && log.size() > 1) {
      list.each = true;
      RS_RETURN_IF_ERROR(AddListed(context, log.substr(1), choices.inputs, list.paths));
    } else {
      RS_RETURN_IF_ERROR(AddLogOrFolder(log, choices.inputs, list.paths, list.each));
    }
  }
  list.each_asked = list.each;
  const bool only_logs = choices.inputs == ListedInputs::kLogs;
  if (!list.each && list.paths.size() > 1 && only_logs)
    list.each = std::none_of(list.paths.begin(), list.paths.end(), ContinuesSession);
  if (!list.each) {
    if (!only_logs) list.paths = OnePathPerRecording(list.paths);
    return list;
  }
  std::sort(list.paths.begin(), list.paths.end());
  list.paths.erase(std::unique(list.paths.begin(), list.paths.end()), list.paths.end());
  if (std::find(list.paths.begin(), list.paths.end(), "-") != list.paths.end())
    return Fail(ErrorCode::kUsage, "standard input cannot be one of many logs", {},
                "give it alone, without --each and --shard");
  // A recording's parts are read together.
  list.paths = OnePathPerRecording(list.paths);
  if (!choices.shard) return list;
  list.shards = ShardsHeld::Of(*choices.shard);
  std::vector<std::string> chosen;
  for (size_t i = choices.shard->index - 1; i < list.paths.size(); i += choices.shard->count)
    chosen.push_back(list.paths[i]);
  list.paths = std::move(chosen);
  return list;
}

}  // namespace ringscope
