// What the buffers lost, by their statistics and by their packets.

#include <fmt/format.h>

#include <algorithm>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

bool IsDiscarding(const Examiner& examiner, size_t index) {
  if (const ReplayedBuffer* const replayed = ReplayedOf(examiner, index))
    return replayed->policy == FillPolicy::kDiscard;
  const auto& buffers = examiner.config.buffers;
  return index < buffers.size() && buffers[index].policy == FillPolicy::kDiscard;
}

/// A size that holds all that was written, if the reads were as they were: the one that a replay
/// found, or else this estimate.
ConfigChange LargerBuffer(const Examiner& examiner, size_t index, uint64_t bytes,
                          const char* reason) {
  if (const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
      replayed != nullptr && replayed->size)
    return *replayed->size;
  // An eighth more, in whole steps: an estimate is no exact size.
  constexpr uint64_t kStepKiB = 64, kMostKiB = 4'194'300;
  const uint64_t kb = (bytes / kKiB / 8 * 9 + kStepKiB) / kStepKiB * kStepKiB;
  return {fmt::format("buffers[{}].size_kb", index), std::to_string(std::min(kb, kMostKiB)), reason,
          true};
}

/// Whether these times can be shown as times of the session: packets without a clock snapshot may
/// have another clock than the log's records.
bool IsInSession(const Examiner& examiner, const std::optional<TimeSpan>& span) {
  return span && examiner.session() && span->first_ns >= examiner.session()->first_ns &&
         span->last_ns <= examiner.session()->last_ns;
}

void ExamineOverwritten(Examiner& examiner, size_t index, const TraceBuffer& buffer) {
  const BufferStats& stats = buffer.stats;
  if (stats.chunks_overwritten == 0) return;
  const uint64_t all = stats.bytes_written;
  Finding& finding = examiner.Add(
      "buffer.overwritten", fmt::format("{} of {} ({}) were overwritten before they were read.",
                                        HumanSize(stats.bytes_overwritten), HumanSize(all),
                                        ShareText(stats.bytes_overwritten, all)));
  finding.where = BufferName(examiner, index);
  finding.weight = stats.bytes_overwritten;
  finding.proof =
      fmt::format("The service counts {} overwritten of {} written; the buffer wrapped {}.",
                  WithCommas(stats.chunks_overwritten), Count(stats.chunks_written, "chunk"),
                  Count(stats.write_wrap_count, "time"));
  if (examiner.config.write_into_file) {
    const uint64_t period = examiner.config.PeriodNs();
    finding.cause =
        fmt::format("The session was written into a file every {}, and the buffer was full before.",
                    HumanDuration(period));
    const auto reach = ReachNs(buffer, examiner);
    if (reach && *reach < period) {
      Finding& too_short = examiner.Add(
          "buffer.short_reach",
          fmt::format("The ring holds the last {} at the session's mean rate; it is read every {}.",
                      HumanDuration(*reach), HumanDuration(period)));
      too_short.where = BufferName(examiner, index);
      too_short.proof = "Bytes written over the session's length, and the buffer's size.";
      too_short.weight = stats.bytes_overwritten;
      // What comes between two reads, and as much again for bursts.
      const double share = static_cast<double>(period) / static_cast<double>(*reach);
      too_short.changes.push_back(
          LargerBuffer(examiner, index,
                       static_cast<uint64_t>(2 * share * static_cast<double>(stats.buffer_size)),
                       "twice what is written between two reads"));
      return;
    }
    finding.changes.push_back(
        LargerBuffer(examiner, index, stats.buffer_size * 2,
                     "was full before it was read; twice the size, to be tried"));
    return;
  }
  // A ring that nobody reads during the session keeps the newest data: that is what it is for.
  finding.harm = Harm::kInfo;
  finding.cause = "A ring keeps the newest data, and the session wrote more than it holds.";
  if (IsInSession(examiner, buffer.span))
    finding.cause += fmt::format(" What is left is {}.", SpanText(examiner, *buffer.span));
  const bool is_replayed = ReplayedOf(examiner, index) != nullptr;
  if (!examiner.has_config() && !is_replayed) return;
  finding.remedy = is_replayed ? "To keep the whole session, use a larger buffer, or write it into "
                                 "a file (write_into_file)."
                               : fmt::format(
                                     "To keep the whole session, use a buffer of {} or more, or "
                                     "write it into a file (write_into_file).",
                                     HumanSize(all + stats.padding_bytes_written));
  finding.changes.push_back(LargerBuffer(examiner, index, all + stats.padding_bytes_written,
                                         "holds all that this session wrote"));
}

