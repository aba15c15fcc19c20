-- The tables of the database that 'ringscope export' writes. The comments inside the statements are
-- a part of it: .schema of the sqlite3 shell shows them.

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
