#ifndef RINGSCOPE_COMMANDS_RECORD_RECORDING_H_
#define RINGSCOPE_COMMANDS_RECORD_RECORDING_H_

#include <cstdint>
#include <functional>

#include "commands/record/session_buffers.h"
#include "core/op.h"

namespace ringscope::record {

/// How the service's scraping of uncommitted chunks gets into the log.
enum class Scraping : uint8_t {
  kExact,    // the recorder scrapes in the service's place, and sends what it finds
  kObserve,  // the traffic is left alone; what the service may have found is estimated
};

/// Takes records, in order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Copies what it keeps. The time is the sink's to add.
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
  RecordCounts& counts;
  Scraping scraping = Scraping::kExact;
  /// Scrapes the producers that are not asked to flush, as the service would now, or soon.
  std::function<void()> scrape_unasked = [] {};
  uint64_t last_flush = 0;     // id of the last that a producer was asked for
  uint16_t last_producer = 0;  // producers are numbered in the order of their connecting
};

}  // namespace ringscope::record

#endif  // RINGSCOPE_COMMANDS_RECORD_RECORDING_H_
