#include <malloc.h>

#include <charconv>
#include <cmath>

#include "commands/plugin/plugin.h"
#include "commands/session/examined.h"
#include "commands/session/session_view.h"
#include "commands/shell/commands.h"
#include "commands/sizes/sizes.h"
#include "core/log/configured_ops.h"

namespace ringscope {
namespace {

struct SweepArgs {
  SessionSelection input;
  SweepChoices choices;
  std::string config;  // with the buffers of a log that lacks them; empty: none
  Format format = Format::kText;
};

void SetUp(CLI::App& app, SweepArgs& args) {
  InGroup(app, "Configurations");
  SweepChoices& choices = args.choices;
  AddParsedList(
      app, "--sizes", choices.sizes, ParseSizeList, "[BUFFER=]SIZE,...",
      "Sizes to try, like 1M,2M,4M; 256k..64M doubles, 256k..64Mx1.5 multiplies by 1.5; of one "
      "buffer 'buffers[1]=1M,2M' (default: an eighth to eight times the log's own)");
  AddCommaList(app, "--policies", choices.policies, ParsePolicy, PolicyType("", ",..."),
               "Fill policies to try (default: the log's)");
  AddCommaList(app, "--reads", choices.reads, ParseSweptReads,
               {"recorded|end|none|every=TIME|streamed|streamed=TIME,...", ReadsType().choices},
               "When to read; streamed=TIME is what another file_write_period_ms would have done "
               "(default: recorded if the log has read passes, else streamed if the config has "
               "write_into_file, else end)");
  AddCommaList(
      app, "--engines", choices.engines, ParseEngineName, "ENGINE,...",
      "Buffer versions to try, like v1,v2@57,v2, or paths of plug-ins (default: the log's, "
      "else v2)");
  AddText(app, "--config", args.config, kFileType, kConfigToReplay);
  AddParsedList(app, "--target", choices.targets, ParseTarget, "TARGET",
                "Find the smallest buffers that meet keep=TIME (every sequence reaches back that "
                "far) or loss=SHARE, like loss=0 or loss=0.1%; may be repeated");
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {Format::kText, Format::kJson, Format::kCsv});
}

/// Sweeps the sessions of logs that are taken one after the other.
Result<ExitCode> SweepSessions(const SweepArgs& args, SessionReader& sessions, Context& context,
                               Report& out) {
#ifdef __GLIBC__
  // Each pass needs the memory of the one before, of which the allocator would keep what is small.
  mallopt(M_MMAP_THRESHOLD, 1 << 17);
  malloc_trim(0);
#endif
  ReplayChoices choices;
  choices.session.find_engine = EnginesAndPlugins();
  choices.config = args.config;
  for (const SizeList& list : args.choices.sizes)
    if (list.buffer && !list.sizes.empty())
      choices.session.buffers[*list.buffer].size = list.sizes.front();
  RS_RETURN_IF_ERROR(sessions.recording().Spool());
  out.Data("sessions", Json::array());
  bool is_first = true;
  return ForEachSession(sessions, [&]() -> Result<ExitCode> {
    const std::string path = sessions.path();
    ReplayInput changes{choices};
    RS_RETURN_IF_ERROR(InFile(path, changes.Find(context, sessions)));
    const auto records = changes.Records(static_cast<OpSource&>(sessions));
    RS_ASSIGN_OR_RETURN(SessionIndex facts, InFile(path, IndexSession(*records)));
    RS_RETURN_IF_ERROR(changes.ChangeBuffers(sessions));
    RS_ASSIGN_OR_RETURN(SweepInput input, SweepInputOf(context, sessions, changes, "sweeping"));
    input.facts = std::move(facts);
    // Recorded reads are not those of a config that reads at other times.
    input.facts.has_reads &= changes.reads.mode == ReadsMode::kAuto;
    SweepChoices own = args.choices;  // with the session's buffers by their ids
    for (SizeList& list : own.sizes) {
      if (!list.buffer) continue;
      if (const auto id = input.facts.Find(*list.buffer))
        list.buffer = *id;
      else
        context.console.Warn(fmt::format("{}: there is no buffer '{}', so its sizes change nothing",
                                         path, ToString(*list.buffer)));
    }
    std::set<std::string> warnings;
    input.warn = [&](const std::string& text) {
      if (warnings.insert(text).second)
        context.console.Warn(fmt::format("{}: {}", path, Printable(text)));
    };
    Sweep sweep(std::move(input));
    RS_ASSIGN_OR_RETURN(SweepReport report, InFile(path, SweepSession(sweep, own)));
    report.outcome.path = path;
    report.outcome.session = sessions.session();
    report.outcome.is_only_session = sessions.is_only_session();  // the scan has read all of it
    WarnOfInexact(context.console, path, report.outcome.verdicts);
    if (!std::exchange(is_first, false) && out.is_text()) out.Print("\n");
    ReportSweep(out, report);
    const auto is_found = [](const FoundSize& found) { return found.misses.empty(); };
    return report.found.empty() || std::ranges::any_of(report.found, is_found) ? ExitCode::kClean
                                                                               : ExitCode::kNotice;
  });
}

Result<ExitCode> RunSweepCommand(const SweepArgs& args, SessionReader& sessions, Context& context) {
  for (const SizeList& list : args.choices.sizes)
    if (!args.choices.targets.empty() && (!list.buffer || list.sizes.size() != 1))
      return Fail(ErrorCode::kUsage, "--target looks for the sizes itself", {},
                  "--sizes can only fix single buffers: --sizes 'buffers[1]=64k'");
  Report out(context.console, args.format, "sweep");
  if (args.format == Format::kCsv) out.Print(CsvTitles(kSweepColumns));
  RS_ASSIGN_OR_RETURN(const ExitCode code, SweepSessions(args, sessions, context, out));
  return out.Finish(code);
}

constexpr size_t kMaxSizes = 1024;

/// A plain decimal number like "1.5".
std::optional<double> ParseDecimal(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, std::chars_format::fixed);
  if (text.empty() || error != std::errc() || stop != end || !std::isfinite(value) || value < 0)
    return std::nullopt;
  return value;
}

