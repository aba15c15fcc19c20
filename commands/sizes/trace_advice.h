#ifndef RINGSCOPE_COMMANDS_SIZES_TRACE_ADVICE_H_
#define RINGSCOPE_COMMANDS_SIZES_TRACE_ADVICE_H_

#include <optional>
#include <string>

#include "commands/shell/context.h"
#include "commands/view/report.h"
#include "core/doctor/finding.h"
#include "core/doctor/trace_sizes.h"
#include "core/doctor/writer_shares.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// What is advised for a session of which only a trace is left that lost data: the changes that
/// doctor finds, with sizes for what is wanted. Nothing is replayed.
struct TraceAdvice {
  std::string name;  // of the trace
  TraceFacts facts;
  Diagnosis diagnosis;
  std::optional<uint64_t> keep_ns;  // how far back rings are to reach; absent: to all of it
  TraceSizes sizes;
  WriterShares writers;
  std::string config;  // to be changed, as text; empty: there is none

  bool AnyToDo() const { return !sizes.changes.empty(); }
};

TraceAdvice AdviseOnTrace(std::string name, TraceFacts facts, std::optional<uint64_t> keep_ns);
/// Prints a trace config, indented.
void PrintConfig(Report& out, std::string_view config);
void ReportTraceAdvice(Report& out, const TraceAdvice& advice);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SIZES_TRACE_ADVICE_H_
