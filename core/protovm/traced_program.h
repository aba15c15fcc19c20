#ifndef RINGSCOPE_CORE_PROTOVM_TRACED_PROGRAM_H_
#define RINGSCOPE_CORE_PROTOVM_TRACED_PROGRAM_H_

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/base/ids.h"

namespace ringscope::protovm {

/// An instance that a trace has (ProtoVms.instance).
struct TracedProgram {
  Bytes program;
  Bytes state;
  uint32_t memory_limit_kb = 0;
  std::vector<int32_t> producers;
};
TracedProgram ReadTracedProgram(Bytes instance);

/// Which sequences the producers of a trace wrote, as the trace lists them (TraceProvenance).
/// Memory is limited.
class ListedSequences {
 public:
  static constexpr size_t kMaxProducers = 65536;
  static constexpr size_t kMaxSequences = 200'000;

  void Add(Bytes message);
  /// nullptr: the producer is not listed.
  const std::vector<uint32_t>* Of(int32_t producer) const {
    const auto found = of_producer_.find(producer);
    return found == of_producer_.end() ? nullptr : &found->second;
  }

 private:
  std::unordered_map<int32_t, std::vector<uint32_t>> of_producer_;
  size_t count_ = 0;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_TRACED_PROGRAM_H_