void ExamineDiscarded(Examiner& examiner, size_t index, const TraceBuffer& buffer) {
  const BufferStats& stats = buffer.stats;
  if (stats.chunks_discarded == 0) return;
  const uint64_t chunks = stats.chunks_written + stats.chunks_discarded;
  Finding& finding =
      examiner.Add("buffer.discarded",
                   fmt::format("{} of {} ({}) came when the buffer was full, and were discarded.",
                               WithCommas(stats.chunks_discarded), Count(chunks, "chunk"),
                               ShareText(stats.chunks_discarded, chunks)));
  finding.where = BufferName(examiner, index);
  finding.weight = stats.chunks_discarded;
  finding.proof = "chunks_discarded of the buffer's statistics.";
  finding.cause = fmt::format("The buffer of {} was full.", HumanSize(stats.buffer_size));
  if (IsInSession(examiner, buffer.span)) {
    finding.cause += fmt::format(
        " The time of its last packet is {}; after that nothing was recorded, up to the end at {}.",
        TimeText(examiner, buffer.span->last_ns), TimeText(examiner, examiner.session()->last_ns));
  }
  const uint64_t mean =
      stats.chunks_written == 0 ? 4096 : stats.bytes_written / stats.chunks_written;
  finding.changes.push_back(LargerBuffer(examiner, index,
                                         stats.bytes_written + mean * stats.chunks_discarded,
                                         "holds the discarded chunks, too"));
  if (!examiner.config.write_into_file)
    finding.remedy =
        "A larger buffer, or fill_policy: RING_BUFFER to keep the end instead of the "
        "beginning.";
}

uint64_t PlacesOf(const TraceSequence& sequence) { return sequence.losses.sequence_packet_loss; }

/// Packets that are missing from some sequences.
/// @param buffer of these sequences; nullopt: it is not in the statistics
void AddPacketLoss(Examiner& examiner, std::optional<uint32_t> buffer, const LossCounts& losses,
                   const std::vector<const TraceSequence*>& sequences, std::string where) {
  Finding& finding = examiner.Add(
      "buffer.packet_loss",
      fmt::format("At {} in the trace, packets of a sequence are missing ({} concerned).",
                  Count(losses.sequence_packet_loss, "place"),
                  Count(sequences.size(), "sequence")));
  finding.where = std::move(where);
  if (!sequences.empty()) {
    const TraceSequence& worst = **std::ranges::max_element(
        sequences, {}, [](const TraceSequence* sequence) { return PlacesOf(*sequence); });
    finding.where += fmt::format("; most often {}, {}", SequenceName(examiner, worst),
                                 Count(PlacesOf(worst), "time"));
    if (worst.first_loss)
      finding.where +=
          fmt::format(", first between {} and {}", TimeText(examiner, worst.first_loss->first_ns),
                      TimeText(examiner, worst.first_loss->last_ns));
  }
  const std::string causes = CausesText(losses);
  finding.cause = causes.empty() ? "Not in the trace: services before v57 and V1 buffers do not "
                                   "report it."
                                 : "By the trace: " + causes + ".";
  finding.proof = "previous_packet_dropped of these packets, as trace processor counts them.";
  const auto cut_starts = std::ranges::count_if(
      examiner.facts.sequences,
      [&](const TraceSequence& one) { return one.lost_beginning() && one.buffer == buffer; });
  if (cut_starts > 0)
    finding.proof += fmt::format(
        " It leaves out the first packet of a sequence: {} of those report{} a loss, too.",
        WithCommas(static_cast<uint64_t>(cut_starts)), cut_starts == 1 ? "s" : "");
  finding.weight = losses.sequence_packet_loss;
}

void ExaminePacketLoss(Examiner& examiner, size_t index, const TraceBuffer& buffer) {
  if (!buffer.has_losses || buffer.losses.sequence_packet_loss == 0) return;
  std::vector<const TraceSequence*> sequences;
  for (const TraceSequence& sequence : examiner.facts.sequences)
    if (sequence.buffer == index && PlacesOf(sequence) > 0) sequences.push_back(&sequence);
  AddPacketLoss(examiner, static_cast<uint32_t>(index), buffer.losses, sequences,
                BufferName(examiner, index));
}

/// Losses that no statistics assign to a buffer.
void ExamineLooseLosses(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  LossCounts losses;
  std::vector<const TraceSequence*> sequences;
  for (const TraceSequence& sequence : facts.sequences) {
    const bool is_counted = sequence.buffer && *sequence.buffer < facts.buffers.size() &&
                            facts.buffers[*sequence.buffer].has_losses && sequence.machine == 0;
    if (is_counted || PlacesOf(sequence) == 0) continue;
    losses += sequence.losses;
    sequences.push_back(&sequence);
  }
  if (!sequences.empty())
    AddPacketLoss(examiner, std::nullopt, losses, sequences,
                  "sequences whose buffer is not in the statistics");
}

