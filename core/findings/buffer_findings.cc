// Losses in the buffers, by their statistics and by their packets.

#include <bit>

#include "core/findings/examiner.h"
#include "core/trace/packet_view.h"

namespace ringscope {
namespace {

bool IsDiscarding(const Examiner& examiner, size_t index) {
  if (const ReplayedBuffer* const replayed = ReplayedOf(examiner, index))
    return replayed->policy == FillPolicy::kDiscard;
  const auto& buffers = examiner.config.buffers;
  return index < buffers.size() && buffers[index].policy == FillPolicy::kDiscard;
}

/// Replaces a remedy that replays of the log refute. @return false: they do not
bool RefuteLargerBuffer(const Examiner& examiner, size_t index, Finding& finding) {
  const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
  if (replayed == nullptr || !replayed->no_size_helps) return false;
  finding.remedy = "No larger buffer keeps more packets, as replays of the log show.";
  return true;
}

constexpr uint64_t kMostKiB = 4'194'300;  // that a buffer can have

/// Adds a size that holds all that was written, if the reads were as they were: the one that a
/// replay found, or else this estimate; none where a replay shows that no size helps, or where no
/// buffer can be so large.
void AddLargerBuffer(const Examiner& examiner, size_t index, uint64_t bytes, const char* reason,
                     Finding& finding) {
  if (RefuteLargerBuffer(examiner, index, finding)) return;
  const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
  if (replayed != nullptr && replayed->size) return finding.changes.push_back(*replayed->size);
  if (bytes / kKiB > kMostKiB) return;
  const uint64_t kb = std::min(RecommendedSize(bytes) / kKiB, kMostKiB);
  finding.changes.push_back(
      {fmt::format("buffers[{}].size_kb", index), std::to_string(kb), reason, true});
}

void ExamineOverwritten(Examiner& examiner, size_t index, const TraceBuffer& buffer) {
  const BufferStats& stats = buffer.stats;
  if (stats.chunks_overwritten == 0) return;
  const uint64_t all = stats.bytes_written, overwritten = stats.overwritten_bytes();
  Finding& finding = examiner.Add(
      "buffer.overwritten",
      Say("{}{} of {} ({}) were overwritten before they were read.",
          stats.lacks_overwritten_bytes() ? "About " : "", Size("bytes_overwritten", overwritten),
          Size("bytes_written", all), Share("share_overwritten", overwritten, all)),
      {// A ring that nobody reads during the session keeps the newest data: that is what it is for.
       .harm = InfoIf(!examiner.config.IsStreamed()),
       .where = BufferName(examiner.config, index),
       .proof = Say("The service counts {} overwritten of {} written; the buffer wrapped {}.",
                    Number("chunks_overwritten", stats.chunks_overwritten),
                    Number("chunks_written", stats.chunks_written, "chunk"),
                    Number("write_wrap_count", stats.write_wrap_count, "time")),
       .weight = overwritten});
  const uint64_t period = examiner.config.PeriodNs();
  const Sentence period_text = Time("file_write_period_ns", period);
  if (examiner.IsStreamed()) {
    RefuteLargerBuffer(examiner, index, finding);
    finding.cause =
        Say("The session was written into a file every {}, and the buffer was full before.",
            period_text);
    const std::optional<Reach> reach =
        examiner.HasLengthOfPeriod() ? ReachByRate(stats, *examiner.session) : std::nullopt;
    if (reach && reach->ns < period) {
      // Holds all data between two reads, and as much again for bursts.
      const double share = static_cast<double>(period) / static_cast<double>(reach->ns);
      return AddLargerBuffer(
          examiner, index,
          static_cast<uint64_t>(2 * share * static_cast<double>(stats.buffer_size)),
          "twice what is written between two reads",
          examiner.Add(
              "buffer.short_reach",
              Say("The ring holds the last {} at the session's mean rate; it is read every {}.",
                  Time("reach_ns", reach->ns), period_text),
              {.where = BufferName(examiner.config, index),
               .proof = "Bytes written over the session's length, and the buffer's size.",
               .weight = overwritten}));
    }
    if (reach)
      finding.cause +=
          Say(" At the session's mean rate the ring holds {}: the data came in bursts, or the "
              "service read the buffer less often.",
              Time("reach_ns", reach->ns));
    if (const auto& hole = examiner.facts.hole;
        hole && examiner.session && hole->span.first_ns >= examiner.session->first_ns)
      finding.what += Say(" No event is left {}.", SpanText(examiner, hole->span));
    // A read takes at most one buffer of data, so what is left shows the least number of reads.
    const uint64_t reads = 1 + (all - std::min(all, overwritten)) / (stats.buffer_size + 1);
    return AddLargerBuffer(examiner, index, std::max(stats.buffer_size * 2, all / reads),
                           "was full before it was read; to be tried", finding);
  }
  finding.cause =
      examiner.config.IsStreamed()
          ? Say("The session was shorter than its file_write_period_ms ({}): the ring was read "
                "once, at the end.",
                period_text)
          : "A ring keeps the newest data, and the session wrote more than it holds.";
  if (const auto reach = ReachOf(examiner, index))
    finding.cause +=
        Say(" The data that is left begins {}{}.", reach->is_estimate ? "at about " : "at ",
            TimeOf(examiner, "left_since_ns",
                   examiner.session->last_ns - static_cast<int64_t>(reach->ns)));
  const bool is_replayed = ReplayedOf(examiner, index) != nullptr;
  if (!examiner.has_config() && !is_replayed) return;
  finding.remedy = is_replayed ? "To keep the whole session, use a larger buffer, or write it into "
                                 "a file (write_into_file)."
                               : Say("To keep the whole session, {}write the session into a file "
                                     "(write_into_file): it wrote {}.",
                                     all / kKiB > kMostKiB ? "" : "use a larger buffer, or ",
                                     Size("bytes_needed", all + stats.padding_bytes_written));
  AddLargerBuffer(examiner, index, all + stats.padding_bytes_written,
                  "holds all that this session wrote", finding);
}

void ExamineDiscarded(Examiner& examiner, size_t index, const TraceBuffer& buffer) {
  const BufferStats& stats = buffer.stats;
  if (stats.chunks_discarded == 0) return;
  const uint64_t chunks = stats.chunks_written + stats.chunks_discarded;
  const Sentence refused = Say("{} of {} ({})", Number("chunks_discarded", stats.chunks_discarded),
                               Number("chunks", chunks, "chunk"),
                               Share("share_discarded", stats.chunks_discarded, chunks));
  const bool knows_policy = examiner.has_config() || ReplayedOf(examiner, index) != nullptr;
  if (!IsDiscarding(examiner, index) && (knows_policy || stats.chunks_overwritten > 0)) {
    RefuteLargerBuffer(
        examiner, index,
        examiner.Add("buffer.late_chunks",
                     Say("The buffer refused {}: they came late, or twice.", refused),
                     {.where = BufferName(examiner.config, index),
                      .cause = "A ring refuses a chunk when a later one of its sequence was read "
                               "or overwritten already.",
                      .proof = "chunks_discarded of the buffer's statistics, and its fill_policy.",
                      .weight = stats.chunks_discarded}));
    return;
  }
  const std::optional<TimeSpan>&span = buffer.span, &session = examiner.session;
  Finding& finding = examiner.Add(
      "buffer.discarded", Say("The buffer of {} was full", Size("buffer_bytes", stats.buffer_size)),
      {.where = BufferName(examiner.config, index),
       .cause = Say("{} came when the buffer was full.", refused),
       .proof = "chunks_discarded of the buffer's statistics.",
       .weight = stats.chunks_discarded});
  // Packets without a clock snapshot may have another clock than the log's records.
  if (span && session && span->last_ns >= session->first_ns && span->last_ns <= session->last_ns) {
    finding.what += Say(": nothing was recorded after {}",
                        TimeOf(examiner, "recorded_until_ns", span->last_ns));
    if (span->last_ns < session->last_ns)
      finding.what += Say(", up to the end at {}", TimeOf(examiner, "end_ns", session->last_ns));
    finding.what += ".";
  } else {
    finding.what += ", and discarded what came later.";
  }
  if (examiner.config.IsStreamed() && !examiner.is_of_log())
    return finding.changes.push_back({fmt::format("buffers[{}].fill_policy", index), "RING_BUFFER",
                                      "a discarding buffer seals itself"});
  const uint64_t mean =
      stats.chunks_written == 0 ? 4096 : stats.bytes_written / stats.chunks_written;
  AddLargerBuffer(examiner, index, stats.bytes_written + mean * stats.chunks_discarded,
                  "holds the discarded chunks, too", finding);
  if (!examiner.config.IsStreamed())
    finding.remedy =
        "A larger buffer, or fill_policy: RING_BUFFER to keep the end instead of the beginning.";
}

/// Returns how often the sequence reports that its producer's shared memory was full.
uint64_t FullMemoryOf(const TraceSequence& sequence) {
  return sequence.losses.by_bit[kLossBitNames.size() - 1];
}

/// Adds more shared memory for the producer whose was full: its lines of the config.
/// @return false: it is not known, or there are several
bool AddSharedMemory(const Examiner& examiner, Finding& finding) {
  constexpr uint64_t kProbesHintKb = 2048, kDefaultKb = 256, kLargestKb = 32'768;
  constexpr uint64_t kShare = 2;               // of a second
  std::map<std::string_view, uint64_t> bytes;  // in the trace, by producer
  std::string_view producer;
  bool has_ftrace = false;
  // V1 buffers and older services do not mark the cause.
  const bool has_marks = std::ranges::any_of(examiner.facts.sequences, FullMemoryOf);
  for (const TraceSequence& sequence : examiner.facts.sequences) {
    const std::string source = SourceOf(sequence, examiner.config);
    const KnownSource* const known = FindKnownSource(source);
    const std::string_view own = known == nullptr ? "" : known->producer;
    bytes[own] += sequence.all.bytes;
    if (has_marks ? FullMemoryOf(sequence) > 0 : sequence.losses.sequence_packet_loss > 0) {
      if (own.empty() || (!producer.empty() && own != producer)) return false;
      producer = own;
    }
    has_ftrace |= source == kFtraceSource;
  }
  if (producer.empty() || !examiner.has_config() || !examiner.session) return false;
  const auto* const entry = FindBy(examiner.config.producers, producer, &ConfiguredProducer::name);
  const uint64_t now_kb =
      std::max(producer == "perfetto.traced_probes" ? kProbesHintKb : kDefaultKb,
               entry == nullptr ? 0 : entry->shm_size_kb);
  const auto ms =
      static_cast<uint64_t>(std::max<int64_t>(examiner.session->length_ns(), 1)) / 1'000'000;
  const uint64_t kb_per_s = bytes[producer] / kKiB * 1000 / std::max<uint64_t>(ms, 1);
  const uint64_t size_kb =
      std::min(kLargestKb, std::bit_ceil(std::max(2 * now_kb, kb_per_s / kShare)));
  finding.remedy =
      Say("More shared memory for {}, which {} KiB/s of the trace are from: twice what it has, and "
          "what it writes in half a second{}.",
          producer, Number("kib_per_s", kb_per_s),
          has_ftrace ? "; or a shorter drain_period_ms, so that it writes less at once" : "");
  size_t count = examiner.config.producers.size();
  for (ConfigChange& change : SharedMemoryChanges(examiner.config, std::string(producer), size_kb,
                                                  "its shared memory was full", count)) {
    if (change.reason.empty()) change.reason = "whose shared memory was full";
    finding.changes.push_back(std::move(change));
  }
  return true;
}

uint64_t PlacesOf(const TraceSequence* sequence) { return sequence->losses.sequence_packet_loss; }

struct BufferLosses {
  LossCounts losses;
  std::vector<const TraceSequence*> sequences;
};
constexpr uint32_t kNotKnown = UINT32_MAX;  // a buffer that is not in the statistics

void AddPacketLoss(Examiner& examiner, uint32_t buffer, const BufferLosses& lossy) {
  const uint64_t places = lossy.losses.sequence_packet_loss;
  Sentence where = buffer == kNotKnown ? "sequences whose buffer is not in the statistics"
                                       : BufferName(examiner.config, buffer);
  if (!lossy.sequences.empty()) {
    const TraceSequence* const worst = *std::ranges::max_element(lossy.sequences, {}, PlacesOf);
    where += Say("; most often {}, {}", SequenceName(examiner, *worst),
                 Number("most_places", PlacesOf(worst), "time"));
    if (!worst->holes.empty())
      where += Say(", first between {} and {}",
                   TimeOf(examiner, "first_hole_from_ns", worst->holes.front().span.first_ns),
                   TimeOf(examiner, "first_hole_to_ns", worst->holes.front().span.last_ns));
  }
  Sentence proof = "previous_packet_dropped of these packets, as trace processor counts them.";
  const auto cut_starts = static_cast<uint64_t>(
      std::ranges::count_if(examiner.facts.sequences, [&](const TraceSequence& one) {
        return one.lost_beginning() && one.buffer.value_or(kNotKnown) == buffer;
      }));
  if (cut_starts > 0)
    proof += Say(" It leaves out the first packet of a sequence: {} of those report{} a loss, too.",
                 Number("first_packets", cut_starts), cut_starts == 1 ? "s" : "");
  Sentence causes;  // by the loss bits
  for (size_t i = 0; i < kLossBitNames.size(); ++i)
    if (const uint64_t times = lossy.losses.by_bit[i]; times > 0)
      causes += Say("{}{} ({}x)", causes.empty() ? "By the trace: " : ", ", kLossBitNames[i].words,
                    Number(kLossBitNames[i].name, times));
  const uint64_t of_full_memory = lossy.losses.by_bit.back();
  // V1 buffers forget a writer all of whose chunks were read and overwritten, and flag its next
  // one.
  const bool is_forgotten =
      causes.empty() && examiner.config.write_into_file && LostNothing(examiner);
  Finding& finding = examiner.Add(
      "buffer.packet_loss",
      Say("Packets are missing at {} in the trace, of {}.", Number("places", places, "place"),
          Number("sequences", lossy.sequences.size(), "sequence")),
      {.where = std::move(where),
       .cause = causes.empty() ? "Not in the trace: services before v57 and V1 buffers do not "
                                 "report it."
                               : Say("{}.", causes),
       .proof = std::move(proof),
       .weight = places});
  RefuteLargerBuffer(examiner, buffer, finding);
  if (of_full_memory > 0 && of_full_memory >= places && !AddSharedMemory(examiner, finding))
    finding.remedy = RuleOf("buffer.writer_loss").remedy;
  if (!is_forgotten) return;
  finding.harm = Harm::kWarning;
  finding.what = Say("{} {} marked as a loss, but the buffer lost nothing.",
                     Number("places", places, "place"), Is(places));
  finding.cause =
      "A V1 buffer forgets a writer whose chunks were all read and overwritten, and marks its next "
      "packet. Trace processor counts that, and takes the writer's state as lost.";
  finding.proof += " The statistics count nothing that was overwritten unread, or refused.";
  finding.remedy = "clear_period_ms, so that the state is repeated.";
  AddClearPeriod(examiner, std::nullopt, finding);
}

/// Packets that are missing, by buffer: what its statistics cover, and the sequences that they do
/// not list.
void ExaminePacketLoss(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  std::map<uint32_t, BufferLosses> buffers;  // by index
  for (size_t i = 0; i < facts.buffers.size(); ++i)
    if (facts.buffers[i].has_losses)
      buffers[static_cast<uint32_t>(i)].losses = facts.buffers[i].losses;
  for (const TraceSequence& sequence : facts.sequences) {
    if (PlacesOf(&sequence) == 0) continue;
    const uint32_t index = sequence.buffer.value_or(kNotKnown);
    BufferLosses& lossy = buffers[index];
    lossy.sequences.push_back(&sequence);
    const bool is_counted = sequence.is_listed && sequence.machine == 0 &&
                            index < facts.buffers.size() && facts.buffers[index].has_losses;
    if (!is_counted) lossy.losses += sequence.losses;
  }
  for (const auto& [index, lossy] : buffers)
    if (lossy.losses.sequence_packet_loss > 0) AddPacketLoss(examiner, index, lossy);
}

/// Writers whose shared memory was full, where no counter of the buffer reports it.
void ExamineFullMemory(Examiner& examiner) {
  for (const TraceBuffer& buffer : examiner.facts.buffers)
    if (buffer.has_stats && buffer.stats.trace_writer_packet_loss > 0) return;
  for (const TraceSequence& sequence : examiner.facts.sequences)
    if (const uint64_t times = FullMemoryOf(sequence); times > 0)
      examiner.Add("buffer.writer_loss",
                   Say("A writer's shared memory was full {}.", Number("places", times, "time")),
                   {.where = SequenceName(examiner, sequence),
                    .proof = "smb_full in previous_packet_dropped.",
                    .weight = times});
}

/// Returns true if a packet reports that packets of its sequence before it are missing.
bool ReportsLoss(const TraceFacts& facts) {
  return std::ranges::any_of(facts.sequences, [](const TraceSequence& sequence) {
    return sequence.losses.sequence_packet_loss > 0 || sequence.lost_beginning();
  });
}

void ExamineCounters(Examiner& examiner, size_t index, const BufferStats& stats) {
  const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
  const auto add = [&](const char* rule, const char* counter, uint64_t count, Sentence what) {
    return &examiner.Add(
        rule, std::move(what),
        {.where = BufferName(examiner.config, index),
         .proof = Say("{} of the buffer's statistics: {}.", counter, Number(counter, count)),
         .weight = count});
  };
  if (const uint64_t failed = stats.patches_failed; failed > 0) {
    Finding* const finding = add("buffer.patches_failed", "patches_failed", failed,
                                 Say("{} of {} could not be applied; a packet that waited for one "
                                     "is lost.",
                                     Number("patches_failed", failed),
                                     Number("patches", stats.patches_succeeded + failed, "patch")));
    finding->cause =
        "The chunk was not, or no longer, in the buffer, or the bytes to be patched are outside of "
        "it: the counter does not distinguish these.";
    constexpr uint64_t kFewOf = 10'000;
    if (!IsDiscarding(examiner, index) && failed * kFewOf <= stats.patches_succeeded) {
      // A producer that was still writing when its data sources were stopped.
      finding->harm = Harm::kWarning;
      finding->remedy = "None, if they are of a producer that was slow to stop.";
    }
    if (replayed != nullptr && !replayed->missed_patches) {
      finding->harm = Harm::kInfo;
      finding->what = Say("{} could not be applied; no packet waited for {}.",
                          Number("patches_failed", failed, "patch"), failed == 1 ? "it" : "them");
      finding->proof += " The replay of the log shows that this buffer lost no packet by that.";
      finding->remedy = "None is needed.";
    } else if (IsDiscarding(examiner, index) && stats.chunks_discarded > 0) {
      // No loss of its own: these packets are lost with their chunks.
      finding->harm = Harm::kInfo;
      finding->cause = "The full buffer discarded chunks; patches for these cannot be applied.";
      finding->remedy =
          "A buffer that holds these chunks also gets their patches: nothing more is needed.";
    }
  }
  if (const uint64_t violations = stats.abi_violations; violations > 0) {
    Finding* const finding =
        add("buffer.abi_violations", "abi_violations", violations,
            Say("Data that broke the rules of the shared memory was refused {}.",
                Number("abi_violations", violations, "time")));
    if (replayed != nullptr && !replayed->lost_violations) {
      finding->harm = Harm::kInfo;
      finding->what = Say("{} {} re-committed against the rules; no packet was lost.",
                          Number("abi_violations", violations, "chunk"), Was(violations));
      finding->cause = "The buffer kept what it had of the chunk, and refused the re-commit.";
      finding->proof += " The replay of the log shows that this buffer lost no packet.";
      finding->remedy = "None is needed.";
    } else if (!examiner.is_of_log() && !ReportsLoss(examiner.facts)) {
      finding->harm = Harm::kWarning;
      finding->what.text.insert(finding->what.text.size() - 1,
                                "; no packet reports that one is missing");
      finding->cause =
          "The buffer refused a chunk, or its rest. If it came twice, all its packets were there "
          "already: only a log shows it.";
    }
  }
  if (const uint64_t lost = stats.trace_writer_packet_loss; lost > 0) {
    std::set<std::string> writers;  // whose packets report it
    for (const TraceSequence& sequence : examiner.facts.sequences)
      if (sequence.buffer == index && FullMemoryOf(sequence) > 0)
        writers.insert(SequenceName(examiner, sequence));
    AddSharedMemory(examiner,
                    *add("buffer.writer_loss", "trace_writer_packet_loss", lost,
                         Say("{} dropped {} or more before the buffer saw them.",
                             writers.size() == 1 ? "The writer of " + *writers.begin() : "Writers",
                             Number("trace_writer_packet_loss", lost, "packet"))));
  }
}

}  // namespace

bool LostNothing(const Examiner& examiner) {
  const auto& buffers = examiner.facts.buffers;
  return !buffers.empty() && std::ranges::all_of(buffers, [](const TraceBuffer& buffer) {
    const BufferStats& stats = buffer.stats;
    return buffer.has_stats && stats.chunks_overwritten + stats.chunks_discarded +
                                       stats.patches_failed + stats.abi_violations +
                                       stats.trace_writer_packet_loss ==
                                   0;
  });
}

void ExamineBuffers(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  ExaminePacketLoss(examiner);
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    const TraceBuffer& buffer = facts.buffers[i];
    if (!buffer.has_stats) continue;
    if (!IsDiscarding(examiner, i)) ExamineOverwritten(examiner, i, buffer);
    ExamineDiscarded(examiner, i, buffer);
    ExamineCounters(examiner, i, buffer.stats);
  }
  ExamineFullMemory(examiner);
  if (!examiner.is_of_log() &&
      (examiner.HasFound("buffer.overwritten") || examiner.HasFound("buffer.discarded") ||
       examiner.HasFound("buffer.packet_loss")))
    examiner.Unknown("How many packets the buffers lost: only a log of the session shows it.");
  if (std::ranges::any_of(facts.buffers, &TraceBuffer::has_stats) && !ReportsLoss(facts))
    examiner.Well("No packet after the first of its sequence reports a loss before it.");
}

}  // namespace ringscope
