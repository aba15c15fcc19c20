#include <fmt/format.h>

#include <optional>
#include <string>

#include "commands/common/session_loop.h"
#include "commands/common/session_reader.h"
#include "commands/report/report.h"
#include "commands/shell/commands.h"
#include "commands/shell/options.h"
#include "commands/shell/text.h"
#include "commands/shell/values.h"
#include "commands/smb/memory_reading.h"
#include "commands/smb/smb_report.h"

namespace ringscope {
namespace {

struct SmbArgs {
  std::string log;
  std::string format = "text";
  std::optional<uint64_t> session;
  std::optional<uint64_t> producer;
  std::optional<uint64_t> at_ns;  // after the session's start
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
  InGroup(app, kOutputGroup);
  AddFormat(app, args.format, {"text", "json"});
}

/// One session: its memories, and a picture of them at one moment.
Result<ExitCode> ReportSmb(const SmbArgs& args, SessionReader& sessions, Report& report) {
  std::optional<ProducerId> only;
  if (args.producer) only = ProducerId{static_cast<uint16_t>(*args.producer)};
  MemoryReading reading(only);
  if (args.at_ns) reading.KeepAt({.record = {}, .offset_ns = args.at_ns});
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
    if (!op) break;
    reading.Add(*op, sessions.record_number());
  }
  reading.Finish();
  ReportTitle(report, {.path = sessions.path(),
                       .session = sessions.session(),
                       .records = reading.records(),
                       .duration_ns = reading.duration_ns()});
  report.Data({{"session", sessions.session()}, {"start_ns", reading.start_ns()}});
  ReportMemories(report, reading.Memories(), reading.producers(), reading.start_ns());
  report.Data("memories_not_listed", reading.unlisted());
  if (reading.unlisted() > 0)
    report.Paragraph(fmt::format("The memory of {} that left is not listed.",
                                 Count(reading.unlisted(), "further producer")));
  for (const smb::MemoryFollower* const memory : reading.Pictures())
    ReportPicture(report, *memory, reading.producers(), reading.start_ns());
  return ExitCode::kClean;
}

Result<ExitCode> RunSmb(const SmbArgs& args, Context& context) {
  SessionReader sessions(context, {.paths = {args.log}, .only = args.session}, "reading");
  Report report(context.console, args.format, "smb");
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
          "Where no chunk is free its packets are dropped, or its writers wait, and the buffers of "
          "the service never hear of it. 'ringscope record' looks at the page headers of this "
          "memory from time to time; smb shows what these looks show: size and page layout, how "
          "many chunks were in use, by writers, held back by the producer, or waiting for the "
          "service; for how long no chunk was free; and how long chunks took from step to step. "
          "What happens between two looks is not seen: times are from what the looks prove to what "
          "they allow.",
          {{"ringscope smb session.tblog", "Was the shared memory full?"},
           {"ringscope smb --producer 2 --at 1.5s session.tblog",
            "Which writers had which chunks of this producer then?"}},
          Bind(SetUp, RunSmb)};
}

}  // namespace ringscope
