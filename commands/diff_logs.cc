#include "commands/diff_logs.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "commands/diff_json.h"
#include "commands/diff_minimize.h"
#include "commands/diff_report.h"
#include "commands/diff_words.h"
#include "commands/json_output.h"
#include "commands/output.h"
#include "commands/session_reader.h"
#include "commands/text.h"
#include "formats/input_kind.h"

namespace ringscope {
namespace {

namespace fs = std::filesystem;

/// The logs of a folder and of those in it, by name.
struct FolderLogs {
  std::vector<std::string> logs;
  uint64_t others = 0;  // files that are no logs
};

Result<FolderLogs> FindLogs(const std::string& folder) {
  FolderLogs found;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    if (!entry->is_regular_file(error)) continue;
    const std::string path = entry->path().string();
    RS_ASSIGN_OR_RETURN(const InputKind kind, FindInputKind(path));
    if (kind == InputKind::kLog)
      found.logs.push_back(path);
    else
      ++found.others;
  }
  if (error) return Fail(ErrorCode::kIo, error.message(), {folder, {}, {}});
  std::sort(found.logs.begin(), found.logs.end());
  if (!found.logs.empty()) return found;
  return Fail(ErrorCode::kUsage, "there is no log in this folder", {folder, {}, {}},
              "expected commit logs (.tblog) or operations (.ops.jsonl)");
}

/// Choices for a buffer that the session does not have can not be meant.
Status CheckBuffers(const SessionDiff& diff, const DiffArgs& args) {
  const std::vector<BufferDiff>& buffers = diff.result.buffers;
  const auto fail = [&](std::string what, std::string hint) {
    return Fail(ErrorCode::kUsage, fmt::format("session {}: {}", diff.session, what),
                {diff.path, {}, {}}, std::move(hint));
  };
  if (buffers.empty())
    return fail("it has no buffer, so there is nothing to compare", "see 'ringscope info'");
  for (const Side side : kSides) {
    for (const auto& [id, choice] : args.sides[side].session.buffers) {
      const bool known = std::any_of(buffers.begin(), buffers.end(),
                                     [wanted = id](const auto& b) { return b.id == wanted; });
      if (known) continue;
      std::string ids;
      for (const BufferDiff& buffer : buffers)
        ids += fmt::format("{}{}", ids.empty() ? "" : ", ", Raw(buffer.id));
      return fail(fmt::format("side {} makes a choice for buffer {}, which is not in the log",
                              Letter(side), Raw(id)),
                  fmt::format("buffers: {}", ids));
    }
  }
  return {};
}

/// Compares the session that `sessions` stands at.
Result<SessionDiff> DiffSession(const DiffArgs& args, SessionReader& sessions, Context& context) {
  DiffOptions options = ToDiffOptions(args);
  options.describe = OperationText;
  std::vector<std::string> said;  // what both sides say is said once
  options.warn = [&](Side, const std::string& text) {
    if (std::find(said.begin(), said.end(), text) != said.end()) return;
    said.push_back(text);
    context.console.Warn(fmt::format("{}: {}", sessions.path(), Printable(text)));
  };
  LogDiff diff(std::move(options));
  SessionDiff outcome{.path = sessions.path(), .session = sessions.session(), .result = {}};
  uint64_t gaps = 0;
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
    if (!op) break;
    gaps += std::holds_alternative<RecorderGap>(op->body);
    if (Status status = diff.Apply(*op, sessions.record_number()); !status) {
      if (status.error().where.path.empty()) status.error().where.path = outcome.path;
      return tl::unexpected(std::move(status).error());
    }
  }
  RS_ASSIGN_OR_RETURN(outcome.result, diff.Finish());
  if (gaps > 0)
    context.console.Warn(fmt::format("{}: the recording is not complete: it has {}", outcome.path,
                                     Count(gaps, "gap")));
  RS_RETURN_IF_ERROR(CheckBuffers(outcome, args));
  return outcome;
}

Result<std::vector<SessionDiff>> DiffSessions(const DiffArgs& args, SessionReader& sessions,
                                              Context& context) {
  std::vector<SessionDiff> diffs;
  RS_ASSIGN_OR_RETURN(bool more, sessions.NextSession());
  while (more) {
    RS_ASSIGN_OR_RETURN(SessionDiff diff, DiffSession(args, sessions, context));
    diffs.push_back(std::move(diff));
    RS_ASSIGN_OR_RETURN(more, sessions.NextSession());
  }
  return diffs;
}

}  // namespace

DiffOptions ToDiffOptions(const DiffArgs& args) {
  DiffOptions options;
  for (const Side side : kSides) options.sides[side] = ToReplayOptions(args.sides[side]);
  options.listed = args.limit;
  return options;
}

Result<ExitCode> DiffLogs(const DiffArgs& args, Context& context) {
  const std::string& input = args.inputs.front();
  const bool is_folder = fs::is_directory(input);
  std::vector<std::string> logs = {input};
  uint64_t others = 0;
  if (is_folder) {
    if (!args.minimize.empty() || args.session) {
      return Fail(ErrorCode::kUsage, "--minimize and --session take one log, not a folder",
                  {input, {}, {}});
    }
    RS_ASSIGN_OR_RETURN(FolderLogs found, FindLogs(input));
    logs = std::move(found.logs);
    others = found.others;
  }

  std::vector<SessionDiff> diffs;
  ExitCode inputs = ExitCode::kClean;
  for (const std::string& log : logs) {
    SessionReader sessions(context, {{log}, args.session}, "comparing");
    RS_ASSIGN_OR_RETURN(std::vector<SessionDiff> of_log, DiffSessions(args, sessions, context));
    std::move(of_log.begin(), of_log.end(), std::back_inserter(diffs));
    inputs = Worse(inputs, sessions.Finish());
  }

  if (args.format == "json") {
    PrintJson(context.console, LogDiffsJson(diffs, args));
  } else {
    if (is_folder) {
      PrintFolderDiff(context.console, input, diffs, others);
    } else {
      for (size_t i = 0; i < diffs.size(); ++i) {
        if (i > 0) context.console.Print("\n");
        PrintSessionDiff(context.console, diffs[i], args);
      }
    }
    if (is_folder) {
      for (const SessionDiff& diff : diffs) {
        if (diff.result.Same()) continue;
        context.console.Print("\n");
        PrintSessionDiff(context.console, diff, args);
      }
    }
  }
  if (!args.minimize.empty()) RS_RETURN_IF_ERROR(MinimizeLog(args, diffs, context));
  const bool same = std::all_of(diffs.begin(), diffs.end(),
                                [](const SessionDiff& diff) { return diff.result.Same(); });
  return Worse(inputs, same ? ExitCode::kClean : ExitCode::kNotice);
}

}  // namespace ringscope
