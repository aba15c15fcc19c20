#ifndef RINGSCOPE_CORE_PROTOVM_BUFFER_VMS_H_
#define RINGSCOPE_CORE_PROTOVM_BUFFER_VMS_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/perfetto/packet.h"
#include "core/protovm/counted_vm.h"
#include "core/protovm/program_runner.h"

namespace ringscope::protovm {

/// What a data source instance has for a VM: its descriptor's program, its config's limit.
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

/// The VMs of a trace buffer, and what it feeds to them.
class BufferVms {
 public:
  struct Instance {
    std::string data_source;
    std::string program;  // as set up first
    uint32_t memory_limit_kb = 0;
    std::vector<ProducerId> producers;  // ascending
    std::unique_ptr<CountedVm> vm;
  };

  /// What a log may set up for one buffer: the service has no such bounds.
  static constexpr size_t kMaxVms = 4096;
  static constexpr size_t kMaxProgramBytes = size_t{64} << 20;

  explicit BufferVms(const ProtoVmRules& rules) : rules_(rules) {}

  /// A data source instance shares the VM of the same data source and program, or gets a new one.
  /// @param state with which a new one begins @return false: it would be beyond the bounds
  bool SetUp(std::string_view data_source, Bytes program, uint32_t memory_limit_kb,
             ProducerId producer, Bytes state = {});
  /// A packet was overwritten unread.
  /// @return who has taken it; nullptr if none
  const Instance* Feed(const Packet& packet, const LogMoment& now);
  /// In order of creation.
  const std::vector<Instance>& instances() const { return instances_; }
  /// In the same order.
  std::vector<VmAccount> Accounts() const;
  /// With their states of now, in order of creation.
  void Visit(const ProgramVisitor& visit) const;
  /// The states of now go into the trace.
  void NoteWritten();

 private:
  ProtoVmRules rules_;
  std::vector<Instance> instances_;
  std::string joined_;  // scratch
  size_t program_bytes_ = 0;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_BUFFER_VMS_H_
