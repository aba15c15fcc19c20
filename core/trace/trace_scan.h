#ifndef RINGSCOPE_CORE_TRACE_TRACE_SCAN_H_
#define RINGSCOPE_CORE_TRACE_TRACE_SCAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/perfetto/incremental_state.h"
#include "core/trace/event_order.h"
#include "core/trace/event_times.h"
#include "core/trace/machine_clocks.h"
#include "core/trace/packet_view.h"
#include "core/trace/stat_rows.h"
#include "core/trace/trace_clocks.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// Reads the packets of a trace file in one pass, by the rules of trace processor, and collects
/// what is known of the session and its losses. Packets that are compressed inside a packet are
/// given in its place.
/// Memory: O(sequences + clock snapshots), with limits: not of the trace's size, whatever is in it.
/// Source: what is known of trace processor v58.
class TraceScan {
 public:
  static constexpr size_t kMaxSequences = 50'000;
  /// Kinds of content, and signs of losses, that are kept for the sequences; of all together.
  static constexpr size_t kMaxContentsOfSequences = 100'000;
  static constexpr size_t kMaxSigns = 50'000;

  TraceScan();

  /// The next packet of the file: a TracePacket message. Empty ones count, and are skipped.
  /// @param offset in the file, of its field or of that of the packet that holds it compressed
  void AddPacket(uint64_t offset, Bytes packet) {
    AddPacket(offset, packet, ViewTracePacket(packet));
  }
  /// The same with what ViewTracePacket makes of it.
  void AddPacket(uint64_t offset, Bytes bytes, const TracePacketView& packet);
  /// Trace processor would give up here.
  void AddError(uint64_t offset, std::string what);
  /// What is known now. Call it last.
  TraceFacts Finish();

 private:
  struct Sequence {
    TraceSequence facts;
    SequenceTime time;
    IncrementalState state;
    std::optional<int64_t> last_ns;
    uint32_t last_content = 0;  // with the place of its count, as most packets have the same
    uint64_t* last_count = nullptr;
  };

  /// @param size of the packet in the file, bytes
  void AddOfSequence(uint64_t offset, uint64_t size, const TracePacketView& packet);
  static uint64_t KeyOf(uint32_t machine, uint32_t id) { return uint64_t{machine} << 32 | id; }
  Sequence* SequenceOf(const TracePacketView& packet);
  Sequence* FindSequence(const TracePacketView& packet, uint64_t key);
  void CountLoss(const TracePacketView& packet, uint64_t offset, Sequence& sequence, bool is_known);
  void UpdateState(const TracePacketView& packet, Sequence& sequence);
  /// Whether trace processor uses a packet that needs incremental state.
  bool IsUsable(const TracePacketView& packet, uint64_t offset, Sequence& sequence);
  /// No time: those that are known are 0 at least.
  static constexpr int64_t kNoTime = -1;
  static std::optional<int64_t> Known(int64_t ns) {
    return ns == kNoTime ? std::nullopt : std::optional(ns);
  }
  /// @return the packet's place in time, by its first event, or kNoTime
  int64_t AddTimes(const TracePacketView& packet, Sequence& sequence);
  int64_t AddTime(int64_t ns);
  void NoteProblems(MachineFacts& machine);
  void AddFailure(uint32_t machine, ClockKey clock);
  /// Where what the packets of a machine lack or report is counted.
  MachineFacts& FactsOf(uint32_t machine);
  void CountContent(uint32_t content, Sequence& sequence);
  void AddContent(const TracePacketView& packet, int64_t ns);
  void AddOwnFacts(const TracePacketView& packet, int64_t ns);
  void NoteDiscards(Bytes config);
  void AddServiceEvent(const TracePacketView& packet);
  void AddStats(Bytes stats);
  void AddListing(Bytes listing);
  static void AddFtraceSetup(Bytes stats, std::vector<std::string>& errors);
  void AddProcessNames(const TracePacketView& packet, TraceSequence& sequence);

  TraceFacts facts_;
  MachineClocks clocks_;
  protovm::TraceVms programs_;
  EventOrder order_;
  EventTimes times_;
  std::unordered_map<uint64_t, Sequence> sequences_;  // by machine and id
  // The last one asked for, as most packets are of the same; nodes of the map stay in their places.
  uint64_t last_key_ = 0;
  Sequence* last_sequence_ = nullptr;
  uint32_t last_content_ = 0;  // likewise
  Amount* last_amount_ = nullptr;
  std::map<std::pair<uint32_t, ClockKey>, uint64_t>
      failures_;               // packets put off, by machine and clock
  MachineFacts ignored_;       // of machines beyond those that are kept
  uint32_t last_machine_ = 0;  // asked for last
  MachineFacts* last_facts_ = nullptr;
  size_t contents_of_sequences_ = 0, signs_ = 0;  // kept
  uint64_t beyond_ = 0;                           // where contents are counted that are not kept
  Amount amount_beyond_;
  std::optional<TimeSpan> all_;  // of all events so far
  uint64_t packets_since_stats_ = 0;
};

/// Trace processor's rows of a trace, as far as its service, buffers, clocks, order and ftrace
/// determine them; zeros too. Rows of what did not happen in the file are absent.
StatRows StatRowsOf(const TraceFacts& facts);
/// "Perfetto v58.2-5f4e1d2 (5f4e1d2)" -> 58; nullopt: not in the text.
std::optional<uint64_t> ServiceRelease(std::string_view version);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_TRACE_SCAN_H_
