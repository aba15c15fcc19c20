#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "commands/session/examined.h"
#include "commands/session/tasks_on_cores.h"
#include "commands/shell/text.h"
#include "formats/inputs/input_kind.h"
#include "formats/inputs/log_parts.h"

namespace ringscope {
namespace {

constexpr size_t kSessionsAlone = 8;  // of one input that are shown one by one, as text

/// Returns true if the text groups them by their findings.
bool AreGrouped(const ExaminedInputs& inputs) {
  return inputs.are_many || inputs.examinations.size() > kSessionsAlone;
}

/// Says which files of a folder are not examined.
void SayPassedOver(Context& context, const std::string& folder, std::vector<std::string> names) {
  constexpr size_t kNamed = 8;
  if (names.empty()) return;
  const size_t count = names.size();
  std::ranges::sort(names);
  if (count > kNamed) names.resize(kNamed);
  context.console.Say(fmt::format(
      "{}: {} without the name of a trace or a log {} passed over: {}{}", Printable(folder),
      Count(count, "file"), Was(count), Printable(Joined(names)), count > kNamed ? ", ..." : ""));
}

/// Adds a file, or all traces and logs of a folder.
Status AddPath(Context& context, const std::string& path, std::vector<std::string>& paths) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    paths.push_back(path);
    RunFiles::AddInput(path);
    return {};
  }
  const size_t before = paths.size();
  std::vector<std::string> passed_over;
  fs::recursive_directory_iterator entry(path, fs::directory_options::skip_permission_denied,
                                         error);
  for (const fs::recursive_directory_iterator end; !error && entry != end; entry.increment(error)) {
    std::error_code ignored;
    const std::string name = entry->path().filename().string();
    if (!entry->is_regular_file(ignored)) continue;
    const bool is_taken = IsLogName(name) || IsTraceName(name) || IsArchiveName(name);
    (is_taken ? paths : passed_over)
        .push_back((is_taken ? entry->path() : entry->path().lexically_relative(path))
                       .lexically_normal()
                       .string());
  }
  if (error)
    return Fail(ErrorCode::kIo, fmt::format("cannot search the folder: {}", error.message()),
                {path, {}, {}});
  if (paths.size() == before)
    return Fail(ErrorCode::kCorrupt,
                "the folder has no traces: no .pftrace, .perfetto-trace, .zip, .tblog, .ops.jsonl",
                {path, {}, {}});
  for (size_t i = before; i < paths.size(); ++i) RunFiles::AddInput(paths[i]);
  SayPassedOver(context, path, std::move(passed_over));
  return {};
}

/// Examines all inputs, on all cores, each on one thread. An input that fails does not stop the
/// others.
Examinations ExamineAll(Context& context, const std::vector<std::string>& paths,
                        const ReplayChoices& choices, std::optional<uint64_t> session) {
  std::vector<Examinations> results(paths.size());
  size_t done = 0;
  std::mutex mutex;  // of the messages and the progress
  Progress progress(context.console, fmt::format("examining {}", Count(paths.size(), "file")),
                    "file");
  TasksOnCores(context)(paths.size(), [&](size_t at) {
    KeptText out, err;
    Streams streams{out, err, {}, true};
    {
      Console console(streams);
      console.Configure({.color = ColorMode::kNever, .quiet = context.console.options().quiet});
      Context own{console, 1};
      Result<Examinations> examined;
      try {
        examined = ExamineInput(own, paths[at], choices, session);
      } catch (const std::exception& failed) {  // out of memory, mostly
        examined = Fail(ErrorCode::kLimit, fmt::format("cannot continue: {}", failed.what()));
      }
      if (!examined) examined = Examinations{Unreadable(paths[at], std::move(examined).error())};
      for (Examination& examination : *examined) examination.ForgetEvidence();
      results[at] = *std::move(examined);
    }
    const std::lock_guard lock(mutex);
    if (!err.text.empty()) {
      static_cast<void>(context.console.Flush());
      static_cast<void>(context.console.streams().err.Write(err.text));
    }
    progress.Update(++done, paths.size());
  });
  Examinations all;
  for (Examinations& result : results) std::ranges::move(result, std::back_inserter(all));
  return all;
}