/// Writers whose shared memory was full, where no counter of the buffer reports it.
void ExamineFullMemory(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  if (std::ranges::any_of(facts.buffers, [](const TraceBuffer& buffer) {
        return buffer.has_stats && buffer.stats.trace_writer_packet_loss > 0;
      }))
    return;
  for (const TraceSequence& sequence : facts.sequences) {
    const uint64_t times = sequence.losses.by_bit[kLossBitNames.size() - 1];
    if (times == 0) continue;
    Finding& finding =
        examiner.Add("buffer.writer_loss",
                     fmt::format("A writer's shared memory was full {}.", Count(times, "time")));
    finding.where = SequenceName(examiner, sequence);
    finding.proof = "smb_full in previous_packet_dropped.";
    finding.weight = times;
  }
}

/// A clone without writer_stats: its losses cannot be assigned to buffers.
void ExamineClone(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  const bool is_clone = std::ranges::any_of(facts.moments, [](const ServiceMoment& moment) {
    return moment.event == proto::ServiceEvent::kCloneStarted ||
           moment.event == proto::ServiceEvent::kBufferCloned;
  });
  if (!is_clone || facts.data_packets == 0 ||
      !std::ranges::any_of(facts.buffers, &TraceBuffer::has_stats) ||
      std::ranges::any_of(facts.buffers, &TraceBuffer::has_losses))
    return;
  Finding& finding = examiner.Add(
      "trace.clone_without_writers",
      "The trace is a clone whose statistics name no writer: losses by buffer are not counted.");
  finding.harm = Harm::kInfo;
  finding.proof = "clone_started among the service's events, and no writer_stats.";
}

void ExamineCounters(Examiner& examiner, size_t index, const BufferStats& stats) {
  const auto add = [&](const char* rule, uint64_t count, const std::string& what,
                       const char* counter) {
    if (count == 0) return;
    Finding& finding = examiner.Add(rule, what);
    finding.where = BufferName(examiner, index);
    finding.weight = count;
    finding.proof = fmt::format("{} of the buffer's statistics: {}.", counter, WithCommas(count));
  };
  const uint64_t patches = stats.patches_succeeded + stats.patches_failed;
  const bool was_full = IsDiscarding(examiner, index) && stats.chunks_discarded > 0;
  add("buffer.patches_failed", stats.patches_failed,
      fmt::format("{} of {} patches could not be applied; packets that wait for one are lost.",
                  WithCommas(stats.patches_failed), WithCommas(patches)),
      "patches_failed");
  if (was_full && stats.patches_failed > 0) {
    // No loss of its own: these packets are lost with their chunks.
    Finding& finding = examiner.findings().back();
    finding.harm = Harm::kInfo;
    finding.cause = "The full buffer discarded chunks; patches for these cannot be applied.";
    finding.remedy =
        "A buffer that holds these chunks also gets their patches: nothing more is needed.";
  } else if (stats.patches_failed > 0) {
    examiner.findings().back().cause =
        "The chunk was not, or no longer, in the buffer, or the bytes to be patched are outside of "
        "it: the counter does not distinguish these.";
  }
  add("buffer.abi_violations", stats.abi_violations,
      fmt::format("{} broke the rules of the shared memory, or a fragment in {} did.",
                  Count(stats.abi_violations, "chunk"), stats.abi_violations == 1 ? "it" : "them"),
      "abi_violations");
  const ReplayedBuffer* const replayed = ReplayedOf(examiner, index);
  if (stats.abi_violations > 0 && replayed != nullptr &&
      replayed->harmless_recommits == stats.abi_violations) {
    Finding& finding = examiner.findings().back();
    finding.harm = Harm::kInfo;
    finding.what = fmt::format("{} {} re-committed against the rules; no packet was lost.",
                               Count(stats.abi_violations, "chunk"), Was(stats.abi_violations));
    finding.cause = "The buffer kept what it had of the chunk, and refused the re-commit.";
    finding.proof += " The replay of the log shows that this buffer lost no packet.";
    finding.remedy = "None is needed.";
  }
  add("buffer.writer_loss", stats.trace_writer_packet_loss,
      fmt::format("Writers dropped {} or more before the buffer saw them.",
                  Count(stats.trace_writer_packet_loss, "packet")),
      "trace_writer_packet_loss");
}

}  // namespace

void ExamineBuffers(Examiner& examiner) {
  const TraceFacts& facts = examiner.facts;
  for (size_t i = 0; i < facts.buffers.size(); ++i) {
    const TraceBuffer& buffer = facts.buffers[i];
    ExaminePacketLoss(examiner, i, buffer);
    if (!buffer.has_stats) continue;
    if (!IsDiscarding(examiner, i)) ExamineOverwritten(examiner, i, buffer);
    ExamineDiscarded(examiner, i, buffer);
    ExamineCounters(examiner, i, buffer.stats);
  }
  ExamineFullMemory(examiner);
  ExamineClone(examiner);
  ExamineLooseLosses(examiner);
  if (std::ranges::any_of(facts.buffers, &TraceBuffer::has_stats) &&
      !examiner.HasFound("buffer.packet_loss") &&
      !std::ranges::any_of(facts.sequences, &TraceSequence::lost_beginning))
    examiner.Well("No packet reports a loss before it.");
}

}  // namespace ringscope