/// SIZE, FIRST..LAST or FIRST..LASTxFACTOR
Status AddSizes(std::string_view text, std::vector<uint64_t>& sizes) {
  const size_t dots = text.find("..");
  if (dots == std::string_view::npos) {
    RS_ASSIGN_OR_RETURN(sizes.emplace_back(), ParseBufferSize(text));
    return {};
  }
  std::string_view last_text = text.substr(dots + 2);
  double factor = 2;
  if (const size_t x = last_text.find('x'); x != std::string_view::npos) {
    const std::optional<double> chosen = ParseDecimal(last_text.substr(x + 1));
    if (!chosen || *chosen < 1.01 || *chosen > 1024)
      return UsageError("'{}' is not a factor from 1.01 to 1024; write it like 256k..64Mx1.5",
                        last_text.substr(x + 1));
    factor = *chosen;
    last_text = last_text.substr(0, x);
  }
  RS_ASSIGN_OR_RETURN(const uint64_t first, ParseBufferSize(text.substr(0, dots)));
  RS_ASSIGN_OR_RETURN(const uint64_t last, ParseBufferSize(last_text));
  if (first > last)
    return UsageError("'{}' begins above its end; write the smaller size first", text);
  auto exact = static_cast<double>(first);
  for (uint64_t size = first; size < last && sizes.size() <= kMaxSizes;) {
    sizes.push_back(size);
    exact *= factor;
    if (exact >= static_cast<double>(last)) break;
    const auto next = static_cast<uint64_t>(std::llround(exact));
    size = next < kPageBytes ? next : PagesUp(next);
  }
  sizes.push_back(last);
  return {};
}

}  // namespace

