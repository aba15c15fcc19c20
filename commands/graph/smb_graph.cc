#include "commands/graph/smb_graph.h"

#include <fmt/format.h>

#include "commands/replays/session_loop.h"
#include "commands/smb/memory_reading.h"
#include "commands/smb/smb_report.h"
#include "commands/smb/smb_svg.h"

namespace ringscope {

Result<ExitCode> DrawMemory(ProducerId producer, const std::optional<LayoutMoment>& at,
                            const std::string& format, SessionReader& sessions, Report& report) {
  MemoryReading reading(producer);
  if (at)
    reading.KeepAt(*at);
  else
    reading.KeepFullest();
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, sessions.Next());
    if (!op) break;
    reading.Add(*op, sessions.record_number());
  }
  reading.Finish();
  if (!reading.producers().contains(producer) && reading.Memories().empty()) {
    return Fail(ErrorCode::kUsage, fmt::format("there is no producer {}", Raw(producer)),
                {sessions.path(), {}, {}}, "see 'ringscope info' for the producers");
  }
  if (format == "svg") {
    report.Print(MemorySvg(reading.Pictures(), reading.producers(), reading.start_ns()));
    return ExitCode::kClean;
  }
  ReportTitle(report, {.path = sessions.path(),
                       .session = sessions.session(),
                       .records = reading.records(),
                       .duration_ns = reading.duration_ns()});
  report.Data({{"input", sessions.path()},
               {"session", sessions.session()},
               {"start_ns", reading.start_ns()},
               {"pictures", Json::array()}});
  for (const smb::MemoryFollower* const memory : reading.Pictures())
    ReportPicture(report, *memory, reading.producers(), reading.start_ns());
  if (reading.Pictures().empty())
    report.Paragraph(at ? "The log has no look at this memory up to then."
                        : "The log has no looks at this memory.");
  return ExitCode::kClean;
}

}  // namespace ringscope
