#include "core/release_notes.h"

#include <algorithm>

namespace ringscope {

std::span<const ReleaseNote> ReleaseNotes() {
  static const std::vector<ReleaseNote> kNotes = {
      // V1 against V2.
      {"v1",
       nullptr,
       "Packets come sequence by sequence",
       "It reads in the order of the buffer: from the oldest chunk on, each with what its sequence "
       "has before it.",
       "It reads all of one sequence, then all of the next, in the order of producer and writer.",
       "Packets of different writers lie in the trace in blocks. A pass that ends early has all of "
       "some writers and nothing of others.",
       {}},
      {"v1",
       nullptr,
       "Every sequence starts with a loss flag",
       "It sets previous_packet_dropped only where something is known to be missing, since v57 "
       "with "
       "the cause.",
       "It answers 0 or 1, and 1 where the oldest chunk of a sequence in the buffer has not been "
       "read "
       "from.",
       "previous_packet_dropped is 1 on the first packet of every sequence, lost or not: it says "
       "nothing there.",
       {}},
      {"v1",
       nullptr,
       "A commit keeps its whole payload",
       "It stores the bytes of the fragments that a complete chunk counts, rounded up to 16.",
       "It stores the payload as it was sent, unused rest included, and cannot take a record of "
       "more "
       "than 65,535 bytes.",
       "Chunks that are hardly filled take their full size: the same buffer holds less, and wraps "
       "earlier. The buffer's size is not rounded up to 4,096 either.",
       {&BufferStats::buffer_size, &BufferStats::bytes_written, &BufferStats::write_wrap_count}},
      {"v1",
       nullptr,
       "What is read stays",
       "It takes a chunk out once it is read, and remembers the sequence's last one.",
       "It leaves a chunk where it is until its room is needed, and remembers how much of it was "
       "read. "
       "In discard mode, room taken by chunks that were read is used again.",
       "A discard buffer that is read while it fills goes on taking chunks. An old chunk that "
       "comes "
       "again after it was overwritten is taken as a new one, so that packets can appear twice.",
       {&BufferStats::chunks_discarded, &BufferStats::padding_bytes_written,
        &BufferStats::padding_bytes_cleared}},
      {"v1",
       nullptr,
       "Overwriting looks at whole chunks",
       "It reads a sequence up to the chunk that has to go, and so knows which packets are lost.",
       "It counts a chunk with anything unread in it as overwritten, and forgets it.",
       "Only the count of chunks tells of an overwrite; the next packet of the sequence carries "
       "the "
       "same 1 that it would have carried anyway.",
       {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten}},
      {"v1",
       nullptr,
       "Fragments are looked at when they are read",
       "It looks at a chunk's fragments when it is committed, and counts what is wrong with them "
       "then.",
       "It takes a chunk as it is. Fragments that are not sound, and packets that their writer "
       "gave "
       "up, are counted as a read meets them; the rest of the chunk is then given up.",
       "What was overwritten unread is in neither counter, and the packets behind an abort marker "
       "in "
       "its chunk are lost with it.",
       {&BufferStats::abi_violations, &BufferStats::trace_writer_packet_loss}},
      {"v1",
       nullptr,
       "A missing patch holds up the whole sequence",
       "It holds a sequence back at the packet that is not complete yet; whole packets before it, "
       "also in the same chunk, are returned.",
       "It stops in front of a chunk that needs patching, with all that is in it.",
       "Whole packets in front of an unpatched one are missing from the pass. If the patch never "
       "comes, they are lost when the chunk is overwritten.",
       {&BufferStats::readaheads_failed, &BufferStats::patches_failed}},
      {"v1",
       nullptr,
       "A chunk comes again only unchanged in size",
       "It takes a scraped chunk again with more fragments, within the room that it has, also "
       "after "
       "it was read.",
       "It takes a chunk again only with the same record size, and not once a later chunk was "
       "read; "
       "with the same number of fragments it changes nothing, not even that it is complete now.",
       "A writer that was scraped can stay unread from that chunk on: its sequence ends there in "
       "every pass until the chunk is overwritten.",
       {&BufferStats::chunks_rewritten, &BufferStats::abi_violations}},

      // v55 against v54.
      {"v2@55",
       &V2Rules::readmits_grown_chunk,
       "A consumed incomplete chunk may come again",
       "A chunk that was scraped and read out is discarded when its writer commits it.",
       "It is taken in again if it has grown, without the part that was read.",
       "Before, packets that a writer puts into its chunk after a scrape, such as one for a flush, "
       "are lost: they end with the part that the scrape saw. Since, they are there.",
       {&BufferStats::chunks_discarded, &BufferStats::chunks_written}},
      {"v2@55",
       &V2Rules::scrape_keeps_incomplete,
       "Another scrape keeps a chunk incomplete",
       "A second scrape of a chunk that is still in the buffer makes it count as complete, if it "
       "brings nothing new.",
       "Only the writer's own commit completes it.",
       "Before, a chunk that was scraped twice is consumed as if it were final, and what its "
       "writer "
       "adds later is discarded. Since, it waits for its writer.",
       {&BufferStats::chunks_discarded, &BufferStats::chunks_rewritten}},
      {"v2@55",
       &V2Rules::wraps_at_next_commit,
       "The write cursor waits at the buffer's end",
       "It returns to the start at once when a chunk ends exactly at the end, and that is not "
       "counted as a wrap.",
       "It stays at the end; the next commit wraps, and counts it.",
       "Before, write_wrap_count can stay 0 in a buffer that was overwritten many times, and a "
       "read "
       "right then starts elsewhere.",
       {&BufferStats::write_wrap_count}},
      {"v2@55",
       &V2Rules::wraps_at_next_commit,
       "A discard buffer that is exactly full is sealed",
       "As the cursor is back at the start, a buffer that its chunks fill to the last byte goes on "
       "writing, over its oldest data.",
       "The next commit finds no room, seals the buffer and is discarded, as any that does not "
       "fit.",
       "Before, a discard buffer can lose its start, which it is there to keep, and none of it "
       "shows "
       "as discarded.",
       {&BufferStats::chunks_discarded, &BufferStats::chunks_overwritten,
        &BufferStats::bytes_overwritten}},

      // v56 against v55.
      {"v2@56",
       &V2Rules::readmission_is_no_gap,
       "A chunk that comes again is no gap",
       "When a chunk that was read while incomplete is taken in again, its next packet is marked "
       "as "
       "behind a gap.",
       "It follows itself, without a mark.",
       "In v55 previous_packet_dropped is set where nothing is missing: behind each scrape that a "
       "read followed. In v54 there is no re-admission, so that nothing can be marked.",
       {}},
      {"v2@56",
       &V2Rules::recommit_before_evict,
       "A re-commit is found before room is made",
       "Each commit first wraps and clears room at the write cursor, then looks whether the chunk "
       "is "
       "already there. What was cleared stays cleared, even the chunk's own older copy.",
       "A chunk that is already there is changed in place, and nothing is evicted.",
       "Before, scrapes and their commits evict chunks in vain: a buffer loses more packets than "
       "its fill explains, and parts of it stay empty.",
       {&BufferStats::chunks_overwritten, &BufferStats::padding_bytes_written,
        &BufferStats::padding_bytes_cleared, &BufferStats::write_wrap_count,
        &BufferStats::chunks_rewritten}},
      {"v2@56",
       &V2Rules::counts_lost_fragments,
       "chunks_overwritten counts lost fragments",
       "Each chunk that is met while room is made counts as overwritten, with or without unread "
       "fragments in it; others of its sequence that go with it do not.",
       "A chunk counts when its last unread fragment is lost to an overwrite.",
       "The same losses give other numbers: never compare these counters across v55 and v56.",
       {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten}},
      {"v2@56",
       &V2Rules::clearing_consumes_pieces,
       "Clearing consumes pieces of a packet",
       "Where a packet loses its start to an overwrite while it waits for a patch or for its rest, "
       "its "
       "pieces in later chunks stay, until a read meets them as the continuation of nothing.",
       "They are consumed with the start.",
       "The same packets are lost. Before, chunks that hold nothing but such pieces count as read; "
       "since, as overwritten.",
       {&BufferStats::chunks_overwritten, &BufferStats::bytes_overwritten,
        &BufferStats::chunks_read, &BufferStats::bytes_read}},

      // v57 against v56.
      {"v2@57",
       &V2Rules::tells_loss_causes,
       "previous_packet_dropped tells the cause",
       "It is 0 or 1.",
       "It has a bit for each cause: read_gap, chunk_corrupted, orphan_continuation, "
       "reassembly_gap, reassembly_broken_chain, overwrite, writer_abort.",
       "Before, a trace says that something is missing, not why. The same packets carry the mark.",
       {}},

      // v58 against v57.
      {"v2@58",
       &V2Rules::allows_writer_drop,
       "An abort marker is no violation",
       "A packet that its writer gave up counts as a lost packet and as a violation of the ABI.",
       "It counts as a lost packet alone.",
       "Before, abi_violations goes up with every packet that a writer drops, for example when its "
       "shared memory is full, though no producer misbehaves.",
       {&BufferStats::abi_violations, &BufferStats::trace_writer_packet_loss}},
      {"v2@58",
       &V2Rules::relocates_completed_chunk,
       "A chunk completed late moves to the cursor",
       "A scraped chunk that was read out and is completed later is changed where it lies, among "
       "the "
       "oldest chunks. There is no chunks_relocated (v54), or it stays 0.",
       "In a ring, if it is the first of its sequence, it is taken out and written anew at the "
       "write "
       "cursor.",
       "Before, the packets that such a chunk brings are the next to be overwritten, although they "
       "are the newest: the end of a quiet writer's data is lost in a busy buffer.",
       {&BufferStats::chunks_relocated, &BufferStats::chunks_rewritten,
        &BufferStats::chunks_written, &BufferStats::chunks_overwritten}},
  };
  return kNotes;
}

std::vector<const ReleaseNote*> NotesOf(std::string_view engine) {
  std::vector<const ReleaseNote*> notes;
  for (const ReleaseNote& note : ReleaseNotes())
    if (engine == note.engine) notes.push_back(&note);
  return notes;
}

const char* CounterName(uint64_t BufferStats::*counter) {
  return std::find_if(kStatFields.begin(), kStatFields.end(),
                      [&](const StatField& field) { return field.value == counter; })
      ->name;
}

}  // namespace ringscope
