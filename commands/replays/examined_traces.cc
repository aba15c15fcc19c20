#include "commands/replays/examined_traces.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"

namespace ringscope {

bool HasTraces(Context& context, const SessionSelection& input) {
  return std::ranges::any_of(input.paths, [&](const std::string& path) {
    if (path == "-") return false;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return true;
    const Result<KnownInput> known = OpenKnownInput(context, path);
    return known && (known->kind == InputKind::kTrace || IsZip(wire::AsBytes(known->start)) ||
                     (known->start.empty() && IsTraceName(path)));
  });
}

Result<ExitCode> ExamineTraces(Context& context, const SessionSelection& input,
                               const std::string& format, bool is_about_replays) {
  if (is_about_replays || input.clone)
    return Fail(ErrorCode::kUsage, "a trace has no commits, and so no replay that can be changed",
                {input.paths.front(), {}, {}}, "leave these options out, or name a log");
  context.console.Say(
      fmt::format("{}: a trace has no commits to replay; this is what doctor finds in it",
                  Printable(input.paths.front())));
  std::vector<std::string> words = {"--format", format};
  if (input.only) words.insert(words.end(), {"--session", std::to_string(*input.only)});
  words.insert(words.end(), input.paths.begin(), input.paths.end());
  return RunNamed("doctor", std::move(words), context);
}

}  // namespace ringscope