/// Examines one input. An error names its file.
Result<Examinations> ExamineOne(Context& context, const std::string& path,
                                const ReplayChoices& choices, std::optional<uint64_t> session) {
  return InFile(path, ExamineInput(context, path, choices, session));
}

/// Examines a log together with the trace that came out of it: each shows what the other does not.
/// @return nullopt: the paths are not a log and its trace
std::optional<Examinations> ExaminePair(Context& context, const std::vector<std::string>& paths,
                                        const ReplayChoices& choices,
                                        std::optional<uint64_t> session) {
  if (paths.size() != 2 || !choices.reads.like.empty()) return std::nullopt;
  const bool is_first = IsLog(context, paths[0]);
  if (is_first == IsLog(context, paths[1])) return std::nullopt;
  ReplayChoices both = choices;
  both.reads.like = paths[is_first ? 1 : 0];
  KeptText ignored;
  Streams silent{context.console.streams().out, ignored, {}, true};
  Console console(silent);
  Context muted{console, context.threads, context.files};
  Result<Examinations> examined = ExamineOne(muted, paths[is_first ? 0 : 1], both, session);
  if (!examined) return std::nullopt;
  return *std::move(examined);
}

}  // namespace

Result<ExaminedInputs> ExamineInputs(Context& context, const std::vector<std::string>& inputs,
                                     const ReplayChoices& choices,
                                     std::optional<uint64_t> session) {
  std::vector<std::string> paths;
  for (const std::string& path : inputs) RS_RETURN_IF_ERROR(AddPath(context, path, paths));
  if (paths.size() > 1) paths = OnePathPerRecording(paths);
  if (auto both = ExaminePair(context, paths, choices, session))
    return ExaminedInputs{*std::move(both), false};
  if (paths.size() == 1) {
    RS_ASSIGN_OR_RETURN(Examinations one, ExamineOne(context, paths.front(), choices, session));
    return ExaminedInputs{std::move(one), false};
  }
  std::ranges::sort(paths);
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  if (std::ranges::find(paths, "-") != paths.end())
    return Fail(ErrorCode::kUsage, "standard input cannot be one of several inputs", {},
                "give it alone");
  return ExaminedInputs{ExamineAll(context, paths, choices, session), true};
}

Result<ExitCode> ReportExaminations(Context& context, Format format, ExaminedInputs& inputs,
                                    const Gate& gate, bool brief, bool all) {
  Report report(context.console, format, "doctor");
  if (gate.is_set())
    for (Examination& examination : inputs.examinations)
      examination.broken_limits = gate.Broken(examination);
  if (!report.is_text()) {
    WriteExaminations(context.console, format, inputs.examinations);
  } else if (AreGrouped(inputs)) {
    PrintMany(report, inputs.examinations, all);
  } else {
    for (const Examination& examination : inputs.examinations) {
      if (&examination != inputs.examinations.data()) report.Print(brief ? "\n" : "\n\n");
      PrintExamination(report, examination, brief, all);
    }
  }
  if (report.is_text()) PrintBrokenLimits(report, inputs.examinations);
  return CodeOf(inputs.examinations, gate);
}

Result<ExitCode> ReportTraces(Context& context, const SessionSelection& input, Format format,
                              const Gate& gate, bool is_about_replays, size_t holes) {
  if (is_about_replays || input.clone)
    return Fail(ErrorCode::kUsage, "a trace has no commits, and so no replay that can be changed",
                {input.paths.front(), {}, {}}, "leave these options out, or name a log");
  context.console.Say(
      fmt::format("{}: a trace has no commits to replay; this is what doctor finds in it",
                  Printable(input.paths.front())));
  RS_ASSIGN_OR_RETURN(ExaminedInputs examined, ExamineInputs(context, input.paths, {}, input.only));
  const bool all = holes == SIZE_MAX;
  RS_ASSIGN_OR_RETURN(const ExitCode code,
                      ReportExaminations(context, format, examined, gate, /*brief=*/false, all));
  Report report(context.console, format, "gaps");
  if (report.is_text() && !all && !AreGrouped(examined))
    for (const Examination& examination : examined.examinations)
      PrintHoles(report, examination, holes);
  return code;
}

}  // namespace ringscope
