#ifndef RINGSCOPE_COMMANDS_REPORT_PAGE_RESULTS_H_
#define RINGSCOPE_COMMANDS_REPORT_PAGE_RESULTS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/gaps/shown_gaps.h"
#include "commands/doctor/doctor_logs.h"
#include "commands/replays/replay_run.h"
#include "commands/sizes/advise_report.h"
#include "commands/sizes/sweep_report.h"
#include "commands/sizes/trace_advice.h"
#include "core/gaps/gap_report.h"
#include "core/graph/chunk_graph.h"
#include "core/graph/layout_map.h"
#include "core/ledger/eviction_table.h"
#include "core/ledger/loss_timeline.h"
#include "core/log/session_story.h"
#include "core/log/summary.h"
#include "core/smb/use_chart.h"
#include "formats/descriptors/described_kinds.h"

namespace ringscope {

/// The layout of the buffers at a moment.
struct PageLayout {
  std::string when;  // "before the last read"
  std::string at;    // as --at of graph takes it; empty: the end
  std::vector<BufferLayout> buffers;
};

/// All that a page shows of one session: what the commands find, each by its own function.
struct PageResults {
  std::string path;
  uint64_t session = 0;
  bool quick = false;  // without what takes replays of its own

  // By one replay, as 'ringscope gaps' does it.
  SessionNotes notes;
  std::unique_ptr<DescribedKinds> kinds;
  ReplayOutcome outcome;
  std::map<BufferId, LedgerTotals> totals;
  GapReport gaps;
  SessionSummary summary;
  SessionStory story;
  TriedRemedies remedies;

  // By another one, which knows what to look for.
  std::optional<LossTimeline> timeline;  // absent: nothing has a place on it
  EvictionMatrix evictions;
  std::vector<SequenceGraph> graphs;  // of the sequences with the largest gaps
  std::vector<PageLayout> layouts;
  std::optional<smb::UseCharts> memories;  // absent: the log has no looks, or no times
  TimelineAxis memory_axis;                // theirs

  // By the other commands; with the reason where one fails.
  Result<DoctorTrace> diagnosis;
  Result<SweepReport> sweep;
  Result<AdviceReport> advice;
  /// Instead of sweep and advice for a trace that lacks what its buffers lost.
  std::optional<TraceAdvice> estimate;

  std::vector<std::string> problems;     // what of the input is damaged or missing
  std::vector<std::string> assumptions;  // what had to be assumed of it
  ExitCode code = ExitCode::kClean;

  /// What the user would see of all gaps. @param at_most gaps, the largest; 0: all
  ShownGaps Shown(uint64_t at_most) const;
};

/// What is to be in a page.
struct PageChoices {
  std::string path;
  std::optional<uint64_t> session;
  bool quick = false;
};

/// How much of a session a page has. Further limits are budgets of bytes, see page_parts.h.
inline constexpr size_t kPageGaps = 150;       // rows
inline constexpr size_t kPageGraphs = 20;      // chunk graphs
inline constexpr size_t kPageIntervals = 480;  // of the time axis
inline constexpr size_t kPageBuffers = 8;      // lanes of buffers
inline constexpr size_t kPageSequences = 10;   // lanes of sequences; rows of the matrix

/// The gaps of a selection, those that lost most packets first; bugs of the buffer in front.
std::vector<const Gap*> LargestGaps(const ShownGaps& shown);

/// Replays the only session of an input, or the chosen one, and all that follows from it.
Result<PageResults> GatherPage(Context& context, const PageChoices& choices);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPORT_PAGE_RESULTS_H_
