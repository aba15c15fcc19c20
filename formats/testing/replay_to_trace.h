#ifndef RINGSCOPE_FORMATS_TESTING_REPLAY_TO_TRACE_H_
#define RINGSCOPE_FORMATS_TESTING_REPLAY_TO_TRACE_H_

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/session/replay.h"
#include "formats/inputs/open_log.h"
#include "formats/io/log_source.h"
#include "formats/testing/string_sink.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope::testing {

/// Replays a log of one session. @return the trace
inline std::string ReplayToTrace(std::string log_bytes, ReplayOptions options = {}) {
  StringSink out;
  TraceWriter writer(out);
  Replay replay(std::move(options), writer);
  auto log = OpenLog(MakeMemorySource(std::move(log_bytes))).value();
  while (const std::optional<Op> op = log->Next().value()) EXPECT_TRUE(replay.Apply(*op));
  EXPECT_TRUE(replay.Finish());
  EXPECT_TRUE(writer.Finish());
  return std::move(out.text);
}

}  // namespace ringscope::testing

#endif  // RINGSCOPE_FORMATS_TESTING_REPLAY_TO_TRACE_H_
