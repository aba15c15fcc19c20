#ifndef RINGSCOPE_CORE_LOG_RECORD_SINK_H_
#define RINGSCOPE_CORE_LOG_RECORD_SINK_H_

#include <cstdint>
#include <utility>

#include "core/log/op.h"

namespace ringscope {

/// Takes records, in order.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  /// Copies what it keeps, and adds the time.
  virtual void Append(OpBody body) = 0;
  /// From here on the log may differ from what the service does.
  void MarkInexact(Inexact mark) { Append(std::move(mark)); }
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_RECORD_SINK_H_
