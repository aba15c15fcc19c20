-- Run when all rows are in. An index over all packets would take as long as writing them; the fates
-- that are rare are found by theirs.

ALTER TABLE packets ADD COLUMN sequence TEXT AS (producer || ':' || writer);
CREATE INDEX packets_by_rare_fate ON packets(fate, session, buffer, producer, writer)
  WHERE fate NOT IN ('read', 'overwritten', 'discarded');
CREATE INDEX chunks_by_name ON chunks(session, buffer, producer, writer, chunk);
CREATE INDEX chunks_by_evictor ON chunks(evicted_by) WHERE evicted_by IS NOT NULL;

CREATE VIEW sums AS
  -- One row per sequence, fate and cause: the packets in sum.
  SELECT session, buffer, producer, writer, fate, cause, count(*) AS packets, sum(size) AS bytes,
         sum(own_fault) AS own_fault, min(first_chunk) AS first_chunk,
         max(last_chunk) AS last_chunk, min(written_ns) AS first_written_ns,
         max(written_ns) AS last_written_ns, sequence
  FROM packets
  GROUP BY session, buffer, producer, writer, fate, cause;
CREATE VIEW evictors AS
  -- One row per sequence that lost packets and sequence whose commits needed their space; the
  -- culprit is NULL where the engine does not report it.
  SELECT session, buffer, producer, writer, culprit_producer, culprit_writer, count(*) AS packets,
         sum(size) AS bytes, sequence, culprit_producer || ':' || culprit_writer AS culprit
  FROM packets
  WHERE fate = 'overwritten'
  GROUP BY session, buffer, producer, writer, culprit_producer, culprit_writer;
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
