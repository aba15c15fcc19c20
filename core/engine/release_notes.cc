#include <fmt/format.h>

#include "core/base/lookup.h"
#include "core/engine/catalogue.h"

namespace ringscope {

std::span<const ReleaseNote> ReleaseNotes() {
  static const std::vector<ReleaseNote> kNotes = {
      // V1 against V2.
      {nullptr,
       "Packets are returned sequence by sequence",
       "It reads chunks in buffer order, from the oldest on. Before the packets of a chunk it "
       "returns the older packets of the same sequence.",
       "It reads all packets of one sequence, then all of the next, in the order of producer and "
       "writer.",
       "The packets of a writer are contiguous in the trace. A pass that ends early has all "
       "packets of some writers and none of others.",
       {}},
      {nullptr,
       "The first packet of every sequence has a loss flag",
       "It sets previous_packet_dropped only where it knows of a loss, since v57 with the cause.",
       "It sets it to 0 or 1, and to 1 where the sequence's oldest chunk in the buffer was not "
       "read before.",
       "previous_packet_dropped is 1 on the first packet of every sequence, lost or not, so it "
       "means nothing there.",
       {}},
      {nullptr,
       "A commit keeps its whole payload",
       "It stores the bytes of the fragments that a complete chunk counts, rounded up to 16.",
       "It stores the payload as it was sent, including the unused rest of the chunk, and "
       "refuses a record of more than 65,535 bytes.",
       "A chunk that is hardly filled takes its full size: the same buffer holds less, and wraps "
       "earlier. The size of the buffer is not rounded up to 4,096 either.",
       {&BufferStats::buffer_size, &BufferStats::bytes_written, &BufferStats::write_wrap_count}},
      {nullptr,
       "Chunks stay after they are read",
       "It removes a chunk once it is read, and remembers the last one of each sequence.",
       "It keeps a chunk until its space is needed, and remembers how much of it was read. In "
       "discard mode, the space of chunks that were read is used again.",
       "A discard buffer that is read while it fills continues to accept chunks. An old chunk "
       "that is committed again after it was overwritten counts as new, so its packets can "
       "appear twice.",
       {&BufferStats::chunks_discarded, &BufferStats::padding_bytes_written,
        &BufferStats::padding_bytes_cleared}},
      {nullptr,
       "A missing chunk id ends the sequence for the pass",
       "It reads the chunks on both sides of the gap, and flags the first packet after it.",
       "It reads the chunks up to the gap. Since those stay in the buffer, each further pass and "
       "each clone stops there, too: of the chunks 1, 2, 5 and 6 it reads 1 and 2, and it reads 5 "
       "and 6 only when 1 and 2 were overwritten or 3 and 4 have arrived.",
       "The newest packets of a writer are missing, although its chunks are in the buffer, and "
       "nothing flags it.",
       {}},
      {nullptr,
       "An overwrite drops whole chunks",
       "It reads the sequence up to the chunk that is overwritten, so it knows which packets are "
       "lost.",
       "It counts a chunk with unread fragments as overwritten, and drops it.",
       "Only the count of chunks reports an overwrite. The next packet of the sequence has the "
       "same 1 that it would have anyway.",
       {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten}},
      {nullptr,
       "Fragments are checked when they are read",
       "It checks the fragments of a chunk when it is committed, and counts what is wrong with "
       "them then.",
       "It stores a chunk unchecked. Invalid fragments, and packets that their writer aborted, "
       "are counted when a read reaches them; the rest of the chunk is dropped then.",
       "What was overwritten unread is in neither counter, and the packets after an abort marker "
       "in its chunk are lost, too.",
       {&BufferStats::abi_violations, &BufferStats::trace_writer_packet_loss}},
      {nullptr,
       "A missing patch stalls the whole chunk",
       "It stalls a sequence at the packet that is incomplete. Complete packets before it are "
       "returned, also those in the same chunk.",
       "It stalls before a chunk that needs patching, with all packets in it.",
       "Complete packets before an unpatched one, in the same chunk, are missing from the pass. "
       "If the patch is never sent, they are lost when the chunk is overwritten.",
       {&BufferStats::readaheads_failed, &BufferStats::patches_failed}},
      {nullptr,
       "A re-commit must have the same size",
       "It accepts a re-commit of a scraped chunk with more fragments, up to the chunk's size in "
       "the buffer, also after it was read.",
       "It accepts a re-commit only with the same record size, and not after a later chunk of "
       "the sequence was read. With the same number of fragments the re-commit changes nothing: "
       "the chunk stays incomplete.",
       "A scraped chunk can stay unread: in every pass the sequence ends there, until the chunk "
       "is overwritten.",
       {&BufferStats::chunks_rewritten, &BufferStats::abi_violations}},

      // v55 against v54.
      {&V2Rules::readmits_grown_chunk,
       "An incomplete chunk can be re-committed after it was read",
       "A chunk that was scraped and read is discarded when its writer commits it.",
       "It is accepted if it has grown, without the part that was read.",
       "Before, packets that a writer adds to its chunk after a scrape are lost, such as one for "
       "a flush: only what the scrape copied is in the trace. Since, they are in the trace.",
       {&BufferStats::chunks_discarded, &BufferStats::chunks_written}},
      {&V2Rules::scrape_keeps_incomplete,
       "A second scrape keeps a chunk incomplete",
       "A second scrape of a chunk that is still in the buffer makes it complete, if it adds "
       "nothing.",
       "Only the commit of its writer makes it complete.",
       "Before, a chunk that was scraped twice is consumed as if it were complete, and what its "
       "writer adds later is discarded. Since, the read waits for the writer.",
       {&BufferStats::chunks_discarded, &BufferStats::chunks_rewritten}},
      {&V2Rules::wraps_at_next_commit,
       "The write cursor waits at the end of the buffer",
       "When a chunk ends exactly at the end, the cursor returns to the start at once, and that "
       "is not counted as a wrap.",
       "It stays at the end. The next commit wraps, and counts the wrap.",
       "Before, write_wrap_count can stay 0 in a buffer that was overwritten many times, and a "
       "read at that moment begins elsewhere.",
       {&BufferStats::write_wrap_count}},
      {&V2Rules::wraps_at_next_commit,
       "A discard buffer that is exactly full accepts no more",
       "As the cursor is back at the start, a buffer that its chunks fill to the last byte "
       "continues to write, over its oldest data.",
       "The next commit finds no space and is discarded, as are all later ones.",
       "Before, a discard buffer can lose its oldest data, which it exists to keep, and no "
       "counter shows a discarded chunk.",
       {&BufferStats::chunks_discarded, &BufferStats::chunks_overwritten,
        &BufferStats::bytes_overwritten}},

      // v56 against v55.
      {&V2Rules::readmission_is_no_gap,
       "A re-committed chunk is not flagged as a gap",
       "When a chunk that was read while incomplete is re-committed, its next packet is flagged "
       "as following a gap.",
       "Its next packet is not flagged.",
       "In v55 previous_packet_dropped is set where nothing is missing: after each scrape that "
       "was followed by a read. In v54 such a chunk is discarded, so no packet of it can be "
       "flagged.",
       {}},
      {&V2Rules::recommit_before_evict,
       "A re-commit evicts nothing",
       "Each commit first wraps and evicts chunks at the write cursor, and then checks whether "
       "the chunk is already in the buffer. What was evicted stays evicted, even the older copy "
       "of the same chunk.",
       "A chunk that is already in the buffer is changed in place, and nothing is evicted.",
       "Before, each re-commit after a scrape evicts chunks without need: a buffer loses more "
       "packets than what is written to it explains, and parts of it stay empty.",
       {&BufferStats::chunks_overwritten, &BufferStats::padding_bytes_written,
        &BufferStats::padding_bytes_cleared, &BufferStats::write_wrap_count,
        &BufferStats::chunks_rewritten}},
      {&V2Rules::counts_lost_fragments,
       "chunks_overwritten counts chunks with lost fragments",
       "Each chunk that is at the write cursor when space is cleared counts as overwritten, with "
       "or without unread fragments. Other chunks of its sequence that lose fragments by it do "
       "not count.",
       "A chunk counts when its last unread fragment is lost to an overwrite.",
       "The same losses give other numbers: do not compare these counters of v55 and v56.",
       {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten}},
      {&V2Rules::clearing_consumes_fragments,
       "An overwrite consumes all fragments of a packet",
       "When the start of a packet that waits for a patch or for its rest is overwritten, its "
       "fragments in later chunks stay, until a read finds them as continuations without a "
       "start.",
       "They are consumed together with the start.",
       "The same packets are lost. Before, chunks with only such fragments count as read; since, "
       "as overwritten.",
       {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten,
        &BufferStats::chunks_read, &BufferStats::bytes_read}},

      // v57 against v56.
      {&V2Rules::reports_loss_causes,
       "previous_packet_dropped reports the cause",
       "It is 0 or 1.",
       "It has a bit for each cause: read_gap, chunk_corrupted, orphan_continuation, "
       "reassembly_gap, reassembly_broken_chain, overwrite, writer_abort.",
       "Before, a trace shows that something is missing, but not why. The same packets are "
       "flagged.",
       {}},

      // v58 against v57.
      {&V2Rules::allows_writer_drop,
       "An abort marker is not a violation",
       "A packet that its writer aborted counts as a lost packet and as a violation of the ABI.",
       "It counts as a lost packet only.",
       "Before, abi_violations increases with every packet that a writer drops, for example when "
       "its shared memory is full, though no producer misbehaves.",
       {&BufferStats::abi_violations, &BufferStats::trace_writer_packet_loss}},
      {&V2Rules::relocates_completed_chunk,
       "A chunk that is completed later moves to the write cursor",
       "A scraped chunk that was read and is completed later is changed in place, among the "
       "oldest chunks. There is no counter chunks_relocated in v54, and later it stays 0.",
       "In a ring, if it is the first of its sequence, it is removed and written again at the "
       "write cursor.",
       "Before, the packets that such a chunk adds are the next to be overwritten, although they "
       "are the newest: in a busy buffer, a writer that writes rarely loses its last data.",
       {&BufferStats::chunks_relocated, &BufferStats::chunks_rewritten,
        &BufferStats::chunks_written, &BufferStats::chunks_overwritten}},
  };
  return kNotes;
}

std::string ReleaseNote::engine() const {
  const NamedRule* const named = FindBy(kNamedRules, rule, &NamedRule::rule);
  return named == nullptr ? "v1" : fmt::format("v2@{}", named->since);
}

std::vector<const ReleaseNote*> NotesOf(std::string_view engine) {
  std::vector<const ReleaseNote*> notes;
  for (const ReleaseNote& note : ReleaseNotes())
    if (engine == note.engine()) notes.push_back(&note);
  return notes;
}

const char* CounterName(uint64_t BufferStats::*counter) {
  return FindBy(kStatFields, counter, &StatField::value)->name;
}

}  // namespace ringscope
