#include <filesystem>

#include "commands/session/examined.h"
#include "commands/shell/commands.h"
#include "formats/io/output_file.h"
#include "formats/trace/timeline_tracks.h"

namespace ringscope {
namespace {

struct TimelineArgs {
  std::vector<std::string> inputs;  // a trace, its log, or both
  SessionSelection log;             // empty: there is none
  std::string trace;                // empty: likewise
  std::string output;               // .pftrace; "-": standard output
  bool force = false;
  ReplayChoices choices;
};

void SetUp(CLI::App& app, TimelineArgs& args) {
  InGroup(app, kInputGroup);
  AddTexts(app, "INPUT", args.inputs, kLogOrTraceType,
           "A trace (.pftrace, also the only one in a zip archive or a folder), the commit log of "
           "its session (.tblog, .ops.jsonl), or both; plain or compressed (zstd, gzip); - reads "
           "standard input",
           Need::kRequired, 2);
  AddSession(app, args.log.only);
  AddClone(app, args.log.clone);
  AddReplayOptions(app, args.choices);
  InGroup(app, kOutputGroup);
  AddText(app, "-o,--output", args.output, kFileType,
          "The trace to write (.pftrace); - for standard output", Need::kRequired);
  AddForce(app, args.force);
}

/// The inputs from their first bytes; nullptr: there is none.
struct TimelineInputs {
  std::unique_ptr<ByteSource> trace, log;
};

/// Finds out which input is which. Opens each once: standard input cannot be read again.
Result<TimelineInputs> OpenInputs(TimelineArgs& args, Context& context) {
  TimelineInputs inputs;
  for (const std::string& path : args.inputs) {
    RS_ASSIGN_OR_RETURN(KnownInput input, OpenOneInput(context, path));
    const bool is_trace = input.kind == InputKind::kTrace;
    if (is_trace ? !args.trace.empty() : !args.log.paths.empty())
      return Fail(ErrorCode::kUsage, is_trace ? "this is a second trace" : "this is a second log",
                  {path, {}, {}}, "name one trace, and the log of its session");
    if (is_trace)
      args.trace = path;
    else
      args.log.paths.push_back(input.source->path());
    (is_trace ? inputs.trace : inputs.log) = std::move(input.source);
  }
  return inputs;
}

/// Keeps the clock snapshots of a log.
class ClockSnapshots : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment&) override {
    if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body))
      list.push_back(snapshot->snapshot);
  }
  std::vector<std::string> list;
};

/// An examined session of a log, and the tracks with what it shows.
struct ExaminedLog {
  ExaminedLog(Context& context, SessionReader& sessions, const ReplayChoices& choices)
      : session(context, sessions, choices) {}

  Status ToEnd(const TimelineArgs& args) {
    RS_ASSIGN_OR_RETURN(examination, session.Examine());
    ReadsUsed reads = examination.log->outcome.reads;
    // Not as its copy, if that was read.
    if (args.choices.reads.like.empty() && !reads.like.empty()) reads.like = args.trace;
    buffers.Finish("buffers were read " + ReadsText(reads));
    for (const BufferGaps& buffer : examination.log->gaps.buffers)
      for (const SequenceGaps& sequence : buffer.sequences)
        sequences.push_back(examination.log->packets.Find(sequence.sequence));
    // An arrow from each stale event to its commit.
    const SessionNotes& notes = examination.log->notes;
    uint64_t flow = 0;
    for (const StaleSequence& stale : examination.log->gaps.stale) {
      std::vector<TrackSlice> slices;
      for (const StaleEvent& event : stale.events) {
        const int64_t time_ns = SignedNs(event.time_ns);
        TrackSlice& slice = slices.emplace_back(TrackSlice{
            .from_ns = time_ns,
            .to_ns = time_ns,
            .name = fmt::format("stale: {} before its commit", HumanDuration(event.delay_ns)),
            .args = {{"chunk", event.chunk}},
            .flow = ++flow});
        if (event.cpu) slice.args.push_back({"cpu", uint64_t{*event.cpu}});
        TrackSlice commit = slice;
        commit.from_ns = commit.to_ns = SignedNs(event.time_ns + event.delay_ns);
        commit.name = "commit of what is stale";
        commit.ends_flow = true;
        slices.push_back(std::move(commit));
      }
      std::ranges::stable_sort(slices, {}, &TrackSlice::from_ns);
      root.OfProcess(notes.PidOf(stale.sequence), notes.ProducerOf(stale.sequence))
          .Add("stale: " + notes.NameOf(stale.sequence))
          .AddSlices(slices);
    }
    return {};
  }

