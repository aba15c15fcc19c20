#include "commands/gaps/gaps_words.h"

#include "core/examine/loss_words.h"

namespace ringscope {
namespace {

/// "none of 64 chunks was free, 60 being written by 4 writers, ..."
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
  const char* text = RowOf(abort.reason).proof;
  if (abort.reason == AbortReason::kBurst && abort.full)
    text = ": {full}, {since} after the producer's last commit";
  return fmt::format(fmt::runtime(std::string("{reason}") + text),
                     fmt::arg("reason", RowOf(abort.reason).text),
                     fmt::arg("size", abort.smb_size ? HumanSize(*abort.smb_size) : "unknown size"),
                     fmt::arg("window", fmt::format("{} in {}", HumanSize(abort.window_bytes),
                                                    HumanDuration(abort.kWindowNs))),
                     fmt::arg("packet", HumanSize(abort.packet_bytes)),
                     fmt::arg("quiet", HumanDuration(abort.quiet_ns)),
                     fmt::arg("held", HumanDuration(abort.held_ns)),
                     fmt::arg("waiting", HumanDuration(abort.waiting_ns)),
                     fmt::arg("since", HumanDuration(abort.since_commit_ns)),
                     fmt::arg("full", abort.full ? FullText(*abort.full) : ""));
}

/// "1.0 ms after ", or "after " where the times are not known.
std::string AfterText(const LogMoment& later, const LogMoment& earlier) {
  if (!later.time_ns || !earlier.time_ns || *later.time_ns < *earlier.time_ns) return "after ";
  return HumanDuration(*later.time_ns - *earlier.time_ns) + " after ";
}

/// How the wait at a chunk went: "2 read passes stopped at it, it was overwritten in record 12 (20
/// ms) for 3.97 KiB of newer data, 91.3% of it by sequence 3, and its patch came in record 14 (21
/// ms), 1.0 ms after that".
std::string WaitText(const Stall& stall, const SessionNotes& notes) {
  return fmt::format(
      "{} stopped at it, it was {} in {}{}, and its patch {}", Count(stall.passes, "read"),
      stall.end == StallEnd::kCloned ? "taken for a clone" : "overwritten",
      MomentText(notes, stall.ended),
      stall.newer_size == 0
          ? ""
          : fmt::format(" for {} of newer data, {} of it by {}", HumanSize(stall.newer_size),
                        ShareText(stall.newer_by_size, stall.newer_size),
                        notes.NameOf(stall.newer_by)),
      stall.patched ? fmt::format("came in {}, {}{}", MomentText(notes, *stall.patched),
                                  AfterText(*stall.patched, stall.cloned.value_or(stall.ended)),
                                  stall.cloned ? "the clone" : "that")
                    : "is not in the log");
}

/// ", and the writer's id was given out again at 6.5 ms"; empty: the log does not show that.
std::string GivenAgainText(const Gap& gap, const SessionNotes& notes) {
  const std::optional<uint64_t> at_ns = notes.GivenAgainAt(gap.sequence);
  return at_ns ? ", and the writer's id was given out again at " + TimeText(notes, at_ns) : "";
}

std::string BlamePart(const Gap& gap, const GapBlame& blame, const SessionNotes& notes) {
  const char* text = "{packets} broken by the patch in {at}";
  if (blame.cause == Cause::kAwaitedPatch) {
    text = "chunk {chunk} of {sequence} waited for a patch from {at} on: {wait}";
  } else if (blame.cause == Cause::kBehindStall) {
    text = "{packets} after chunk {chunk}, which waited for a patch from {at} on: {wait}";
  } else if (blame.cause == Cause::kWrongPatch) {
    text = "{packets} by the patch in {at}";
  } else if (blame.cause == Cause::kIdsReused) {
    text =
        "{packets} under chunk ids that the buffer had before: {chunk} had left it at {at}{again}";
  } else if (blame.cause == Cause::kAlreadyConsumed) {
    text = blame.chunk && blame.chunk->chunk == IdOf(gap.first.chunk)
               ? "chunk {chunk} had been scraped, and left the buffer at {at}"
               : "committed out of order: the newer chunk {chunk} had left the buffer at {at}, and "
                 "the buffer accepts no older one after that";
  }
  return fmt::format(
      fmt::runtime(text),
      fmt::arg("chunk", blame.chunk ? fmt::format("#{}", Raw(blame.chunk->chunk)) : "?"),
      fmt::arg("packets", Count(blame.count.packets, "packet")),
      fmt::arg("again", GivenAgainText(gap, notes)),
      fmt::arg("wait", blame.stall ? WaitText(*blame.stall, notes) : "it was overwritten"),
      fmt::arg("at", MomentText(notes, blame.at)),
      fmt::arg("sequence", notes.NameOf(gap.sequence)));
}

/// Names of what the packets of a content are about; may be empty.
std::string KindsText(const Gap& gap, const ContentCount& content, const PacketKinds& kinds) {
  SharesOf parts;
  for (const ContentCount& kind : gap.kinds)
    if (kind.content == content.content)
      parts.emplace_back(kinds.NameOf(kind.kind), kind.count.packets);
  if (!parts.empty() && parts.front().second == content.count.packets) return parts.front().first;
  return SharesText(parts, content.count.packets, 3);
}

using protovm::VmAccount;
using protovm::VmFailure;

std::string SourceText(const VmAccount& vm) {
  return vm.data_source.empty() ? std::string("(no name)") : Printable(vm.data_source);
}

/// Facts about a program beside its counts, a sentence each.
std::vector<std::string> ProgramNotes(const VmAccount& vm, BufferId buffer) {
  std::vector<std::string> notes;
  if (vm.by_engine)
    notes.push_back(fmt::format(
        "buffer {} runs it itself, so that all that it folded counts as lost", Raw(buffer)));
  if (vm.left) notes.emplace_back("its state left with the buffer's content, for a clone");
  if (vm.limit_reached)
    notes.push_back(fmt::format("at its memory limit of {} since record {}: it dropped {} and {}",
                                HumanSize(vm.limit), vm.limit_reached->record.value_or(0),
                                Count(vm.at_limit.packets, "packet"),
                                Count(vm.dropped_elements, "element")));
  for (const VmFailure& failure : vm.failures)
    notes.push_back(fmt::format("{} ended with {} at {}: {}", Count(failure.count.packets, "run"),
                                Name(failure.result), failure.place, RowOf(failure.reason).text));
  return notes;
}

}  // namespace

