#include "commands/report/page_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "commands/doctor/examine.h"
#include "commands/replays/muted_context.h"
#include "commands/replays/session_reader.h"
#include "core/gaps/gap_analysis.h"
#include "core/graph/chunk_graph_builder.h"
#include "core/ledger/ledger_sinks.h"
#include "core/session/session_story_listener.h"
#include "core/sweep/kept_batches.h"
#include "formats/descriptors/descriptors.h"

namespace ringscope {
namespace {

/// Sums a session's records up, and notes where its last reads begin.
class RecordSummary : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment& moment) override {
    builder_.Add(op, moment.record);
    const bool is_read = std::holds_alternative<ReadPass>(op.body);
    if (is_read && !in_reads_) before_reads_ = last_;
    in_reads_ = is_read;
    last_ = moment.record;
  }

  const SessionSummary& summary() const { return builder_.summary(); }
  /// The record before the last run of reads; nullopt: nothing was read.
  std::optional<uint64_t> before_last_reads() const { return before_reads_; }

 private:
  SummaryBuilder builder_;
  bool in_reads_ = false;
  std::optional<uint64_t> last_, before_reads_;
};

/// Charts of the producers' shared memory.
class MemoryCharts : public ReplayListener {
 public:
  explicit MemoryCharts(const TimelineAxis& axis)
      : charts_(axis.first, axis.first + axis.length(), kPageIntervals) {}
  void OnRecord(const Op& op, const LogMoment&) override { charts_.Add(op); }
  smb::UseCharts Take() {
    charts_.Finish();
    return std::move(charts_);
  }

 private:
  smb::UseCharts charts_;
};

SessionSelection SelectionOf(const PageResults& page) {
  return {.paths = {page.path}, .only = page.session, .quiet = true};
}

/// Buffers and sequences by packets lost, those that lost most first.
template <typename Item, typename Lost>
void SortByLost(std::vector<Item>& items, const Lost& lost) {
  std::stable_sort(items.begin(), items.end(),
                   [&](const Item& a, const Item& b) { return lost(a) > lost(b); });
}

void AddLanes(const PageResults& page, LossTimeline& timeline) {
  std::vector<const BufferGaps*> buffers;
  std::vector<const SequenceGaps*> sequences;
  for (const BufferGaps& buffer : page.gaps.buffers) {
    buffers.push_back(&buffer);
    for (const SequenceGaps& sequence : buffer.sequences)
      if (sequence.lost().packets > 0) sequences.push_back(&sequence);
  }
  SortByLost(buffers, [](const BufferGaps* buffer) { return buffer->totals.lost().packets; });
  SortByLost(sequences, [](const SequenceGaps* sequence) { return sequence->lost().packets; });
  buffers.resize(std::min(buffers.size(), kPageBuffers));
  sequences.resize(std::min(sequences.size(), kPageSequences));
  for (const BufferGaps* buffer : buffers) timeline.AddLane(buffer->id, {});
  for (const SequenceGaps* sequence : sequences)
    timeline.AddLane(sequence->buffer, sequence->sequence);
}

std::optional<TimelineAxis> AxisOf(const PageResults& page) {
  const ReplayOutcome& outcome = page.outcome;
  if (outcome.first_time_ns && outcome.last_time_ns && outcome.duration_ns() > 0)
    return TimelineAxis{false, *outcome.first_time_ns, *outcome.last_time_ns};
  if (outcome.records < 2) return std::nullopt;
  const uint64_t first = page.summary.first_record;
  return TimelineAxis{true, first, first + outcome.records - 1};
}

/// A layout in the making.
struct LayoutWatch {
  PageLayout layout;
  LayoutMap map;
};

/// When layouts are worth a look: as the largest gap begins, and before the last reads.
std::vector<LayoutWatch> LayoutsToTake(const PageResults& page,
                                       std::optional<uint64_t> before_last_reads) {
  std::vector<LayoutWatch> watches;
  const auto add = [&](std::string when, std::optional<uint64_t> record) {
    watches.push_back({{std::move(when), record ? std::to_string(*record) : "", {}},
                       LayoutMap(LayoutMoment{.record = record, .offset_ns = {}})});
  };
  const std::vector<const Gap*> gaps = LargestGaps(page.Shown(1));
  if (!gaps.empty() && gaps.front()->decided.first.record)
    add("when the largest gap begins", gaps.front()->decided.first.record);
  if (before_last_reads)
    add("before the last reads", before_last_reads);
  else
    add("at the end", std::nullopt);
  return watches;
}

