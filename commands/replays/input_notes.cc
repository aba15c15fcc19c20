#include "commands/replays/input_notes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "commands/shell/input.h"
#include "commands/shell/options.h"
#include "commands/shell/registry.h"
#include "commands/shell/text.h"
#include "core/base/wire.h"
#include "formats/io/growing_file.h"

namespace ringscope {

void WarnOfDamage(Console& console, const std::string& path, const std::vector<Damage>& damage,
                  uint64_t count) {
  constexpr size_t kShown = 2;
  const size_t shown = std::min(kShown, damage.size());
  for (size_t i = 0; i < shown; ++i)
    console.Warn(fmt::format("{}: damaged {}", path, damage[i].ToString()));
  if (count > shown)
    console.Warn(fmt::format("{}: damaged in {} more; 'ringscope verify' lists them", path,
                             Count(count - shown, "place")));
}

std::string NotClosedText(const std::string& path, std::optional<uint64_t> duration_ns) {
  const std::string until = duration_ns
                                ? fmt::format("its last record is {} after its session's first",
                                              HumanDuration(*duration_ns))
                                : "it has no times";
  if (const auto by = RecordedBy(path))
    return fmt::format("the log is {}; {}, and what follows is missing", *by, until);
  return fmt::format("the log was not closed: {}, and what followed may be missing", until);
}

std::string StartMissingText(const LogHeader& header) {
  const std::string start = fmt::format(
      "the log begins with part {} of a recording: the records before are missing", header.part);
  if (header.repeated_records == 0)
    return start + ", also those that set up its buffers, producers and writers";
  return start +
         ", so that buffers which were there before are replayed from empty: packets of chunks "
         "that were committed before are missing, and a ring holds what the service's did, except "
         "at its write position, when all of it has been written once";
}

std::string Shortened(const std::vector<std::string>& names) {
  constexpr size_t kShown = 3;
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size() && i < kShown; ++i) shown.push_back(Printable(names[i]));
  return Joined(shown) +
         (names.size() > kShown ? fmt::format(" and {} more", names.size() - kShown) : "");
}

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
