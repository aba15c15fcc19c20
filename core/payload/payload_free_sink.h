#ifndef RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_SINK_H_
#define RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_SINK_H_

#include <utility>

#include "core/log/record_sink.h"
#include "core/payload/payload_remover.h"

namespace ringscope {

/// Passes records on without payloads.
class PayloadFreeSink : public RecordSink {
 public:
  /// @param next must outlive this
  explicit PayloadFreeSink(RecordSink& next) : next_(next) {}

  void Append(OpBody body) override {
    next_.Append(remover_.Apply({std::nullopt, std::move(body)}).body);
  }

 private:
  RecordSink& next_;
  PayloadRemover remover_;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PAYLOAD_PAYLOAD_FREE_SINK_H_
