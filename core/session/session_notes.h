#ifndef RINGSCOPE_CORE_SESSION_SESSION_NOTES_H_
#define RINGSCOPE_CORE_SESSION_SESSION_NOTES_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/base/lookup.h"
#include "core/base/sequence_map.h"
#include "core/log/op.h"
#include "core/perfetto/clocks.h"
#include "core/session/replay_listener.h"

namespace ringscope {

/// The times of a session's records as people read them: from its SessionStart on.
class SessionClock {
 public:
  /// The session's next record: its time, and what clock snapshots tell of the time of day.
  void AddRecord(const Op& op);
  /// Time from which the others count, ns; 0: no record has one.
  uint64_t start_ns() const { return start_.ns().value_or(0); }
  /// Returns the time of day less CLOCK_BOOTTIME, modulo 2^64; absent if it is not known.
  std::optional<uint64_t> wall_offset_ns() const {
    return wall_offset_ns_ ? std::optional(0 - *wall_offset_ns_) : std::nullopt;
  }
  /// "1.837 s"
  /// @param boot_ns CLOCK_BOOTTIME
  std::string Text(uint64_t boot_ns) const;

 private:
  SessionStart start_;
  Clocks clocks_;
  std::optional<uint64_t> wall_offset_ns_;  // CLOCK_BOOTTIME less CLOCK_REALTIME, modulo 2^64
};

/// When a session began, and who its producers and sequences are. Watches a replay. Memory:
/// O(sequences).
class SessionNotes : public ReplayListener {
 public:
  void OnRecord(const Op& op, const LogMoment& moment) override;
  void OnBufferSetUp(SessionBuffer& buffer) override;
  void OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal> refusal) override;
  Status OnPacket(const SessionPacket& packet) override;

  /// Name of the sequence's producer; "appA, then appB" if the service gave its id out again while
  /// the sequence was written; empty: not known.
  /// @param at_ns the name of the producer that had the id then
  std::string ProducerOf(SequenceKey sequence, std::optional<uint64_t> at_ns = {}) const;
  /// When the id of the sequence's writer, or of its producer, was last given out again; absent:
  /// the log does not show that it was.
  std::optional<uint64_t> GivenAgainAt(SequenceKey sequence) const;
  /// Id of the sequence's process, not of one that connected for it; 0: not known.
  int32_t PidOf(SequenceKey sequence) const;
  /// Name of the sequence's thread, as one of its first packets has it, read or not; empty: not
  /// known.
  std::string ThreadOf(SequenceKey sequence) const { return Of(sequence).thread; }
  /// "demo-app/appbin": the sequence's producer and thread, as far as they are known and differ.
  /// Fit for a terminal.
  std::string WriterOf(SequenceKey sequence, std::optional<uint64_t> at_ns = {}) const;
  /// Returns the sequence as the trace names it, its writer and its second name: "sequence 5
  /// (demo-app/appbin, 1:1)"; one that is not in the trace has only that.
  /// @param at_ns as for ProducerOf
  std::string NameOf(SequenceKey sequence, std::optional<uint64_t> at_ns = {}) const;
  /// Returns the buffer as the config names it: "buffers[0]"; one that was not set up has only the
  /// log's id: "buffer 77".
  std::string NameOf(BufferId buffer) const;
  /// The sequence's trusted_packet_sequence_id in the trace; 0: none of its packets was read.
  uint32_t TraceIdOf(SequenceKey sequence) const { return Of(sequence).trace_id; }
  /// Names of the producer's data sources that were set up to write to the buffer.
  std::set<std::string> SourcesOf(ProducerId producer, BufferId buffer) const;
  /// Name of the data source that the sequence writes for: the only one of its producer in the
  /// buffer, or the only one that had been started without a writer when this one was registered,
  /// or of several ftrace or the only other one; empty: not known.
  std::string SourceOf(SequenceKey sequence, BufferId buffer) const;
  /// Names of data sources that the session's config asks for and no producer registered.
  std::set<std::string> UnknownSources() const;
  /// Names of data sources that producers registered.
  const std::set<std::string>& registered() const { return registered_; }
  /// Bytes of the shared memory of the sequence's producer.
  std::optional<uint64_t> SharedMemoryOf(SequenceKey sequence) const {
    return Of(sequence.producer).smb_size;
  }
  const SessionClock& clock() const { return clock_; }
  uint64_t start_ns() const { return clock_.start_ns(); }

 private:
  struct Producer {
    std::string name;
    std::optional<uint64_t> smb_size;
    std::map<BufferId, std::set<std::string>> sources;
    std::map<uint64_t, std::pair<BufferId, std::string>> instances;
    std::map<BufferId, std::set<std::string>> without_writer;  // of `sources`, once started
    int32_t pid = 0;
    /// Names of others that had the id before, and when the next one got it.
    std::vector<std::pair<std::string, uint64_t>> before;
  };
  struct Sequence {
    std::string thread;
    std::optional<uint64_t> first_ns;  // its first chunk
    std::string source;                // as the order of starts and writers shows it
    bool is_registered = false;
    std::optional<uint64_t> again_ns;  // its writer's id was given out again
    uint32_t trace_id = 0;
    uint32_t chunks = 0;   // looked at for names
    uint32_t content = 0;  // of its first packet with any; see PacketFacts
  };

  template <typename T>
  static const T& OrEmpty(const T* known) {
    static const T kEmpty;
    return known == nullptr ? kEmpty : *known;
  }
  const Producer& Of(ProducerId producer) const { return OrEmpty(FindIn(producers_, producer)); }
  const Sequence& Of(SequenceKey sequence) const { return OrEmpty(sequences_.Find(sequence)); }

  std::map<ProducerId, Producer> producers_;
  SequenceMap<Sequence> sequences_;
  std::map<BufferId, uint32_t> buffers_;      // their index in the config
  std::set<std::string> asked_, registered_;  // names of data sources
  SessionClock clock_;
  std::optional<uint64_t> now_ns_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SESSION_SESSION_NOTES_H_