std::string LostText(const FateCount& lost, uint64_t places) {
  const std::string packets =
      fmt::format("{} ({})", Count(lost.packets, "packet"), HumanSize(lost.bytes));
  if (places == 0) return packets;
  const std::string more = "at " + Count(places, "place");
  return lost.packets == 0 ? "packets " + more : fmt::format("{} and more {}", packets, more);
}

std::string ContentsText(const Gap& gap, const PacketKinds& kinds) {
  if (gap.contents.size() == 1) {
    const std::string about = KindsText(gap, gap.contents.front(), kinds);
    return ContentName(gap.contents.front().content) + (about.empty() ? "" : ": " + about);
  }
  SharesOf parts;
  for (const ContentCount& content : gap.contents) {
    const std::string about = KindsText(gap, content, kinds);
    parts.emplace_back(
        ContentName(content.content) + (about.empty() ? "" : fmt::format(" ({})", about)),
        content.count.packets);
  }
  return SharesText(parts, gap.lost.packets, parts.size());
}

bool IsFilled(const Gap& gap) {
  return std::ranges::find(gap.causes, Fate::kOverwritten, &CauseCount::fate) == gap.causes.end();
}

std::string TakersText(const Gap& gap, const ShownGaps& selection) {
  SharesOf parts;
  uint64_t all = 0;
  const auto add = [&](SequenceKey sequence, uint64_t amount) {
    // The producer's name, unless it is that of the lost packets.
    parts.emplace_back(sequence == gap.sequence ? "itself"
                       : sequence.producer == gap.sequence.producer
                           ? ToString(sequence)
                           : selection.notes.NameOf(sequence),
                       amount);
    all += amount;
  };
  if (!IsFilled(gap)) {
    for (const EvictorCount& each : gap.evicted_by) add(each.sequence, each.packets);
    all += gap.evicted_by_others;
  } else if (gap.Has(Cause::kSealed) || gap.Has(Cause::kFull)) {
    const BufferGaps& buffer = *selection.report.Find(gap.buffer);
    for (const SequenceShare& each : buffer.filled_by) add(each.sequence, each.bytes);
    all += buffer.filled_by_others;
  }
  return SharesText(parts, all, 4);
}

std::string BlameText(const Gap& gap, const SessionNotes& notes) {
  std::vector<std::string> parts;
  const GapBlame* before = nullptr;
  for (const GapBlame& blame : gap.blamed) {
    const bool is_same_stall =
        before != nullptr && blame.cause == Cause::kBehindStall && before->chunk == blame.chunk;
    before = &blame;
    parts.push_back(parts.size() == 3 ? "..."
                    : is_same_stall   ? Count(blame.count.packets, "packet") + " after it"
                                      : BlamePart(gap, blame, notes));
    if (parts.size() > 3) break;
  }
  if (gap.abort) parts.push_back(AbortText(*gap.abort));
  return Joined(parts, "; ");
}

