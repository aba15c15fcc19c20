#ifndef RINGSCOPE_COMMANDS_TAP_RECORDING_H_
#define RINGSCOPE_COMMANDS_TAP_RECORDING_H_

#include <cstdint>
#include <functional>

#include "commands/tap/clone_watch.h"
#include "commands/tap/flush_watch.h"
#include "commands/tap/instances.h"
#include "commands/tap/session_buffers.h"
#include "core/log/op.h"

namespace ringscope::record {

/// How the log gets the uncommitted chunks that the service scrapes.
enum class Scraping : uint8_t {
  kExact,    // the recorder scrapes in the service's place, and sends what it finds
  kObserve,  // the traffic is not changed; what the service may have found is estimated
};

/// Takes records, in order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Copies what it keeps, and adds the time.
  virtual void Append(OpBody body) = 0;
};

/// Counters for the status line and the summary.
struct RecordCounts {
  uint64_t producers = 0;  // connected now
  uint64_t producers_seen = 0;
  uint64_t sequences = 0;
  uint64_t chunks = 0;  // committed or scraped
  uint64_t chunk_bytes = 0;
  uint64_t patches = 0;
};

/// What the taps of one recording share. All of it belongs to the loop's thread.
struct Recording {
  RecordSink& log;
  SessionBuffers& buffers;
  Instances& instances;
  FlushWatch& flushes;
  CloneWatch& clones;
  RecordCounts& counts;
  Scraping scraping = Scraping::kExact;
  /// Scrapes the producers that are not asked to flush, as the service does now or soon.
  std::function<void()> scrape_unasked = [] {};
  uint64_t last_flush = 0;     // id of the last flush that a producer was asked for
  uint16_t last_producer = 0;  // producers are numbered in the order of their connecting

  /// A producer's acknowledgement of a flush is logged, with all that it was scraped for.
  void OnAcknowledged(const FlushAcknowledged& acknowledged) {
    flushes.OnAcknowledged(acknowledged.producer, acknowledged.flush);
    clones.OnAcknowledged(acknowledged.producer, acknowledged.flush);
  }
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_TAP_RECORDING_H_
