#ifndef RINGSCOPE_CORE_READS_READY_TIMES_H_
#define RINGSCOPE_CORE_READS_READY_TIMES_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/log/configured_ops.h"
#include "core/log/op.h"
#include "core/log/service_reads.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/perfetto/trace_stats.h"
#include "core/session/read_policy.h"
#include "core/session/session.h"

namespace ringscope {

/// A file that the service wrote, reduced to what a replay can be compared with. 16 bytes for each
/// packet.
struct WrittenFile {
  struct Packet {
    uint64_t hash = 0;  // see HashOfPacket
    uint32_t sequence_id = 0;
    uint32_t dropped = 0;  // previous_packet_dropped
  };
  /// The service's event at the end of a read.
  struct Mark {
    uint64_t packets = 0;  // that are before it in the file
    std::optional<uint64_t> time_ns;
  };

  std::vector<Packet> packets;     // without the service's own
  std::vector<Mark> marks;         // in order
  std::vector<BufferStats> stats;  // by index, of the last statistics; empty: there are none
  std::optional<TraceConfigFacts> config;

  /// Returns true if the file ends within a read: it was full, or cut off.
  bool IsCutOff() const { return !marks.empty() && marks.back().packets < packets.size(); }
};

/// @param packet its bytes, without what the service appends
uint64_t HashOfPacket(Bytes packet);

// Records of a session are counted from 1 here, in the order of its log: "after 0" is before the
// first one.

/// A read of all buffers that the service made for its file.
struct FoundRead {
  uint64_t after = 0;     // records; where the read is made
  uint64_t earliest = 0;  // or anywhere from here to `latest`, with the same packets
  uint64_t latest = 0;
  std::optional<uint64_t> time_ns;  // of the read, in the log's time
  uint64_t packets = 0;             // that it returned
};

/// A packet of the file that no choice of reads explains.
struct UnexplainedPacket {
  uint64_t packet = 0;       // number in the file, from 0, without the service's own packets
  uint32_t sequence_id = 0;  // in the file
  uint64_t read = 0;         // index, of the read that should have returned it
  enum class Why : uint8_t { kNotInLog, kNotReturned, kLossBits, kTooMany } why = Why::kNotInLog;
};
template <>
inline constexpr auto kEnumRows<UnexplainedPacket::Why> =
    EnumTable<EnumRow<UnexplainedPacket::Why>>({
        {UnexplainedPacket::Why::kNotInLog, "not_in_log", "the log has no such packet"},
        {UnexplainedPacket::Why::kNotReturned, "not_returned",
         "the replay returns another packet in its place, or none"},
        {UnexplainedPacket::Why::kLossBits, "loss_bits",
         "the replay returns it with another previous_packet_dropped"},
        {UnexplainedPacket::Why::kTooMany, "too_many",
         "the trace ends before it, and the replay returns more"},
    });

/// The reads that make the replay of a log equal to the file that the service wrote.
struct FoundReads {
  std::vector<FoundRead> reads;  // in order
  uint64_t packets = 0;          // in the file, without the service's own
  uint64_t explained = 0;        // of these, from the first one on
  std::optional<UnexplainedPacket> unexplained;
  bool from_events = false;  // the file has the service's events at the end of each read; else the
                             // reads were searched near the multiples of the period
  bool has_stats = false;    // the file ends with statistics of the buffers
  std::vector<std::string> different_stats;  // names, where the replay's are others
  uint32_t replays = 0;                      // that were needed
};

/// The records of a session with other reads in place of its own. Reads of a consumer that the
/// service answers with nothing stay, as they change nothing.
class InsertedReads : public ChangedSource {
 public:
  /// @param source at the session's first record
  template <typename Source>
  InsertedReads(Source&& source, std::vector<FoundRead> reads)
      : ChangedSource(std::forward<Source>(source)), reads_(std::move(reads)) {}

 private:
  bool HasChanges() const override { return true; }
  Status Change(Op op) override;
  /// Adds the reads that follow the records so far.
  void AddReads();

  const std::vector<FoundRead> reads_;
  size_t next_ = 0;  // of reads_
  uint64_t records_ = 0;
  ServiceReads service_{/*all=*/false, /*period_ns=*/0};
};

/// Records after which a read may have been that returned the file's packets up to a border, and
/// none of those after it. Records are counted from 1.
struct ReadSpan {
  uint64_t earliest = 0;  // after this record all packets up to the border could be read
  uint64_t latest = 0;    // after it none of those that follow the border could
  bool is_possible() const { return earliest <= latest; }
};

/// After which records of a log the packets of a file could be read for the first time.
class ReadyTimes {
 public:
  /// Replays the log once, reading after each record, and looks for the file's packets in what that
  /// returns. Time: as a replay, and O(n log n) in the packets.
  /// @param file outlives this
  static Result<ReadyTimes> Find(const OpenOps& open, EngineLookup find_engine,
                                 const WrittenFile& file);

  /// @param packets the border: after so many packets of the file
  ReadSpan SpanOf(uint64_t packets) const { return {earliest_[packets], latest_[packets]}; }
  /// Returns true if the log has this packet of the file.
  bool IsInLog(uint64_t packet) const { return in_log_[packet]; }
  uint64_t records() const { return times_.size(); }
  /// The log's time at a record; 0 before the first.
  uint64_t TimeAt(uint64_t record) const { return record == 0 ? 0 : times_[record - 1]; }
  /// Returns the records after which a read returns the same as after this one, as nothing is
  /// committed in between.
  ReadSpan SameAs(uint64_t record) const;
  /// Returns the last so many records up to this one that are commits, and a quarter as many after
  /// it; none is before `from`.
  std::set<uint64_t> AfterCommits(uint64_t record, uint64_t from, uint64_t most) const;
  /// The last record of this time or an earlier one.
  uint64_t RecordAt(uint64_t time_ns) const;
  /// Records after which the multiples of the file's period are.
  const std::vector<uint64_t>& scheduled() const { return scheduled_; }

 private:
  struct Written {
    uint64_t hash;
    uint32_t sequence;  // in order of first packet
    uint32_t index;     // in the sequence
    uint64_t ready;
  };
  class Collector;

  void Match(std::vector<Written> written, const WrittenFile& file);

  std::vector<uint64_t> earliest_, latest_;  // by packets up to the border
  std::vector<bool> in_log_;
  std::vector<uint64_t> times_;  // by record; they never go back
  std::vector<bool> is_commit_;  // by record
  std::vector<uint64_t> scheduled_;
};

/// Finds the reads with which the replay of a log returns the packets of the file that the service
/// wrote: the same ones in the same order, with the same loss bits. One replay finds after which
/// record each packet could be read; the service's events in the file show which borders were
/// reads. A second replay compares what these return; a third one tries other places where needed.
/// @param find_engine as Session::Options has it
Result<FoundReads> FindReads(const OpenOps& open, const EngineLookup& find_engine,
                             const WrittenFile& file);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_READS_READY_TIMES_H_
