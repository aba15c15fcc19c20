#include "core/protovm/traced_program.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope::protovm {

TracedProgram ReadTracedProgram(Bytes instance) {
  using Field = proto::TracePacket::ProtoVms::Instance;
  TracedProgram read;
  wire::FieldReader fields(instance);
  while (const auto field = fields.Next()) {
    const bool is_bytes = field->type == wire::Type::kBytes;
    if (field->number == Field::kProgram && is_bytes) read.program = field->bytes;
    if (field->number == Field::kState && is_bytes) read.state = field->bytes;
    if (field->number == Field::kMemoryLimitKb && !is_bytes)
      read.memory_limit_kb = static_cast<uint32_t>(field->value);
    if (field->number == Field::kProducerId && !is_bytes)
      read.producers.push_back(static_cast<int32_t>(field->value));
  }
  return read;
}

void ListedSequences::Add(Bytes message) {
  wire::ForEachMessage(message, proto::TraceProvenance::kBuffers, [&](Bytes buffer) {
    wire::ForEachMessage(buffer, proto::TraceProvenance::Buffer::kSequences, [&](Bytes entry) {
      using Listed = proto::TraceProvenance::Sequence;
      const auto id = static_cast<uint32_t>(wire::LastVarint(entry, Listed::kId).value_or(0));
      const auto producer =
          static_cast<int32_t>(wire::LastVarint(entry, Listed::kProducerId).value_or(0));
      if (count_ == kMaxSequences ||
          (of_producer_.size() == kMaxProducers && !of_producer_.contains(producer)))
        return;
      std::vector<uint32_t>& sequences = of_producer_[producer];
      // Each pass lists them all again, in ascending order.
      const auto at = std::ranges::lower_bound(sequences, id);
      if (at != sequences.end() && *at == id) return;
      sequences.insert(at, id);
      ++count_;
    });
  });
}

}  // namespace ringscope::protovm
