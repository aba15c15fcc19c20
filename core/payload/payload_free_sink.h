#ifndef RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_SINK_H_
#define RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_SINK_H_

#include <cstdint>
#include <functional>
#include <utility>

#include "core/log/op.h"
#include "core/payload/payload_free_stream.h"

namespace ringscope {

/// Passes records on without payloads. They may wait for others, see PayloadFreeStream.
class PayloadFreeSink : public RecordSink {
 public:
  /// @param next must outlive this
  /// @param clock the time of now, in the log's clock
  PayloadFreeSink(RecordSink& next, std::function<uint64_t()> clock)
      : next_(next), clock_(std::move(clock)) {}

  void Append(OpBody body) override { AppendAt(clock_(), std::move(body)); }
  void AppendAt(uint64_t time_ns, OpBody body) override {
    records_.Take({time_ns, std::move(body)});
    PassOn(time_ns);
  }
  /// Passes on what has waited too long. Nothing else does while no records come.
  void OnTick() { PassOn(clock_()); }
  /// Passes on all that waits; nothing may follow.
  void Finish() {
    records_.Finish();
    OnTick();
  }

 private:
  void PassOn(uint64_t now_ns) {
    while (const Op* const op = records_.Next(now_ns)) next_.AppendAt(*op->time_ns, op->body);
  }

  RecordSink& next_;
  const std::function<uint64_t()> clock_;
  PayloadFreeStream records_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_SINK_H_