  EventTrack root;
  ExaminedSession session;
  BufferTracks& buffers = session.run().Add<BufferTracks>(root, session.notes());
  ClockSnapshots& snapshots = session.run().Add<ClockSnapshots>();
  Examination examination;
  /// The packets of each sequence of the account; nullptr: none of its packets was written.
  std::vector<const ReplayedPackets::Sequence*> sequences;
  ExitCode ending = ExitCode::kClean;  // of its reader
};

/// Tracks take at most a tenth of the trace that they follow.
constexpr size_t kLeastBytes = size_t{16} << 10, kMostBytes = size_t{32} << 20;

/// A trace as it is, decompressed, while it is read: in the output, or in a temporary file if the
/// output cannot be cut where the trace is.
class TraceCopy {
 public:
  static Result<TraceCopy> For(OutputFile& output) {
    TraceCopy copy(output);
    if (output.written_to().empty()) {
      RS_ASSIGN_OR_RETURN(copy.file_, TemporaryFile::Create({.what = "a copy of the trace"}));
    }
    return copy;
  }
  ByteSink& sink() { return file_ ? static_cast<ByteSink&>(*file_) : *output_; }
  /// Returns the name under which it can be read again.
  std::string name() const { return file_ ? file_->OwnName() : output_->written_to(); }
  /// Puts it into the output, up to the place where it is cut off.
  /// @return bytes
  Result<uint64_t> Finish(std::optional<uint64_t> cut_off_at) {
    std::error_code error;
    const uint64_t size = cut_off_at.value_or(std::filesystem::file_size(name(), error));
    if (file_)
      RS_RETURN_IF_ERROR(CopyBytes(*OpenTemporary(file_, output_->path()), *output_, size));
    else if (cut_off_at)
      std::filesystem::resize_file(name(), size, error);
    if (!error) return size;
    return SystemError("cannot cut the copy of the trace", error.value(), output_->path());
  }

 private:
  explicit TraceCopy(OutputFile& output) : output_(&output) {}

  OutputFile* output_;
  std::shared_ptr<TemporaryFile> file_;  // nullptr: it is in the output
};

/// A trace, and which of its sequences a log explains.
struct ExplainedTrace {
  ScannedTrace scanned;
  std::map<TraceSequenceId, SequenceDigest> digests;
  uint64_t others = 0;  // sequences that the replay returns otherwise

  /// @param sequence nullptr: none of its packets was written
  bool IsExplained(const ReplayedPackets::Sequence* sequence) const {
    if (sequence == nullptr) return false;
    const SequenceDigest* const digest = FindIn(digests, sequence->id);
    return (digest == nullptr ? SequenceDigest() : *digest) == sequence->digest;
  }
};

/// @param has_log the sequences are compared with those of a replay
Result<ExplainedTrace> ReadForHoles(std::unique_ptr<ByteSource> source, const std::string& path,
                                    Context& context, bool has_log, ByteSink& copy) {
  ExplainedTrace trace;
  PacketWatch watch;
  if (has_log)
    watch = [&](const RawPacket& packet, const TracePacketView& view) {
      trace.digests[{view.machine, view.sequence_id}].Add(SplitAppended(packet.bytes, view).bytes);
    };
  Progress progress(context.console, fmt::format("reading {}", Printable(path)));
  const auto update = [&](uint64_t done, uint64_t total) { progress.Update(done, total); };
  RS_ASSIGN_OR_RETURN(trace.scanned,
                      InFile(path, ScanTraceFile(std::move(source), update, watch, &copy)));
  if (has_log && trace.scanned.sessions.size() > 1)
    return Fail(ErrorCode::kUsage, "the trace has several sessions, and the log is of one",
                {path, {}, {}}, "name the trace alone");
  return trace;
}

