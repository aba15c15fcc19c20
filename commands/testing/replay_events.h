#ifndef RINGSCOPE_COMMANDS_TESTING_REPLAY_EVENTS_H_
#define RINGSCOPE_COMMANDS_TESTING_REPLAY_EVENTS_H_

#include <memory>
#include <string>
#include <utility>

#include "commands/plugin/plugin.h"
#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/ops/events_jsonl.h"
#include "formats/testing/string_sink.h"

namespace ringscope::testing {

/// The events of a replay with one engine for all buffers, event by event.
inline Result<std::string> Events(std::unique_ptr<ByteSource> source, const std::string& engine) {
  StringSink sink;
  EventsWriter events(sink);
  ReplayOptions options;
  options.session.all.engine = engine;
  options.session.find_engine = EnginesAndPlugins();
  Replay replay(std::move(options), events);
  RS_ASSIGN_OR_RETURN(const auto log, OpenLog(std::move(source)));
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  RS_RETURN_IF_ERROR(events.Finish());
  return sink.text;
}

inline Result<std::string> EventsOf(const std::string& path, const std::string& engine) {
  return Events(OpenByteSource(path).value(), engine);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_COMMANDS_TESTING_REPLAY_EVENTS_H_
