#ifndef RINGSCOPE_CORE_PROTOVM_BUFFER_VMS_H_
#define RINGSCOPE_CORE_PROTOVM_BUFFER_VMS_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/log_moment.h"
#include "core/perfetto/chunk.h"
#include "core/protovm/proto_vm.h"

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

namespace protovm {

/// Set-up of a VM by a data source instance: the descriptor's program, the config's limit.
struct VmSetUp {
  enum class Kind : uint8_t {
    kNone,       // no VM is meant
    kNoConfig,   // a program, and no protovm_config
    kNoProgram,  // the reverse
    kNoLimit,    // a protovm_config without memory_limit_kb
    kComplete,
  };
  Kind kind = Kind::kNone;
  uint32_t memory_limit_kb = 0;
};
/// @param program of the descriptor; empty: it has none
/// @param config a DataSourceConfig message
VmSetUp VmSetUpOf(Bytes program, Bytes config);

/// Appends the `instance` field of a ProtoVms message.
void AppendInstance(const ProgramState& program, std::string& out);

/// Runs of a program that ended at the same instruction, in the same way.
struct VmFailure : RunOutcome {
  std::string place;  // of the instruction, "instructions[2].nested_instructions[0]"
  PacketCount count;
  LogMoment first;
};

/// Outcome of the packets that a VM was asked to take, as plain values.
struct VmAccount {
  std::string data_source;
  std::vector<ProducerId> producers;
  uint32_t memory_limit_kb = 0;
  uint64_t limit = 0;        // bytes
  uint64_t memory = 0;       // bytes counted against it now
  uint64_t peak_memory = 0;  // and at most, after a run
  uint64_t program_bytes = 0;
  uint64_t state_bytes = 0;  // of the state as it is written
  PacketCount folded;        // taken
  PacketCount in_trace;      // of these, in the state that a read wrote
  uint64_t errors = 0;       // runs
  uint64_t aborted = 0;      // runs, those that end the VM included
  /// Dropped by the memory limit: packets whose run it aborted, and elements that a merge left
  /// out without an error.
  PacketCount at_limit;
  uint64_t dropped_elements = 0;
  std::optional<LogMoment> limit_reached;  // first
  std::vector<VmFailure> failures;         // in order of the first
  RunResult stopped = RunResult::kOk;      // else: it does not run any more
  bool by_engine = false;                  // the engine runs it: what it folded is not known
  bool left = false;  // with all that the buffer held: a clone took it, or it was cleared for one
};

/// The VMs of a trace buffer, and what it feeds to them.
class BufferVms {
 public:
  /// Bounds of what a log may set up for one buffer; the service has none.
  static constexpr size_t kMaxVms = 4096;
  static constexpr size_t kMaxProgramBytes = size_t{64} << 20;
  /// Failures of a VM that are kept one by one.
  static constexpr size_t kMaxFailures = 64;

  explicit BufferVms(const ProtoVmRules& rules) : rules_(rules) {}

  /// A data source instance shares the VM of the same data source and program, or gets a new one.
  /// @param state with which a new one begins @return false: it would be beyond the bounds
  bool SetUp(std::string_view data_source, Bytes program, uint32_t memory_limit_kb,
             ProducerId producer, Bytes state = {});
  /// A packet was overwritten unread.
  /// @return whether a VM has taken it
  bool Feed(const Packet& packet, const LogMoment& now);
  /// In order of creation.
  std::vector<VmAccount> Accounts() const;
  /// With their states of now, in order of creation.
  void Visit(const ProgramVisitor& visit) const;
  /// The states of now go into the trace.
  void NoteWritten() {
    for (Instance& instance : instances_) instance.account.in_trace = instance.account.folded;
  }

 private:
  struct Instance {
    std::string program;  // as set up first
    VmAccount account;    // of what its runs led to
    std::unique_ptr<ProtoVm> vm;
  };

  static bool Run(Instance& instance, Bytes packet, const LogMoment& now);

  ProtoVmRules rules_;
  std::vector<Instance> instances_;
  std::string joined_;  // scratch
  size_t program_bytes_ = 0;
};

}  // namespace protovm
}  // namespace ringscope

#endif  // RINGSCOPE_CORE_PROTOVM_BUFFER_VMS_H_
