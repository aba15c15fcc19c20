#include <string_view>

#include "core/base/wire.h"
#include "formats/sqlite/sqlite_export.h"

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
                              -- or that the engine does not report it
  why TEXT,                   -- of discarded and refused
  offset INTEGER,             -- bytes, of its place in the buffer; NULL: it got none
  size INTEGER,               -- bytes that it took there
  exit TEXT NOT NULL,         -- none, held (at the end), read, evicted, replaced (re-committed)
  left_record INTEGER,
  left_ns INTEGER,
  evicted_by INTEGER REFERENCES chunks(id),  -- evicted: the commit that needed the space
  unread_bytes INTEGER,       -- evicted: of its fragments, not read before
  sequence TEXT AS (producer || ':' || writer),  -- as all commands name it
  FOREIGN KEY (session, buffer, producer, writer)
    REFERENCES sequences(session, buffer, producer, writer)
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
CREATE TABLE stats (
  -- The counters, as trace processor's stats table has them.
  session INTEGER NOT NULL REFERENCES sessions(id),
  name TEXT NOT NULL,
  idx INTEGER,                -- buffers.idx, or the CPU of ftrace; NULL: of the service
  severity TEXT NOT NULL,     -- info, data_loss, error
  value INTEGER NOT NULL
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
CREATE TABLE fates (
  -- What the fates mean.
  fate TEXT PRIMARY KEY,
  is_loss INTEGER NOT NULL,   -- the packet is gone for good
  meaning TEXT NOT NULL
) WITHOUT ROWID;
)sql";

// An index over all packets would take as long as writing them; the tables of sums answer what
// would read them all. The fates that are rare are found by theirs.
const char* const kSqliteIndexes = R"sql(
ALTER TABLE packets ADD COLUMN sequence TEXT AS (producer || ':' || writer);
CREATE INDEX packets_by_rare_fate ON packets(fate, session, buffer, producer, writer)
  WHERE fate NOT IN ('read', 'overwritten', 'discarded');
CREATE INDEX chunks_by_name ON chunks(session, buffer, producer, writer, chunk);
CREATE INDEX chunks_by_evictor ON chunks(evicted_by) WHERE evicted_by IS NOT NULL;
)sql";

const char* const kSqliteViews = R"sql(
CREATE VIEW data_loss AS
  -- What was lost: per sequence, fate and cause.
  SELECT p.session, p.buffer, p.producer, p.writer, r.name AS producer_name, p.fate, p.cause,
         p.packets, p.bytes, p.own_fault, p.first_chunk, p.last_chunk, p.first_written_ns,
         p.last_written_ns, p.sequence
  FROM sums p
  JOIN fates f ON f.fate = p.fate AND f.is_loss
  LEFT JOIN producers r ON r.session = p.session AND r.producer = p.producer
  ORDER BY p.session, p.buffer, p.producer, p.writer, p.packets DESC;
CREATE VIEW culprits AS
  -- Who overwrote whom: per victim and culprit, with the share of the victim's overwritten packets,
  -- and that of their bytes.
  SELECT session, buffer, producer AS victim_producer, writer AS victim_writer,
         culprit_producer, culprit_writer,
         (SELECT name FROM producers r WHERE r.session = e.session
            AND r.producer = e.culprit_producer) AS culprit_name,
         packets, bytes,
         round(100.0 * packets / sum(packets) OVER victim, 1) AS percent,
         round(100.0 * bytes / sum(bytes) OVER victim, 1) AS bytes_percent,
         sequence AS victim, culprit
  FROM evictors e
  WINDOW victim AS (PARTITION BY session, buffer, producer, writer)
  ORDER BY session, buffer, producer, writer, packets DESC, culprit_producer, culprit_writer;
CREATE VIEW evicted_by AS
  -- Whose commits needed the space of overwritten packets: as 'ringscope gaps' counts them.
  SELECT e.session, e.culprit AS sequence,
         (SELECT name FROM producers r WHERE r.session = e.session
            AND r.producer = e.culprit_producer) AS process,
         (SELECT thread FROM sequences q WHERE q.session = e.session
            AND q.producer = e.culprit_producer AND q.writer = e.culprit_writer
            AND q.thread IS NOT NULL) AS thread,
         sum(packets) AS packets, sum(bytes) AS bytes,
         round(100.0 * sum(packets) / sum(sum(packets)) OVER (PARTITION BY e.session), 1) AS percent
  FROM evictors e
  WHERE culprit_producer IS NOT NULL
  GROUP BY e.session, culprit_producer, culprit_writer
  ORDER BY e.session, sum(packets) DESC, culprit_producer, culprit_writer;
CREATE VIEW gap_times AS
  -- The gaps, with names, and with times in seconds since the session's start and of the day (UTC,
  -- NULL where the log does not show it).
  SELECT g.session, g.buffer, g.sequence, q.process, q.thread, g.packets, g.bytes, g.cause, g.sign,
         (g.written_from_ns - s.first_ns) / 1e9 AS written_from,
         (g.written_to_ns - s.first_ns) / 1e9 AS written_to,
         (g.lost_from_ns - s.first_ns) / 1e9 AS lost_from,
         (g.lost_to_ns - s.first_ns) / 1e9 AS lost_to,
         strftime('%Y-%m-%d %H:%M:%f', (g.written_from_ns + s.wall_offset_ns) / 1e9, 'unixepoch')
           AS written_from_utc,
         strftime('%Y-%m-%d %H:%M:%f', (g.lost_from_ns + s.wall_offset_ns) / 1e9, 'unixepoch')
           AS lost_from_utc
  FROM gaps g
  JOIN sessions s ON s.id = g.session
  JOIN sequences q USING (session, buffer, producer, writer)
  ORDER BY g.session, g.packets DESC, g.buffer, g.producer, g.writer, g.first_chunk;
CREATE VIEW stalls AS
  -- What was still in the buffer and could not be read: what it waits for, and since when.
  SELECT p.session, p.buffer, p.producer, p.writer, r.name AS producer_name, p.cause,
         p.waits_for, count(*) AS packets, sum(p.size) AS bytes, min(p.first_chunk) AS first_chunk,
         max(p.last_chunk) AS last_chunk, min(p.decided_ns) AS since_ns,
         s.last_ns - min(p.decided_ns) AS waited_ns, p.sequence
  FROM packets p
  JOIN sessions s ON s.id = p.session
  LEFT JOIN producers r ON r.session = p.session AND r.producer = p.producer
  WHERE p.fate = 'stalled' AND p.fate NOT IN ('read', 'overwritten', 'discarded')
  GROUP BY p.session, p.buffer, p.producer, p.writer, p.cause, p.waits_for;
)sql";

}  // namespace ringscope