std::string SignText(GapSign sign, uint32_t bits, std::optional<uint64_t> chunk, bool forgotten) {
  const std::string names = LossBitsText(bits);
  std::string text = fmt::format(fmt::runtime(RowOf(sign).text),
                                 fmt::arg("in", chunk ? fmt::format(" in chunk #{}", *chunk) : ""),
                                 fmt::arg("bits", names == "present" ? "1" : names));
  if (sign == GapSign::kNotFlagged && forgotten)
    text += fmt::format(
        ", because the buffer had forgotten the sequence: it remembers the last chunk of only {} "
        "sequences that have no chunk in it",
        WithCommas(kForgets));
  return text;
}

std::string StallText(const OpenStall& stall, const SessionNotes& notes) {
  if (stall.patched)
    return fmt::format(
        "waited for a patch of chunk #{}, committed at {}: it came at {}, {}the clone",
        Raw(stall.at->chunk), MomentText(notes, stall.since),
        TimeText(notes, stall.patched->time_ns), AfterText(*stall.patched, *stall.cloned));
  if (stall.cause == Cause::kUnknown)
    return "in the buffer; the engine does not report what they wait for";
  if (!stall.at) return "in the buffer, but a read would abandon them";
  const bool is_patch = stall.cause == Cause::kWaitsForPatch;
  const bool is_next = stall.cause == Cause::kWaitsForChunk;
  const char* text =
      is_patch ? "wait for a patch of chunk #{}, committed at {}; no buffer size helps; the patch "
                 "is not in the log"
      : is_next && stall.went_on
          ? "wait for the chunk after #{}, committed at {}; its writer finished that chunk, as it "
            "committed later ones: its commit is missing, and no flush is known to help"
      : is_next ? "wait for the chunk after #{}, committed at {}; a flush before the last read, if "
                  "the writer still had the rest"
      : stall.went_on
          ? "wait for the completion of chunk #{}, scraped at {}; its writer had finished the "
            "chunk, as it committed later ones: its commit is missing, and no flush is known to "
            "help"
          : "wait for the completion of chunk #{}, scraped at {}; a flush before the last read: "
            "the writer still had the chunk";
  return fmt::format(fmt::runtime(text), Raw(stall.at->chunk), MomentText(notes, stall.since));
}

void ListFields(JsonFieldWriter& io, const protovm::VmFailure& failure) {
  io("result", failure.result, "reason", failure.reason, "instruction", failure.place, "text",
     RowOf(failure.reason).text, "packets", failure.count.packets, "first", failure.first);
}

void PrintPrograms(Report& out, const ReplayOutcome& outcome) {
  Table table({Left("program of"), Right("buffer"), Right("folded"), Right("in trace"),
               Right("errors"), Right("aborted"), Right("state"), Right("memory"), Right("limit")});
  std::vector<std::string> notes;
  for (const BufferOutcome& buffer : outcome.buffers)
    for (const VmAccount& vm : buffer.vms) {
      table.AddRow({SourceText(vm), NumberCell(Raw(buffer.id)), CountCell(vm.folded.packets),
                    CountCell(vm.in_trace.packets), CountCell(vm.errors), CountCell(vm.aborted),
                    BytesCell(vm.state_bytes), BytesCell(vm.memory), BytesCell(vm.limit)});
      for (const std::string& note : ProgramNotes(vm, buffer.id))
        notes.push_back(fmt::format("{}: {}", SourceText(vm), note));
    }
  if (table.empty()) return;
  out.Heading("Programs (ProtoVM), which fold what is overwritten into states");
  out.Print(table, 2);
  for (const std::string& note : notes) out.Paragraph(note, "  ");
}

Json ProgramsJson(const ReplayOutcome& outcome) {
  Json programs = Json::array();
  for (const BufferOutcome& buffer : outcome.buffers)
    for (const VmAccount& vm : buffer.vms) {
      const Json at_limit = JsonOf("packets", vm.at_limit.packets, "elements", vm.dropped_elements,
                                   "first", vm.limit_reached);
      programs.push_back(
          JsonOf("data_source", vm.data_source, "buffer", buffer.id, "folded", vm.folded,
                 "in_trace", vm.in_trace, "errors", vm.errors, "aborted", vm.aborted, "at_limit",
                 at_limit, "state_bytes", vm.state_bytes, "memory", vm.memory, "peak_memory",
                 vm.peak_memory, "memory_limit", vm.limit, "program_bytes", vm.program_bytes,
                 "failures", vm.failures, "by_engine", vm.by_engine, "left_with_buffer", vm.left));
    }
  return programs;
}

}  // namespace ringscope
