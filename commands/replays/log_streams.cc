#include "commands/replays/log_streams.h"

#include <fmt/format.h>

#include "commands/replays/replay_run.h"
#include "core/base/text.h"
#include "core/compare/recorded_calls.h"

namespace ringscope {

Result<std::vector<LogStream>> ReadLogStreams(const std::vector<std::string>& logs, uint64_t most,
                                              Context& context) {
  std::vector<LogStream> streams;
  const RecordedCalls calls(most);
  context.console.PlanSteps(1);
  SessionReader sessions(context, {.paths = logs, .only = {}, .clone = {}}, "reading");
  size_t known = 0;  // streams of the sessions before
  while (true) {
    RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
    if (!more) break;
    LogStream of_session;
    of_session.log = sessions.path();
    of_session.session = sessions.session();
    ReplayChoices choices;
    choices.session.make_engine = calls.Maker();
    RS_RETURN_IF_ERROR(ReplayRun(context, sessions, choices).ToEnd());
    for (; known < calls.streams().size(); ++known) {
      const RecordedCalls::Recorded& recorded = calls.streams()[known];
      if (recorded.stream.steps.empty()) continue;
      of_session.buffer = recorded.buffer;
      of_session.stream = recorded.stream;
      streams.push_back(of_session);
    }
  }
  sessions.Finish();
  if (calls.is_cut()) {
    context.console.Warn(
        fmt::format("{}: only the first {} of payloads are used", logs.front(), HumanSize(most)));
  }
  if (streams.empty()) {
    return Fail(ErrorCode::kUsage, "no buffer of these logs has any operation",
                {logs.front(), {}, {}}, "name a log with commits");
  }
  return streams;
}

}  // namespace ringscope
