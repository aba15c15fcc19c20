#ifndef RINGSCOPE_CORE_LOG_SERVICE_READS_H_
#define RINGSCOPE_CORE_LOG_SERVICE_READS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/base/lookup.h"
#include "core/log/op.h"
#include "core/perfetto/clocks.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {

/// Knows when the service reads a session that it writes into a file, and which reads of a consumer
/// it answers with nothing. One session at a time is streamed. Source: the service, as observed.
class ServiceReads {
 public:
  /// Bytes after which a pass of a read for a file ends, and the next one begins.
  static constexpr uint64_t kFilePassBytes = uint64_t{1} << 20;

  /// @param all whether sessions are read as for a file even if their configs do not ask for that,
  /// and those that have no config too @param period_ns in place of the configs'; 0: theirs
  ServiceReads(bool all, uint64_t period_ns) : all_(all), chosen_ns_(period_ns) {}

  /// The log's first time, ns: without a config the session begins there.
  void Begin(uint64_t time_ns) {
    if (all_ && !stream_) return StartStream({}, {}, time_ns);
    if (stream_ && stream_->started) StartNow(time_ns);
  }

  /// Returns true if a read is due before a record of this time. It counts as made: periods that
  /// nothing was committed in are read once, as the first read took all there was.
  bool TakeDue(uint64_t time_ns);

  /// When a read is due because of a record.
  enum class Due : uint8_t { kNot, kBefore, kAfter };
  /// Takes in a record of another kind than a commit, before it is applied.
  /// @param time_ns the log's time there; absent: no record had one yet
  Due Take(const Op& op, std::optional<uint64_t> time_ns);

  /// Returns true if the service answers a read with nothing and touches no buffer: a consumer's,
  /// of a session that is written into a file, that is only to be cloned, or that waits for a
  /// trigger.
  bool AnswersNothing(const ReadPass& read) const;

  /// Returns true if the service adds statistics to a read that left nothing: to the first one of a
  /// session, and to the first one after each multiple of its snapshot interval.
  bool TakeStatistics(std::optional<uint64_t> session, uint64_t now_ns);

  /// Returns true if the config of a session has write_into_file.
  bool WritesFile(std::optional<uint64_t> session) const {
    const SessionFacts* const facts = FindIn(sessions_, session.value_or(0));
    return facts != nullptr && facts->config.write_into_file;
  }
  /// Returns the max_file_size_bytes of a session that is written into a file; 0: there is none.
  uint64_t MaxFileBytes(std::optional<uint64_t> session) const {
    return WritesFile(session) ? sessions_.at(session.value_or(0)).config.max_file_size_bytes : 0;
  }
  /// Returns true if a session was or is streamed.
  bool streams() const { return stream_.has_value(); }
  /// Returns true if it has not ended, so that its last read is still to come.
  bool is_open() const { return stream_ && stream_->open; }
  /// Returns the number of that session; absent if the log has only one.
  std::optional<uint64_t> session() const { return stream_ ? stream_->session : std::nullopt; }
  /// Returns the period of the reads, ns; 0 if no session is streamed.
  uint64_t period_ns() const { return stream_ ? stream_->period_ns : 0; }
  /// Returns true if the log relates its times to CLOCK_MONOTONIC, which aligns the periods. If
  /// not, the two clocks are taken for one.
  bool knows_alignment() const { return boot_ahead_ns_.has_value(); }

 private:
  struct SessionFacts {
    TraceConfigFacts config;
    bool triggered = false;
    uint64_t statistics_due_ns = 0;
  };
  struct Stream {
    std::optional<uint64_t> session;
    uint64_t period_ns = 0;
    bool flushes = false;  // before each read
    uint64_t flush_timeout_ns = 0;
    uint64_t start_ns = 0;
    bool open = true;
    bool started = true;
    bool any_read = false;
    bool waits = false;             // for a flush: `due_ns_` is when the wait ends
    std::optional<uint64_t> flush;  // that it waits for
    std::set<ProducerId> asked;     // that have not acknowledged it
  };

  void StartStream(std::optional<uint64_t> session, const TraceConfigFacts& config,
                   std::optional<uint64_t> time_ns);
  void Arm(uint64_t now_ns) { due_ns_ = NextMultiple(stream_->period_ns / 1'000'000, now_ns); }
  uint64_t NextMultiple(uint64_t period_ms, uint64_t now_ns) const;
  void StartNow(uint64_t now_ns) {
    stream_->started = true;
    stream_->start_ns = now_ns;
    Arm(now_ns);
  }
  Due EndStream() {
    stream_->open = false;
    due_ns_ = UINT64_MAX;
    return Due::kBefore;
  }
  Due TakeFlushEnd(uint64_t flush, std::optional<ProducerId> producer, uint64_t now_ns);
  bool IsStreamed(std::optional<uint64_t> session) const {
    return is_open() && (!session || !stream_->session || session == stream_->session);
  }
  const SessionFacts* FactsOf(const ReadPass& read) const;

  const bool all_;
  const uint64_t chosen_ns_;
  uint64_t due_ns_ = UINT64_MAX;
  std::optional<Stream> stream_;
  Clocks clocks_;
  std::optional<uint64_t> boot_ahead_ns_;      // CLOCK_BOOTTIME - CLOCK_MONOTONIC, modulo 2^64
  std::map<uint64_t, SessionFacts> sessions_;  // by number; 0: the log has only one
  std::map<BufferId, std::optional<uint64_t>> buffers_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SERVICE_READS_H_