Result<Json> SweepDocument(Context& context, const SessionSelection& input,
                           const ReplayChoices& choices) {
  SweepArgs args;
  args.config = choices.config;
  if (const auto& engine = choices.session.all.engine) args.choices.engines = {*engine};
  if (const auto& policy = choices.session.all.policy) args.choices.policies = {*policy};
  if (choices.reads.mode != ReadsMode::kAuto && choices.reads.like.empty())
    args.choices.reads = {{std::string(Name(choices.reads.mode)), choices.reads}};
  Report document(context.console, Format::kJson, "sweep");
  SessionReader sessions(context, input, "reading");
  RS_RETURN_IF_ERROR(SweepSessions(args, sessions, context, document));
  return document.Take();
}

Command SweepCommand() {
  return {
      "sweep",
      "Compare what buffers of many sizes and kinds would have kept",
      "Replays a log with many configurations at once: sizes, fill policies, buffer versions "
      "and times of reading. For each it reports what the "
      "buffers keep and lose, how far back they reach, and which sequence reaches back "
      "least. Each row equals the result of 'ringscope replay' with that configuration. With "
      "--target the sweep finds the smallest buffers that meet a goal: a page of 4 KiB less does "
      "not.",
      {{"ringscope sweep session.tblog", "From an eighth to eight times the log's own sizes"},
       {"ringscope sweep session.tblog --sizes 256k..64M --policies ring_buffer,discard",
        "Doubling sizes under both fill policies"},
       {"ringscope sweep session.tblog --target keep=30s",
        "How large must the buffers be for 30 seconds?"}},
      BindSessions({.activity = "reading"}, SetUp, RunSweepCommand),
      {.notice = "Done, and no size meets the target; or the input was damaged and what could be "
                 "read was used."}};
}

Result<SizeList> ParseSizeList(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const BufferValue split, SplitBufferValue(text));
  SizeList list{.buffer = split.buffer, .sizes = {}};
  const auto add = [&](std::string_view part) -> Status {
    RS_RETURN_IF_ERROR(AddSizes(part, list.sizes));
    if (list.sizes.size() > kMaxSizes)
      return UsageError("'{}' has more than {} sizes; choose a larger factor", text, kMaxSizes);
    return {};
  };
  RS_RETURN_IF_ERROR(ForEachPart(split.value, add));
  std::sort(list.sizes.begin(), list.sizes.end());
  list.sizes.erase(std::unique(list.sizes.begin(), list.sizes.end()), list.sizes.end());
  return list;
}

Result<NamedReads> ParseSweptReads(std::string_view text) {
  RS_ASSIGN_OR_RETURN(const ReadsChoice choice, ParseReads(text));
  if (!choice.like.empty()) {
    return UsageError(
        "'{}' cannot be swept: store these reads in a log with 'ringscope import --reads-from', "
        "and sweep that",
        text);
  }
  return NamedReads{.name = std::string(text), .choice = choice};
}

Result<SweepTarget> ParseTarget(std::string_view text) {
  SweepTarget target{.text = std::string(text), .keep_ns = {}, .loss_millionths = {}};
  if (text.starts_with("keep=")) {
    RS_ASSIGN_OR_RETURN(target.keep_ns, ParsePositiveDuration(text.substr(5)));
    return target;
  }
  if (text.starts_with("loss=")) {
    std::string_view share = text.substr(5);
    const bool percent = share.ends_with('%');
    if (percent) share.remove_suffix(1);
    const std::optional<double> value = ParseDecimal(share);
    // A share without its sign could mean either; 0 is 0.
    if (value && *value <= 100 && (percent || *value == 0)) {
      target.loss_millionths = static_cast<uint64_t>(std::llround(*value * 1e4));
      return target;
    }
  }
  return UsageError("'{}' is not a target; write keep=30s, loss=0 or loss=0.1%", text);
}

}  // namespace ringscope