/// Replays the session of the log that the trace is of: the one of which it returns most sequences
/// as they are in the trace.
/// @param trace gets how many sequences it returns otherwise; nullptr: the log has one session
/// @param opened the log's bytes @param copy the name of the trace's copy
Result<std::unique_ptr<ExaminedLog>> ReplayLog(const TimelineArgs& args, Context& context,
                                               std::unique_ptr<ByteSource> opened,
                                               ExplainedTrace* trace, const std::string& copy) {
  auto reader = std::make_unique<SessionReader>(context, args.log, "replaying");
  reader->recording().UseOpened(std::move(opened));
  RS_RETURN_IF_ERROR(reader->recording().Spool());
  ReplayChoices choices = args.choices;
  while (true) {
    SessionReader& sessions = *reader;
    std::unique_ptr<ExaminedLog> best;
    SessionPlace place;
    uint64_t explained = 0;
    while (true) {
      RS_ASSIGN_OR_RETURN(const bool more, sessions.NextSession());
      if (!more) break;
      auto log = std::make_unique<ExaminedLog>(context, sessions, choices);
      RS_RETURN_IF_ERROR(log->ToEnd(args));
      RS_RETURN_IF_ERROR(trace == nullptr ? ExpectNoFurtherSession(sessions, "a trace")
                                          : ExpectPayload(sessions, "a comparison with a trace"));
      const auto same = static_cast<uint64_t>(
          std::ranges::count_if(log->sequences, [&](const ReplayedPackets::Sequence* sequence) {
            return trace != nullptr && trace->IsExplained(sequence);
          }));
      if (best && same <= explained) continue;
      best = std::move(log);
      explained = same;
      place = sessions.place();
    }
    if (!best) return Fail(ErrorCode::kUsage, "the log has no session", {sessions.path(), {}, {}});
    best->ending = sessions.Finish();
    if (trace == nullptr) return best;
    const auto without = static_cast<uint64_t>(std::ranges::count(best->sequences, nullptr));
    trace->others = best->sequences.size() - without - explained;
    const ReadsUsed& reads = best->examination.log->outcome.reads;
    // When the service read for a file does not show in the log, but it does in the file.
    const bool may_find = choices.reads.mode == ReadsMode::kAuto && choices.reads.like.empty() &&
                          (reads.assumed || reads.seen_in_file > 0) && !args.log.clone;
    if (trace->others == 0 || !may_find) return best;
    choices.reads.like = copy;
    reader = std::make_unique<SessionReader>(*reader, place, "replaying");
  }
}

