#include "commands/gaps/gaps_words.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <vector>

#include "commands/replays/loss_words.h"
#include "commands/replays/session_reads.h"
#include "commands/replays/tried_remedies.h"
#include "commands/shell/text.h"
#include "core/perfetto/data_loss.h"

namespace ringscope {
namespace {

std::string ChunkText(const std::optional<ChunkName>& chunk) {
  return chunk ? fmt::format("#{}", Raw(chunk->chunk)) : std::string("?");
}

/// Whether packets came after a newer chunk of their sequence had left the buffer.
bool IsOutOfOrder(const Gap& gap) {
  return std::any_of(gap.causes.begin(), gap.causes.end(), [](const CauseCount& cause) {
    return cause.cause == Cause::kAlreadyConsumed;
  });
}

std::string BlamePart(const Gap& gap, const GapBlame& blame, const SessionNotes& notes) {
  const std::string chunk = ChunkText(blame.chunk);
  const std::string packets = Count(blame.count.packets, "packet");
  const std::string at = MomentText(notes, blame.at);
  switch (blame.cause) {
    case Cause::kNeverPatched:
      return fmt::format("chunk {} of {} waits for a patch since {}", chunk,
                         NameText(notes, gap.sequence), at);
    case Cause::kBehindStall:
      return fmt::format("{} after chunk {}, which waits for a patch since {}", packets, chunk, at);
    case Cause::kAlreadyConsumed:
      if (blame.chunk && Raw(blame.chunk->chunk) == static_cast<uint32_t>(gap.first.chunk))
        return fmt::format("chunk {} had been scraped, and left the buffer at {}", chunk, at);
      return fmt::format(
          "committed out of order: the newer chunk {} had left the buffer at {}, "
          "and the buffer accepts no older one after that",
          chunk, at);
    case Cause::kWrongPatch:
      return fmt::format("{} by the patch in {}", packets, at);
    default:
      return fmt::format("{} broken by the patch in {}", packets, at);
  }
}

/// "a look shows no free chunk: of 64 chunks ..."
std::string FullText(const smb::SeenMemory& full) {
  std::vector<std::string> parts;
  const auto add = [&](uint64_t chunks, const std::string& what) {
    if (chunks > 0) parts.push_back(fmt::format("{} {}", WithCommas(chunks), what));
  };
  add(full.counts.being_written, "being written by " + Count(full.writers, "writer"));
  add(full.held_back(), "complete and not committed");
  add(full.committed + full.counts.being_read, "waiting for the service");
  return fmt::format("none of {} was free, {}", Count(full.counts.all(), "chunk"), Joined(parts));
}

std::string AbortText(const AbortFacts& abort) {
  const std::string size =
      abort.smb_size ? HumanSize(*abort.smb_size) : std::string("unknown size");
  const std::string window =
      fmt::format("{} in {}", HumanSize(abort.window_bytes), HumanDuration(abort.kWindowNs));
  switch (abort.reason) {
    case AbortReason::kLargePacket:
      return fmt::format(
          "the packet was too large: {} of it were committed before it was aborted, "
          "and the shared memory has {}",
          HumanSize(abort.packet_bytes), size);
    case AbortReason::kBurst:
      if (abort.full)
        return fmt::format("a burst: {}, {} after the producer's last commit",
                           FullText(*abort.full), HumanDuration(abort.since_commit_ns));
      return fmt::format("a burst: the producer committed {}, and its shared memory has {}", window,
                         size);
    case AbortReason::kServiceQuiet:
      return fmt::format(
          "nothing was committed for {}, as if the service was blocked; then {}, and "
          "the shared memory has {}",
          HumanDuration(abort.quiet_ns), window, size);
    case AbortReason::kHeldByWriters:
      return fmt::format("writers hold the chunks: {}", FullText(*abort.full));
    case AbortReason::kHeldBack:
      return fmt::format("the producer held complete chunks back for {} or more: {}",
                         HumanDuration(abort.held_ns), FullText(*abort.full));
    case AbortReason::kServiceLate:
      return fmt::format("the service was late, chunks waited {} for it: {}",
                         HumanDuration(abort.waiting_ns), FullText(*abort.full));
    case AbortReason::kNotShown:
      break;
  }
  return fmt::format(
      "why the shared memory ({}) was full is not in the log: the producer had "
      "committed only {}; its other writers can have held the chunks",
      size, window);
}

bool HasLimitedReads(const Gap& gap, const GapReport& report) {
  return std::any_of(report.buffers.begin(), report.buffers.end(), [&](const BufferGaps& buffer) {
    return buffer.id == gap.buffer && buffer.limited_reads > 0;
  });
}

/// By what the log shows of the moment alone.
std::string SharedMemoryRemedy(const Gap& gap, const SessionNotes& notes) {
  const std::optional<uint64_t> size = notes.SharedMemoryOf(gap.sequence);
  const AbortFacts facts = gap.abort.value_or(AbortFacts());
  if (facts.reason == AbortReason::kLargePacket)
    return fmt::format(
        "shared memory that is larger than the packet (more than {}), or smaller "
        "packets",
        HumanSize(std::max(facts.packet_bytes, size.value_or(0))));
  if (facts.reason == AbortReason::kHeldByWriters) {
    const uint64_t page = facts.page_size;
    return fmt::format(
        "more chunks than writers that hold one ({}): {}, or fewer writers",
        facts.full->counts.being_written,
        page == 0 ? std::string("more shared memory")
                  : "shared memory of " +
                        HumanSize(std::bit_ceil(facts.full->counts.being_written * 2) * page));
  }
  if (facts.reason == AbortReason::kHeldBack)
    return fmt::format(
        "a shmem_batch_commits_duration_ms below {}, or flushes: of the {} held back, the service "
        "would have had those that were complete for longer",
        HumanDuration(facts.held_ns), Count(facts.full->held_back(), "chunk"));
  if (facts.reason == AbortReason::kServiceLate) {
    // What the producer commits in that time, beside what it has.
    constexpr double kMost = 0x1p40;  // of hostile times, too
    const auto meanwhile = static_cast<uint64_t>(
        std::min(static_cast<double>(facts.window_bytes) * static_cast<double>(facts.waiting_ns) /
                     static_cast<double>(AbortFacts::kWindowNs),
                 kMost));
    return fmt::format("shared memory for the time that the service takes: {}",
                       HumanSize(std::bit_ceil(facts.smb_size.value_or(0) + meanwhile + 1)));
  }
  if (facts.reason != AbortReason::kNotShown)
    return fmt::format("shared memory for the burst: {}",
                       HumanSize(std::bit_ceil(std::max(facts.window_bytes * 4 / 3,
                                                        facts.full ? size.value_or(0) + 1 : 1))));
  return fmt::format("perhaps more shared memory for the producer{}",
                     size ? fmt::format(" than {}", HumanSize(*size)) : "");
}

}  // namespace

std::string CausesText(const Gap& gap) {
  std::vector<CauseCount> causes;
  for (const CauseCount& cause : gap.causes) {
    // Loss bits are in the words of buffer bugs alone.
    const auto same = std::ranges::find_if(causes, [&](const CauseCount& other) {
      return other.cause == cause.cause && !other.own_fault && !cause.own_fault;
    });
    if (same == causes.end())
      causes.push_back(cause);
    else
      same->count += cause.count;
  }
  if (causes.size() == 1) return CauseText(causes.front());
  std::vector<std::string> parts;
  for (const CauseCount& cause : causes)
    parts.push_back(fmt::format("{} {}", WithCommas(cause.count.packets), CauseText(cause)));
  return Joined(parts, "; ");
}

namespace {

/// "80% app/frame, 15% app/draw, 5% others": what the packets of a content are about; empty: it is
/// not known.
std::string KindsText(const Gap& gap, const ContentCount& content, const PacketKinds& kinds) {
  constexpr size_t kNamedKinds = 3;
  std::vector<std::string> parts;
  uint64_t named = 0;
  for (const KindCount& kind : gap.kinds) {
    if (kind.content != content.content || parts.size() == kNamedKinds) continue;
    if (kind.count.packets == content.count.packets) return kinds.NameOf(kind.kind);
    parts.push_back(fmt::format("{} {}", ShareText(kind.count.packets, content.count.packets),
                                kinds.NameOf(kind.kind)));
    named += kind.count.packets;
  }
  if (!parts.empty() && named < content.count.packets)
    parts.push_back(
        fmt::format("{} others", ShareText(content.count.packets - named, content.count.packets)));
  return Joined(parts, ", ");
}

}  // namespace

std::string ContentsText(const Gap& gap, const PacketKinds& kinds) {
  if (gap.contents.size() == 1) {
    const std::string about = KindsText(gap, gap.contents.front(), kinds);
    return ContentText(gap.contents.front().content, about);
  }
  std::vector<std::string> parts;
  for (const ContentCount& content : gap.contents) {
    std::string about = KindsText(gap, content, kinds);
    if (!about.empty()) about = fmt::format(" ({})", about);
    parts.push_back(fmt::format("{} {}{}", ShareText(content.count.packets, gap.lost.packets),
                                ContentName(content.content), about));
  }
  return Joined(parts, ", ");
}

bool IsFilled(const Gap& gap) {
  return std::none_of(gap.causes.begin(), gap.causes.end(),
                      [](const CauseCount& cause) { return cause.fate == Fate::kOverwritten; });
}

std::string CulpritsText(const Gap& gap, const SessionNotes& notes) {
  constexpr size_t kNamed = 4;
  struct Share {
    SequenceKey sequence;
    uint64_t amount = 0;
  };
  std::vector<Share> shares;
  uint64_t all = 0;
  if (IsFilled(gap)) {
    for (const SequenceShare& share : gap.culprits) shares.push_back({share.sequence, share.bytes});
    all = gap.pushed_bytes();
  } else {
    all = gap.evicted_by_others;
    for (const EvictorCount& evictor : gap.evicted_by) {
      shares.push_back({evictor.sequence, evictor.packets});
      all += evictor.packets;
    }
  }
  if (all == 0) return "";
  std::vector<std::string> parts;
  uint64_t named = 0;
  for (const Share& share : shares) {
    if (parts.size() == kNamed) break;
    // The producer's name, unless it is that of the lost packets.
    const bool is_neighbour = share.sequence.producer == gap.sequence.producer;
    const std::string name = share.sequence == gap.sequence ? "itself"
                             : is_neighbour                 ? ToString(share.sequence)
                                                            : NameText(notes, share.sequence);
    parts.push_back(fmt::format("{} {}", ShareText(share.amount, all), name));
    named += share.amount;
  }
  if (named < all) parts.push_back(fmt::format("{} others", ShareText(all - named, all)));
  return Joined(parts, ", ");
}

std::string SignText(const Gap& gap) {
  const auto next = [&] {
    const std::string bits = LossBitsToString(gap.next->loss_bits);
    return fmt::format("in chunk #{} is flagged {}", gap.next->place.chunk,
                       bits == "present" ? "1" : bits);
  };
  switch (gap.sign) {
    case GapSign::kFlagged:
      return fmt::format("the next packet {}", next());
    case GapSign::kFlaggedFirst:
      return fmt::format(
          "the next packet {}; it is the sequence's first, so trace processor counts no loss",
          next());
    case GapSign::kFlaggedByWriter:
      return "the next packet is flagged by its writer";
    case GapSign::kV1First:
      return "nothing: V1 flags the first packet of every sequence, whether packets were lost or "
             "not";
    case GapSign::kNotFlagged:
      return "nothing: " + (gap.forgotten ? ForgottenText() : "the next packet is not flagged");
    case GapSign::kFlagInvalid:
      return fmt::format("nothing: the service refused the packet that is flagged {}",
                         LossBitsToString(gap.lost_bits));
    case GapSign::kNothingFollows:
      return "nothing: no later packet of the sequence was read";
  }
  return "";
}

std::string RemediesText(const Gap& gap, const ShownGaps& selection) {
  const SessionNotes& notes = selection.notes;
  const GapRemedies& remedies = gap.remedies;
  std::vector<std::string> parts;
  if (remedies.no_size_helps)
    return "no buffer size or read period helps: the sequence would still wait at the chunk that "
           "lacks its patch; find out why its writer never sent the patch";
  if (remedies.buffer_size)
    parts.push_back("a buffer of " +
                    SizeWithKb(*remedies.buffer_size));
  if (remedies.read_period_ns && *remedies.read_period_ns >= kShortestReadPeriodNs)
    parts.push_back(fmt::format("reading it {}every {}",
                                HasLimitedReads(gap, selection.report) ? "to its end " : "",
                                PeriodInWords(*remedies.read_period_ns)));
  if (remedies.separate)
    parts.push_back(
        fmt::format("a separate buffer for {}", NameText(notes, remedies.separate->sequence)));
  if (remedies.flush) parts.emplace_back("a flush before the read");
  if (remedies.larger_smb) parts.push_back(SharedMemoryRemedy(gap, selection.notes));
  if (parts.empty() && IsOutOfOrder(gap))
    return "no buffer size, read period or flush helps: the producer has to commit the chunks of a "
           "writer in the order of their ids";
  return Joined(parts, ", or ");
}

std::string BlameText(const Gap& gap, const SessionNotes& notes) {
  std::vector<std::string> parts;
  for (const GapBlame& blame : gap.blamed) {
    if (parts.size() == 3) {
      parts.push_back("...");
      break;
    }
    parts.push_back(BlamePart(gap, blame, notes));
  }
  if (gap.abort) parts.push_back(AbortText(*gap.abort));
  return Joined(parts, "; ");
}

std::string ForgottenText() {
  return fmt::format(
      "the next packet is not flagged, because the buffer had forgotten the sequence: it "
      "remembers the last chunk of only {} sequences that have no chunk in it",
      WithCommas(kForgets));
}

std::vector<std::string> ProofTexts(const Gap& gap) {
  std::vector<std::string> texts = {fmt::format("ringscope graph --around {}#{}",
                                                ToString(gap.sequence),
                                                static_cast<uint32_t>(gap.first.chunk))};
  if (gap.written.first.record && gap.decided.last.record)
    texts.push_back(fmt::format("ringscope dump --records {}..{}", *gap.written.first.record,
                                std::max(*gap.written.first.record, *gap.decided.last.record)));
  return texts;
}

std::string RuleText(FlagRule rule) {
  switch (rule) {
    case FlagRule::kV1First:
      return "V1 flags the first packet of every sequence";
    case FlagRule::kV1Again:
      return "V1 flags the first packet of the chunk with which a read of the sequence begins";
    case FlagRule::kReadmitted:
      return "v55 flags a chunk that is re-committed after it was read";
    case FlagRule::kCameAgain:
      return "a scraped chunk was evicted, and then re-committed with all its packets";
    case FlagRule::kNoPackets:
      return "the missing chunks in between had no packets";
    case FlagRule::kNotInLog:
      return "chunks in between are not in the log: whether they had packets is unknown";
    case FlagRule::kRecorderGap:
      return "the log itself reports that it is not complete there";
    case FlagRule::kAbortAhead:
      return "V2 flags the next packet that it returns after a writer aborts one; this packet was "
             "written before the aborted one";
    case FlagRule::kRememberedGap:
      return "the reader attributes an earlier gap in the chunk ids to them";
    case FlagRule::kLeftIncomplete:
      return "only an empty packet, or fragments that are part of no packet, were abandoned";
    case FlagRule::kFolded:
      return "what was overwritten before them is folded into a state (ProtoVM)";
  }
  return "";
}

}  // namespace ringscope