Status ReplayAgain(Context& context, PageResults& page, std::optional<uint64_t> before_last_reads) {
  const std::optional<TimelineAxis> axis = AxisOf(page);
  LossTimeline timeline(axis.value_or(TimelineAxis{}), axis ? kPageIntervals : 0);
  AddLanes(page, timeline);
  EvictionTable evictions;
  ChunkGraphBuilder::Options options;
  std::set<SequenceKey> drawn;
  for (const Gap* gap : LargestGaps(page.Shown(kPageGraphs)))
    if (drawn.insert(gap->sequence).second) options.sequences.push_back(gap->sequence);
  ChunkGraphBuilder graphs(options);
  std::vector<LayoutWatch> layouts = LayoutsToTake(page, before_last_reads);

  std::vector<LedgerSink*> sinks = {&timeline, &evictions};
  std::vector<ReplayListener*> listeners;
  if (!drawn.empty()) {
    sinks.push_back(&graphs);
    listeners.push_back(&graphs);
  }
  for (LayoutWatch& watch : layouts) listeners.push_back(&watch.map);
  const bool has_looks = page.summary.counts[OpKindOf<SharedMemoryLook>()] > 0;
  std::optional<MemoryCharts> memories;
  if (has_looks && axis && !axis->by_record) listeners.push_back(&memories.emplace(*axis));
  LedgerSinks all(std::move(sinks));
  Ledger ledger(all);
  SessionReader sessions(context, SelectionOf(page), "replaying");
  RS_RETURN_IF_ERROR(sessions.NextSession());
  RS_RETURN_IF_ERROR(
      ReplaySession(context, sessions, {}, {.ledger = &ledger, .listeners = std::move(listeners)}));
  if (axis) page.timeline.emplace(std::move(timeline));
  if (memories) {
    page.memories.emplace(memories->Take());
    page.memory_axis = *axis;
  }
  page.evictions = evictions.Top(kPageSequences);
  if (!drawn.empty()) page.graphs = graphs.Take();
  for (LayoutWatch& watch : layouts) {
    for (const auto& [id, layout] : watch.map.layouts())
      if (layout.status) watch.layout.buffers.push_back(layout);
    if (!watch.layout.buffers.empty()) page.layouts.push_back(std::move(watch.layout));
  }
  return {};
}

/// The commands that need replays of their own.
Status RunOthers(Context& context, PageResults& page) {
  RS_ASSIGN_OR_RETURN(page.estimate, AdviseIfLossyTrace(context, page.path, page.session));
  page.diagnosis = [&]() -> Result<DoctorTrace> {
    RS_ASSIGN_OR_RETURN(DoctorTraces traces, ExamineInput(context, page.path, page.session));
    return std::move(traces.front());
  }();
  if (page.quick || page.estimate) return {};
  page.sweep = SweepOwnSizes(context, SelectionOf(page));
  page.advice = AdviseSession(context, page.path, page.session, {});
  return {};
}

Error LeftOut() { return {ErrorCode::kUsage, "left out, as --quick asks for", {}, {}}; }

}  // namespace

ShownGaps PageResults::Shown(uint64_t at_most) const {
  return {gaps, outcome, notes, GapFilter(), at_most, remedies, *kinds};
}

std::vector<const Gap*> LargestGaps(const ShownGaps& shown) {
  std::vector<const Gap*> bugs = shown.own_fault, others = shown.gaps;
  const auto lost = [](const Gap* gap) { return gap->lost.packets; };
  SortByLost(bugs, lost);
  SortByLost(others, lost);
  bugs.insert(bugs.end(), others.begin(), others.end());
  return bugs;
}

Result<PageResults> GatherPage(Context& context, const PageChoices& choices) {
  PageResults page{.path = choices.path,
                   .quick = choices.quick,
                   .diagnosis = tl::unexpected<Error>(LeftOut()),
                   .sweep = tl::unexpected<Error>(LeftOut()),
                   .advice = tl::unexpected<Error>(LeftOut())};
  page.kinds = std::make_unique<DescribedKinds>(Descriptors::BuiltIn());
  // The replay, the remedies, a replay for what is drawn, and the doctor's two; then those of sweep
  // and advise.
  context.console.PlanSteps(choices.quick ? 5 : 5 + kSweepSteps + kAdviseSteps);
  SessionReader sessions(context, {.paths = {choices.path}, .only = choices.session}, "replaying");
  RS_ASSIGN_OR_RETURN(const bool any, sessions.NextSession());
  if (!any) {
    return Fail(ErrorCode::kCorrupt, "the log has no session", {choices.path, {}, {}},
                "see 'ringscope verify'");
  }
  page.session = sessions.session();
  GapAnalysis analysis(kUsualStaleNs, page.kinds.get());
  KeptBatches kept;
  LedgerSinks sinks({&analysis, &kept});
  Ledger ledger(sinks);
  SessionStoryListener story(/*keep_flushes=*/true);
  RecordSummary summary;
  RS_ASSIGN_OR_RETURN(page.outcome,
                      ReplaySession(context, sessions, {},
                                    {.ledger = &ledger,
                                     .listeners = {&page.notes, &analysis, &kept, &story, &summary},
                                     .apart = true}));
  kept.Finish();
  if (!choices.session) RS_RETURN_IF_ERROR(ExpectNoFurtherSession(sessions, "a page"));
  page.code = sessions.Finish();
  page.problems = sessions.problems();
  page.assumptions = sessions.assumptions();
  page.totals = ledger.totals();
  page.gaps = analysis.Finish(page.totals);
  page.summary = summary.summary();
  page.story = story.Finish();

  // What follows would repeat the warnings.
  MutedContext muted(context, MutedContext::Progress::kShown);
  page.remedies = RemediesFor(page.gaps, page.outcome);
  RS_RETURN_IF_ERROR(
      TryRemedies(muted.context(), SelectionOf(page), {}, page.totals, page.remedies, &kept));
  RS_RETURN_IF_ERROR(ReplayAgain(muted.context(), page, summary.before_last_reads()));
  RS_RETURN_IF_ERROR(RunOthers(muted.context(), page));
  return page;
}

}  // namespace ringscope
