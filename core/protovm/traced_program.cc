#include "core/protovm/traced_program.h"

#include <algorithm>

#include "core/perfetto/fields.h"

namespace ringscope::protovm {

TracedProgram ReadTracedProgram(Bytes instance) {
  using Field = proto::ProtoVmInstance;
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
  wire::FieldReader buffers(message);
  while (const auto buffer = buffers.Next()) {
    if (buffer->number != proto::TraceProvenance::kBuffers) continue;
    wire::FieldReader listed(buffer->bytes);
    while (const auto entry = listed.Next()) {
      if (entry->number != proto::ProvenanceBuffer::kSequences) continue;
      uint32_t id = 0;
      int32_t producer = 0;
      wire::FieldReader values(entry->bytes);
      while (const auto value = values.Next()) {
        if (value->number == proto::ProvenanceSequence::kId)
          id = static_cast<uint32_t>(value->value);
        if (value->number == proto::ProvenanceSequence::kProducerId)
          producer = static_cast<int32_t>(value->value);
      }
      if (count_ == kMaxSequences ||
          (of_producer_.size() == kMaxProducers && !of_producer_.contains(producer)))
        return;
      std::vector<uint32_t>& sequences = of_producer_[producer];
      // Each pass lists them all again, in ascending order.
      const auto at = std::ranges::lower_bound(sequences, id);
      if (at != sequences.end() && *at == id) continue;
      sequences.insert(at, id);
      ++count_;
    }
  }
}

}  // namespace ringscope::protovm
