#include "formats/sqlite/sqlite_schema.h"

#include <string_view>

#include "core/base/wire.h"

namespace ringscope {

bool IsOwnDatabase(Bytes start) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  constexpr size_t kApplicationId = 68;  // its place, of 4 bytes in big-endian order
  if (start.size() < kApplicationId + 4 || !wire::AsText(start).starts_with(kMagic)) return false;
  uint32_t id = 0;
  for (const uint8_t byte : start.subspan(kApplicationId, 4)) id = id << 8 | byte;
  return id == kSqliteApplicationId;
}

const char* const kSqliteTables = R"sql(
CREATE TABLE sessions (
  -- One row per session of the input. Times everywhere are nanoseconds of the log's clock
  -- (CLOCK_BOOTTIME), and records are numbers of the log's records, as 'ringscope dump' shows them.
  id INTEGER PRIMARY KEY,     -- number of the session in the input, from 1
  log TEXT NOT NULL,          -- name of its file, or '-'
  uuid TEXT,
  tool TEXT,                  -- that wrote the log
  source TEXT NOT NULL,       -- how the log was made: imported, shm, inline, scraped, synthetic
  host TEXT,
  clock TEXT,
  description TEXT,
  records INTEGER NOT NULL,
  read_passes INTEGER NOT NULL,
  reads TEXT NOT NULL,        -- when the replay read: recorded, end, none, every, streamed
  reads_assumed INTEGER NOT NULL,  -- 1: nobody chose that, and the log does not show it
  recorder_gaps INTEGER NOT NULL,  -- places where the recording itself is not complete
  first_ns INTEGER,
  last_ns INTEGER,
  wall_offset_ns INTEGER,     -- time of day (UTC) less the log's clock; NULL: not known
  config TEXT                 -- the trace config, the last one if there are several
);
CREATE TABLE buffers (
  -- One row per buffer, as it was replayed. engine is NULL if it never was set up, although
  -- something was written to it.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,    -- id in the log
  idx INTEGER,                -- place in the trace config, from 0; trace processor's number
  engine TEXT,
  size INTEGER,               -- bytes, as asked for
  policy TEXT,                -- ring_buffer, discard
  freed INTEGER,
  PRIMARY KEY (session, buffer)
) WITHOUT ROWID;
CREATE TABLE producers (
  -- One row per producer; one that connects again is here as it was last.
  session INTEGER NOT NULL REFERENCES sessions(id),
  producer INTEGER NOT NULL,
  name TEXT,                  -- NULL, like all below: not in the log
  uid INTEGER,
  pid INTEGER,
  sdk TEXT,
  smb_size INTEGER,           -- bytes of its shared memory
  page_size INTEGER,
  connected_record INTEGER,
  connected_ns INTEGER,
  disconnected_record INTEGER,
  disconnected_ns INTEGER,
  PRIMARY KEY (session, producer)
) WITHOUT ROWID;
CREATE TABLE sequences (
  -- One row per sequence (a writer of a producer) and buffer that it wrote to, with its sums.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  process TEXT,               -- name of the producer; NULL: not known, like the next two
  thread TEXT,                -- as its first packets name it
  data_sources TEXT,          -- of the producer, that write to the buffer
  commits INTEGER NOT NULL,   -- chunks committed, re-commits included
  packets INTEGER NOT NULL,   -- written: rows of packets
  bytes INTEGER NOT NULL,
  read_packets INTEGER NOT NULL,
  read_bytes INTEGER NOT NULL,
  lost_packets INTEGER NOT NULL,
  lost_bytes INTEGER NOT NULL,
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  PRIMARY KEY (session, buffer, producer, writer),
  FOREIGN KEY (session, buffer) REFERENCES buffers(session, buffer),
  FOREIGN KEY (session, producer) REFERENCES producers(session, producer)
) WITHOUT ROWID;
CREATE TABLE chunks (
  -- One row per commit of a chunk. A chunk that is re-committed has several rows.
  id INTEGER PRIMARY KEY,     -- in order of commit
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  chunk INTEGER NOT NULL,     -- the chunk's id in its sequence, modulo 2^32
  record INTEGER NOT NULL,    -- of the commit
  time_ns INTEGER,
  origin TEXT NOT NULL,       -- imported, shm, inline, scraped, synthetic
  fragments INTEGER NOT NULL, -- as the chunk's header counts them
  continues_previous INTEGER NOT NULL,  -- the first fragment continues a packet
  continues_next INTEGER NOT NULL,      -- the last packet continues in the next chunk
  needs_patching INTEGER NOT NULL,
  complete INTEGER NOT NULL,  -- 0: scraped while the writer still had it
  payload_bytes INTEGER NOT NULL,
  entry TEXT NOT NULL,        -- committed, rewritten, relocated, unchanged, discarded, refused,
                              -- untold (the engine does not report it)
  why TEXT,                   -- of discarded and refused
  offset INTEGER,             -- bytes, of its place in the buffer; NULL: it got none
  size INTEGER,               -- bytes that it took there
  exit TEXT NOT NULL,         -- none, held (at the end), read, evicted, replaced (re-committed)
  left_record INTEGER,
  left_ns INTEGER,
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE evictions (
  -- One row per chunk whose space was needed for another.
  chunk INTEGER PRIMARY KEY REFERENCES chunks(id),  -- the evicted chunk
  by_chunk INTEGER NOT NULL REFERENCES chunks(id),  -- the commit that needed the space
  session INTEGER NOT NULL,
  buffer INTEGER NOT NULL,
  record INTEGER NOT NULL,
  time_ns INTEGER,
  unread_bytes INTEGER NOT NULL  -- of its fragments, not read before
);
CREATE TABLE packets (
  -- One row per packet that was written, whatever became of it. (Its last column, sequence, is that
  -- of the other tables; it is added when all rows are in, as SQLite computes it for each.)
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,   -- where it begins: chunk id, continued beyond 2^32
                                  -- (first_chunk & 4294967295 is chunks.chunk)
  fragment INTEGER NOT NULL,      -- index of its first fragment in that chunk
  first_offset INTEGER NOT NULL,  -- of that fragment in the payload, bytes
  last_chunk INTEGER NOT NULL,    -- where it ends, as far as seen
  size INTEGER NOT NULL,          -- bytes, of all fragments seen
  content TEXT NOT NULL,          -- kind of its content: a field of TracePacket
  name TEXT,                      -- what that is about: CATEGORY/NAME of a track event, the event
                                  -- of a bundle of ftrace; NULL: not known
  timestamp INTEGER,              -- its own, in units of its clock
  timestamp_clock INTEGER,        -- NULL: the sequence's default
  clears_state INTEGER NOT NULL,  -- incremental state starts from scratch here
  needs_state INTEGER NOT NULL,   -- cannot be used without incremental state
  has_interned_data INTEGER NOT NULL,
  written_record INTEGER NOT NULL,  -- commit of its last fragment
  written_ns INTEGER,
  fate TEXT NOT NULL REFERENCES fates(fate),
  cause TEXT,                     -- NULL: none is needed
  own_fault INTEGER NOT NULL,     -- lost although all of it was in the buffer, whole and patched
  decided_record INTEGER,         -- when its fate was decided; stalled: since when it waits
  decided_ns INTEGER,
  pass INTEGER,                   -- read, invalid: in which read of its buffer (reads.pass)
  position INTEGER,               -- read, invalid: which packet of that read it was, from 1
  loss_bits INTEGER NOT NULL,     -- read, invalid: previous_packet_dropped as returned;
                                  -- cut: why it was not reassembled
  culprit_producer INTEGER,       -- overwritten: the commit that needed the space
  culprit_writer INTEGER,
  culprit_chunk INTEGER,
  waits_for INTEGER,              -- stalled: id of the chunk of its sequence that it waits for
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE duplicates (
  -- One row each time that a packet was returned again (V1, after a scrape).
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,   -- its place, as in packets
  fragment INTEGER NOT NULL,
  size INTEGER NOT NULL,
  pass INTEGER NOT NULL,
  record INTEGER NOT NULL,
  time_ns INTEGER,
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE losses (
  -- One row each time that the buffer detected a loss: what it will flag on the next packet of the
  -- sequence (kind flag), or a packet that a read abandoned (kind packet).
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  chunk INTEGER NOT NULL,     -- where it was detected
  record INTEGER NOT NULL,
  time_ns INTEGER,
  kind TEXT NOT NULL,
  cause TEXT NOT NULL,        -- name of the previous_packet_dropped bit
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE patches (
  -- One row per chunk and request of patches that reached a buffer.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  chunk INTEGER NOT NULL,
  record INTEGER NOT NULL,
  time_ns INTEGER,
  patches INTEGER NOT NULL,   -- how many, of four bytes each
  applied INTEGER NOT NULL,
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  why TEXT                    -- of those not applied: no_such_chunk, out_of_bounds
);
CREATE TABLE reads (
  -- One row per read of a buffer.
  id INTEGER PRIMARY KEY,
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  pass INTEGER NOT NULL,      -- of this buffer, from 1
  record INTEGER NOT NULL,
  time_ns INTEGER,
  reason TEXT NOT NULL,       -- unknown, consumer, file, final
  packets INTEGER NOT NULL,   -- that it returned, invalid ones and duplicates too
  bytes INTEGER NOT NULL,
  invalid INTEGER NOT NULL,   -- of these packets, refused by the service
  FOREIGN KEY (session, buffer) REFERENCES buffers(session, buffer)
);
CREATE TABLE smb_looks (
  -- One row per look at a producer's shared memory: its chunks by state. What happened between two
  -- looks was not seen.
  session INTEGER NOT NULL REFERENCES sessions(id),
  producer INTEGER NOT NULL,
  record INTEGER NOT NULL,
  time_ns INTEGER,
  free INTEGER NOT NULL,
  being_written INTEGER NOT NULL,
  being_read INTEGER NOT NULL,
  held_back INTEGER NOT NULL, -- complete, and not named in a commit yet
  waiting INTEGER NOT NULL,   -- complete, and named in a commit: for the service
  writers INTEGER NOT NULL    -- that had a chunk which was being written
);
CREATE TABLE stats (
  -- The counters, as trace processor's stats table has them.
  session INTEGER NOT NULL REFERENCES sessions(id),
  name TEXT NOT NULL,
  idx INTEGER,                -- buffers.idx, or the CPU of ftrace; NULL: of the service
  severity TEXT NOT NULL,     -- info, data_loss, error
  value INTEGER NOT NULL
);
CREATE TABLE events (
  -- One row per record about tracing sessions and those who take part: configs, buffers, producers,
  -- data sources, flushes, triggers, clones, gaps of the recording. What a record does not have is
  -- NULL.
  session INTEGER NOT NULL REFERENCES sessions(id),
  record INTEGER NOT NULL,
  time_ns INTEGER,
  event TEXT NOT NULL,        -- kind of the record, as 'ringscope dump' names it
  change TEXT,                -- of a session: started, stop_requested, stopped, ...
  tracing_session INTEGER,    -- as the log numbers the service's sessions
  producer INTEGER,
  instance INTEGER,           -- of a data source
  buffer INTEGER,
  flush INTEGER,
  clone INTEGER,
  flag INTEGER,               -- no_flush, stopped, transfer or success, if the event has that
  name TEXT,                  -- of the producer, data source, trigger or session
  detail TEXT                 -- text; of a config, its text
);
CREATE TABLE data_sources (
  -- One row per data source that was set up for a session. Times are NULL where it did not happen.
  session INTEGER NOT NULL REFERENCES sessions(id),
  producer INTEGER NOT NULL,
  instance INTEGER NOT NULL,
  name TEXT NOT NULL,
  buffer INTEGER NOT NULL,    -- that it writes to
  tracing_session INTEGER,
  set_up_ns INTEGER,
  started_ns INTEGER,         -- asked to start
  reported_start_ns INTEGER,  -- the producer reported it
  stopped_ns INTEGER,         -- asked to stop
  reported_stop_ns INTEGER
);
CREATE TABLE idle_sources (
  -- One row per data source, or producer, that contributed nothing.
  session INTEGER NOT NULL REFERENCES sessions(id),
  problem TEXT NOT NULL,      -- no_producer, not_set_up, unused_producer, never_wrote
  tracing_session INTEGER,
  source TEXT NOT NULL,       -- data source; of an unused producer: all that it has
  producer INTEGER,
  buffer INTEGER              -- that it should have written to
);
CREATE TABLE flushes (
  -- One row per flush and producer that was asked for it.
  session INTEGER NOT NULL REFERENCES sessions(id),
  flush INTEGER NOT NULL,
  time_ns INTEGER,
  reason TEXT NOT NULL,       -- unknown, periodic, trace_stop, trace_clone, explicit
  initiator TEXT NOT NULL,    -- unknown, traced, perfetto_cmd, consumer_sdk
  outcome TEXT NOT NULL,      -- of the flush: succeeded, failed
  timed_out INTEGER NOT NULL, -- of the flush: the log has a timeout
  producer INTEGER,           -- NULL: nobody was asked
  acknowledged INTEGER NOT NULL,
  latency_ns INTEGER          -- from the request to the acknowledgement
);
CREATE TABLE sums (
  -- One row per sequence, fate and cause: the packets in sum.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  fate TEXT NOT NULL REFERENCES fates(fate),
  cause TEXT,                 -- NULL: none is needed
  packets INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  own_fault INTEGER NOT NULL, -- of these packets
  first_chunk INTEGER NOT NULL,
  last_chunk INTEGER NOT NULL,
  first_written_ns INTEGER,
  last_written_ns INTEGER,
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE evictors (
  -- One row per sequence that lost packets and sequence whose commits needed their space.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,  -- of the sequence that lost them
  writer INTEGER NOT NULL,
  culprit_producer INTEGER,   -- NULL: the engine does not report it
  culprit_writer INTEGER,
  packets INTEGER NOT NULL,   -- overwritten for commits of the culprit
  bytes INTEGER NOT NULL,
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  culprit TEXT AS (culprit_producer || ':' || culprit_writer),
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE gaps (
  -- One row per gap: a run of lost packets of a sequence, of which none between was read.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  producer INTEGER NOT NULL,
  writer INTEGER NOT NULL,
  first_chunk INTEGER NOT NULL,     -- where its first packet begins, as in packets
  first_fragment INTEGER NOT NULL,
  last_chunk INTEGER NOT NULL,      -- where its last packet ends
  packets INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  own_fault INTEGER NOT NULL,       -- of these packets
  cause TEXT NOT NULL,              -- of most of them
  written_from_ns INTEGER,          -- commits of the packets
  written_to_ns INTEGER,
  lost_from_ns INTEGER,             -- when they were lost
  lost_to_ns INTEGER,
  sign TEXT NOT NULL,               -- how the trace shows it: flagged, flagged_first,
                                    -- flagged_by_writer, v1_first, not_flagged, flag_invalid,
                                    -- nothing_follows
  needed_size INTEGER,              -- bytes with which the buffer would have kept the packets
  read_period_ns INTEGER,           -- reads at least this often would have been in time
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
);
CREATE TABLE programs (
  -- One row per program (ProtoVM) of a buffer, which folds what is overwritten into a state.
  session INTEGER NOT NULL REFERENCES sessions(id),
  buffer INTEGER NOT NULL,
  program INTEGER NOT NULL,         -- in the order in which they were set up, from 0
  data_source TEXT NOT NULL,
  producers TEXT NOT NULL,          -- ids, as '1, 2'
  memory_limit INTEGER NOT NULL,    -- bytes
  memory INTEGER NOT NULL,          -- bytes counted against it at the end
  peak_memory INTEGER NOT NULL,
  program_bytes INTEGER NOT NULL,
  state_bytes INTEGER NOT NULL,     -- of the state at the end, as it would be written
  folded_packets INTEGER NOT NULL,  -- that the program took
  folded_bytes INTEGER NOT NULL,
  in_trace_packets INTEGER NOT NULL,  -- of these, in the state that was written
  errors INTEGER NOT NULL,          -- runs that ended so
  aborted INTEGER NOT NULL,
  at_limit_packets INTEGER NOT NULL,  -- of these, because of the memory limit
  at_limit_elements INTEGER NOT NULL,  -- that merges left out because of it
  limit_record INTEGER,             -- when the limit was reached first; NULL: never
  limit_ns INTEGER,
  left_with_buffer INTEGER NOT NULL,  -- 1: for a clone, with all that the buffer held
  PRIMARY KEY (session, buffer, program),
  FOREIGN KEY (session, buffer) REFERENCES buffers(session, buffer)
) WITHOUT ROWID;
CREATE TABLE program_failures (
  -- One row per program, instruction and way in which runs of the program failed there.
  session INTEGER NOT NULL,
  buffer INTEGER NOT NULL,
  program INTEGER NOT NULL,
  result TEXT NOT NULL,             -- error, abort, crash (of the service), too_long
  reason TEXT NOT NULL,
  instruction TEXT NOT NULL,        -- its place: instructions[2].nested_instructions[0]
  packets INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  first_record INTEGER,
  first_ns INTEGER,
  FOREIGN KEY (session, buffer, program) REFERENCES programs(session, buffer, program)
);
CREATE TABLE fates (
  -- What the fates mean.
  fate TEXT PRIMARY KEY,
  is_loss INTEGER NOT NULL,   -- the packet is gone for good
  meaning TEXT NOT NULL
) WITHOUT ROWID;
)sql";

}  // namespace ringscope
