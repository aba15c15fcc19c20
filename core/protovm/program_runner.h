#ifndef RINGSCOPE_CORE_PROTOVM_PROGRAM_RUNNER_H_
#define RINGSCOPE_CORE_PROTOVM_PROGRAM_RUNNER_H_

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>

#include "core/base/ids.h"
#include "core/perfetto/chunk.h"

namespace ringscope {
/// A data source's program (ProtoVM) for a buffer.
struct ProgramSetUp {
  std::string_view data_source;
  Bytes program;  // a VmProgram message
  uint32_t memory_limit_kb = 0;
  ProducerId producer{};
};

/// A program in a buffer, with its state of now.
struct ProgramState {
  std::string_view data_source;
  Bytes program;
  uint32_t memory_limit_kb = 0;
  std::span<const ProducerId> producers;  // ascending
  Bytes state;                            // as it is written into the trace
  uint64_t memory = 0;                    // bytes counted against the limit
};
/// All that it gets is valid during the call.
using ProgramVisitor = std::function<void(const ProgramState&)>;

/// An engine that runs the programs of data sources itself, on what it overwrites.
class ProgramRunner {
 public:
  virtual ~ProgramRunner() = default;
  /// @return whether it runs the program from now on
  virtual bool SetUpProgram(const ProgramSetUp& setup) = 0;
  /// In order of creation.
  virtual void VisitPrograms(const ProgramVisitor& visit) const = 0;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_PROGRAM_RUNNER_H_