/// Writes a trace as it is, followed by tracks with what it lacks, and the buffers of a log.
Result<ExitCode> RunTimeline(const TimelineArgs& given, Context& context) {
  TimelineArgs args = given;
  RS_RETURN_IF_ERROR(CheckOutputName(args.output, "a trace", {".pftrace"}));
  RS_ASSIGN_OR_RETURN(TimelineInputs inputs, OpenInputs(args, context));
  const bool has_log = !args.log.paths.empty(), has_trace = !args.trace.empty();
  RS_ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file,
                      CreateOutput(context, args.output, kTraceOutput, args.force));
  ExplainedTrace trace;
  std::optional<TraceCopy> copy;
  if (has_trace) {
    RS_ASSIGN_OR_RETURN(copy, TraceCopy::For(*file));
    RS_ASSIGN_OR_RETURN(
        trace, ReadForHoles(std::move(inputs.trace), args.trace, context, has_log, copy->sink()));
  }
  std::unique_ptr<ExaminedLog> log;
  if (has_log) {
    RS_ASSIGN_OR_RETURN(log, ReplayLog(args, context, std::move(inputs.log),
                                       has_trace ? &trace : nullptr, copy ? copy->name() : ""));
    const bool has_one =
        std::ranges::any_of(log->sequences, [&](const ReplayedPackets::Sequence* sequence) {
          return trace.IsExplained(sequence) && trace.digests.contains(sequence->id);
        });
    if (!has_one && trace.others > 0)
      return Fail(ErrorCode::kUsage,
                  fmt::format("no sequence of the trace is as the replay of {} returns it",
                              Printable(args.log.paths[0])),
                  {args.trace, {}, {}},
                  "name the log of the trace's own session, or the trace alone");
  }
  const std::optional<uint64_t>& cut_off_at = trace.scanned.cut_off_at;
  uint64_t bytes_left = kMostBytes;
  if (has_trace) {
    // Tracks of an earlier run are replaced: they are the file's end.
    const std::optional<uint64_t>& own_at = trace.scanned.own_at;
    RS_ASSIGN_OR_RETURN(const uint64_t bytes, copy->Finish(own_at ? own_at : cut_off_at));
    bytes_left = std::clamp<uint64_t>(bytes / 10, kLeastBytes, kMostBytes);
  } else {
    TraceWriter writer(*file);  // of the clocks of the log
    RS_RETURN_IF_ERROR(writer.AddTool());
    for (const std::string& snapshot : log->snapshots.list)
      RS_RETURN_IF_ERROR(
          writer.AddServicePacket(proto::TracePacket::kClockSnapshot, wire::AsBytes(snapshot)));
    RS_RETURN_IF_ERROR(writer.Finish());
  }
  uint32_t number = 0;  // of the tracks of a session
  std::map<TraceSequenceId, uint64_t> tracks;
  for (const TraceFacts& facts : trace.scanned.sessions)
    for (const TraceSequence& sequence : facts.sequences)
      tracks[{sequence.machine, sequence.id}] = sequence.track;
  uint64_t slices = 0, left_out = 0;
  const auto write = [&](const EventTrack& root, uint32_t clock, int64_t after_ns, size_t share) {
    const EncodedTracks encoded = EncodeTracks(root, {.number = number++,
                                                      .clock = clock,
                                                      .after_ns = after_ns,
                                                      .most_bytes = bytes_left / share});
    bytes_left -= std::min<uint64_t>(bytes_left, encoded.packets.size());
    slices += encoded.slices;
    left_out += encoded.left_out;
    return file->Write(encoded.packets);
  };
  // A sequence of the trace that the log explains has the log's holes, in their exact form.
  std::set<TraceSequenceId> explained;
  if (has_log) {
    const auto has_holes = [&](const ReplayedPackets::Sequence* sequence) {
      return has_trace ? trace.IsExplained(sequence) : sequence != nullptr;
    };
    for (const ReplayedPackets::Sequence* sequence : log->sequences)
      if (has_holes(sequence)) explained.insert(sequence->id);
    const auto track_of = [&](size_t index) -> std::optional<uint64_t> {
      const ReplayedPackets::Sequence* const sequence = log->sequences[index];
      return has_holes(sequence) ? std::optional(tracks[sequence->id]) : std::nullopt;
    };
    AddHoles(log->examination, track_of, log->root);
  }
  size_t sessions = trace.scanned.sessions.size();
  int64_t after_ns = 0;
  for (TraceFacts& facts : trace.scanned.sessions) {
    EventTrack root;
    const uint32_t clock = facts.trace_clock;
    after_ns = facts.sorter_left_ns;
    const Examination examination = ExamineTrace(std::move(facts));
    const auto track_of = [&](size_t index) -> std::optional<uint64_t> {
      const SequenceStages& sequence = examination.account.sequences[index];
      if (explained.contains({sequence.process.machine, sequence.id})) return std::nullopt;
      return sequence.track;
    };
    AddHoles(examination, track_of, root);
    RS_RETURN_IF_ERROR(write(root, clock, after_ns, sessions--));
  }
  if (has_log) RS_RETURN_IF_ERROR(write(log->root, has_trace ? kBootTime : 0, after_ns, 1));
  RS_RETURN_IF_ERROR(file->Commit());
  if (cut_off_at)
    context.console.Warn(fmt::format("{}: what follows byte {} is cut off, and left out",
                                     Printable(args.trace), *cut_off_at));
  if (trace.others > 0)
    context.console.Warn(fmt::format(
        "{}: {} as the replay of the log returns them, {} not: of those the holes are shown that "
        "the trace alone proves",
        Printable(args.trace), Count(log->sequences.size() - trace.others, "sequence"),
        trace.others));
  context.console.Say(fmt::format(
      "{}: {}{} over what is missing{}{}", file->path(), has_trace ? "the trace, followed by " : "",
      Count(slices, "slice"), has_log ? " and of the buffers" : "",
      left_out == 0 ? ""
                    : fmt::format("; {} left out, as the UI sorts this trace in windows",
                                  WithCommas(left_out))));
  return Worse(cut_off_at || trace.others > 0 ? ExitCode::kNotice : ExitCode::kClean,
               has_log ? log->ending : ExitCode::kClean);
}

}  // namespace

Command TimelineCommand() {
  return {
      "timeline",
      "Show the holes of a trace in it, or a log's buffers over time",
      "Writes a trace as it is, followed by tracks with its holes: below each thread what is "
      "missing, since when and why, and which packets are unusable. With the log of its session "
      "all of it is exact, as the log is replayed: each hole with the packets that were lost, what "
      "overwrote them, and what would have kept them. With a log, also alone, each buffer has "
      "counters of its fill level, its unread bytes and its reach, read passes and wraps; "
      "changes of the tracing session, flushes and clones have a track of their own.",
      {{"ringscope timeline trace.pftrace -o holes.pftrace",
        "The same trace with its holes, below the threads that they are of"},
       {"ringscope timeline trace.pftrace session.tblog -o holes.pftrace",
        "The holes as the log of the session proves them"},
       {"ringscope timeline session.tblog -o buffers.pftrace",
        "The buffers alone: open it in ui.perfetto.dev"}},
      Bind(SetUp, RunTimeline)};
}

}  // namespace ringscope
