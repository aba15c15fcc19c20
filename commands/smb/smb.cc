#include <fmt/format.h>

#include <optional>
#include <string>
#include <vector>

#include "commands/replays/session_loop.h"
#include "commands/replays/session_reader.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/smb/memory_reading.h"
#include "commands/smb/smb_report.h"
#include "commands/smb/smb_trials.h"
#include "commands/smb/smb_values.h"
#include "commands/view/report.h"

namespace ringscope {
namespace {

struct SmbArgs {
  std::string log;
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> producer;
  std::optional<uint64_t> at_ns;  // after the session's start
  bool writers = false;
  SmbTrialChoices trials;
};

void SetUp(CLI::App& app, SmbArgs& args) {
  AddLog(app, args.log);
  AddSession(app, args.session);
  InGroup(app, "Selection");
  AddParsed(
      app, "--producer", args.producer,
      [](std::string_view text) { return ParseNumber(text, UINT16_MAX); }, "ID",
      "Only this producer");
  AddParsed(app, "--at", args.at_ns, ParseDuration, "TIME",
            "Draw the pages and chunks as the last look up to this time after the start of the "
            "session shows them, like 1.5s");
  AddFlag(app, "--writers", args.writers, "Also list how long the chunks of each writer took");
  InGroup(app, "What if");
  AddCommaList(app, "--sizes", args.trials.sizes, ParseMemorySizes, "SIZE,...",
               "Simulate memory of these sizes, like 128k,256k; 64k..1M doubles (default with "
               "--pages or --policy: a quarter to four times the recorded size)");
  AddCommaList(app, "--pages", args.trials.pages, ParsePageSizes, "SIZE,...",
               "Page sizes to simulate: 4k to 32k (default: the recorded one)");
  AddCommaList(app, "--policy", args.trials.policies, ParseMemoryPolicies, "drop|stall,...",
               "What writers do when no chunk is free (default: both)");
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {"text", "json", "csv"});
}

bool IsTried(const SmbArgs& args) { return args.trials.any() || args.format == "csv"; }

/// One session: its memories, and a picture of them at one moment.
Result<ExitCode> ReportSmb(const SmbArgs& args, SessionReader& sessions, Report& report) {
  std::optional<ProducerId> only;
  if (args.producer) only = ProducerId{static_cast<uint16_t>(*args.producer)};
  MemoryReading reading(only, IsTried(args));
  if (args.writers) reading.SplitByWriter();
  if (args.at_ns) reading.KeepAt({.record = {}, .offset_ns = args.at_ns});
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
    if (!op) break;
    reading.Add(*op, sessions.record_number());
  }
  reading.Finish();
  const auto memories = reading.Memories();
  SmbTrials trials;
  if (IsTried(args)) trials = TryMemories(memories, args.trials);
  if (args.format == "csv") {
    Table rows = SmbTrialRows();
    AddTrialRows(trials, sessions.session(), rows);
    report.Print(rows.CsvRows());
    return ExitCode::kClean;
  }
  ReportTitle(report, {.path = sessions.path(),
                       .session = sessions.session(),
                       .records = reading.records(),
                       .duration_ns = reading.duration_ns()});
  report.Data({{"session", sessions.session()}, {"start_ns", reading.start_ns()}});
  ReportMemories(report, memories, reading.producers(), reading.start_ns());
  report.Data("memories_not_listed", reading.unlisted());
  if (reading.unlisted() > 0)
    report.Paragraph(fmt::format("The memory of {} that left is not listed.",
                                 Count(reading.unlisted(), "further producer")));
  for (const smb::MemoryFollower* const memory : reading.Pictures())
    ReportPicture(report, *memory, reading.producers(), reading.start_ns());
  if (IsTried(args))
    ReportTrials(report, trials, reading.producers(), args.trials, sessions.session());
  return ExitCode::kClean;
}

Result<ExitCode> RunSmb(const SmbArgs& args, Context& context) {
  SessionReader sessions(context, {.paths = {args.log}, .only = args.session}, "reading");
  Report report(context.console, args.format, "smb");
  if (args.format == "csv") report.Print(SmbTrialRows().CsvTitles());
  RS_ASSIGN_OR_RETURN(const ExitCode code, ReportSessions(sessions, report, [&] {
                        return ReportSmb(args, sessions, report);
                      }));
  RS_RETURN_IF_ERROR(report.Finish());
  return code;
}

}  // namespace

Command SmbCommand() {
  return {"smb",
          "Explain",
          "Show how full the producers' shared memory was, and with what",
          "Each producer writes into chunks of a shared memory buffer, which the service empties. "
          "When no chunk is free, its packets are dropped or its writers wait, before anything "
          "reaches the service's buffers. 'ringscope record' looks at the page headers of this "
          "memory from time to time; smb shows what these looks show: size and page layout, how "
          "many chunks were in use, by writers, held back by the producer, or waiting for the "
          "service; for how long no chunk was free; and how long chunks took from step to step. "
          "What happens between two looks is not seen: times are ranges, from the least "
          "to the most that fits the looks. With --sizes, --pages or --policy it simulates what "
          "memory of other sizes "
          "would have done with the recorded demand.",
          {{"ringscope smb session.tblog", "Was the shared memory full?"},
           {"ringscope smb --producer 2 --at 1.5s session.tblog",
            "Which writers had which chunks of this producer then?"},
           {"ringscope smb --sizes 128k..1M --policy drop session.tblog",
            "With how much shared memory would no packet have been dropped?"}},
          Bind(SetUp, RunSmb)};
}

}  // namespace ringscope
