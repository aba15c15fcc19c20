#include "commands/shell/words.h"

namespace ringscope {

std::span<const Word> Words() {
  static constexpr Word kWords[] = {
      {"packet",
       "A piece of a trace, such as the begin of a slice or a bundle of scheduler events. Losses "
       "are counted in packets where the log shows them."},
      {"sequence",
       "The packets of one writer, a thread or a data source, in order. Its number is "
       "trusted_packet_sequence_id in the trace; a log also names it PRODUCER:WRITER."},
      {"producer",
       "A process that writes packets: an app, traced_probes, traced_perf. Each shares memory with "
       "the service."},
      {"buffer",
       "Memory of the service, buffers[0] and so on as in the config, of size_kb. What is in it "
       "when it is read becomes the trace."},
      {"gap",
       "A run of missing packets of a sequence: those before and after it are there. 'ringscope "
       "gaps' has the cause of each."},
      {"reach",
       "How far back a ring buffer goes when it is read. A larger size_kb reaches further."},
      {"incremental state",
       "Names and other things that a sequence states once; later packets refer to them by "
       "number. clear_period_ms has them stated again."},
      {"usable",
       "A packet whose incremental state is there. Others are in the trace, and the UI cannot show "
       "them: see clear_period_ms."},
      {"chunk",
       "A page of shared memory, or a part of one, that a writer fills with packets and commits to "
       "a buffer. A buffer overwrites whole chunks."},
      {"fragment",
       "The part of a packet that is in one chunk. A packet can be read when all its fragments are "
       "there."},
      {"commit",
       "The request by which a producer hands chunks to the service, which copies them into "
       "buffers."},
      {"patch",
       "Bytes, mostly the size of a message, that a writer knows only after it has committed the "
       "chunk. Until they come, reads of the sequence stop there."},
      {"stall",
       "Reads of a sequence that stop at a chunk which lacks a patch, or which its writer still "
       "fills. A flush ends most of them; what waits too long is overwritten."},
      {"overwrite",
       "A full ring buffer puts a new chunk in the place of the oldest ones. Raise size_kb, or "
       "read more often (file_write_period_ms)."},
      {"discard",
       "A full buffer with fill_policy DISCARD refuses new chunks: the end of the session is "
       "missing. Raise size_kb, or use RING_BUFFER to keep the end."},
      {"evicted by",
       "The sequence whose new chunks took the place of the overwritten ones. A buffer of its own "
       "keeps it away from the others."},
      {"abort",
       "A writer drops a packet that it has begun because it finds no free chunk in the shared "
       "memory. Raise shm_size_kb, or write smaller packets."},
      {"shared memory",
       "Where a producer's writers fill chunks until the service has copied them. While it is "
       "full, packets are dropped, and nobody counts them."},
      {"flush",
       "The service asks producers to commit what they have, at the end and every "
       "flush_period_ms. A producer that does not answer in time misses it."},
      {"scrape",
       "At a flush the service takes the chunks that writers still fill. The packet that a writer "
       "had not finished is missing."},
      {"read pass",
       "One reading of a buffer into the trace: at the end, or every file_write_period_ms. Packets "
       "are read once."},
      {"clone",
       "A copy of a running session's buffers, each at one moment. What comes later is not in it."},
      {"flag",
       "previous_packet_dropped: by it the buffer tells that packets of the sequence are missing "
       "before this one, and newer versions why."},
      {"log",
       "What producers committed in a session, recorded by 'ringscope record'. With it every "
       "packet's fate is known; a trace shows only what came out."},
      {"engine",
       "A version of Perfetto's buffer that a log is replayed with: v1, v2@54 to v2@58. 'ringscope "
       "engines' explains them."},
  };
  return kWords;
}

}  // namespace ringscope
