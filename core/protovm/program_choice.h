#ifndef RINGSCOPE_CORE_PROTOVM_PROGRAM_CHOICE_H_
#define RINGSCOPE_CORE_PROTOVM_PROGRAM_CHOICE_H_

#include <cstdint>
#include <optional>

namespace ringscope::protovm {

/// What a replay does with the programs of data sources.
struct ProgramChoice {
  bool run = true;
  /// Of each state, in the place of its config's: a data source whose config gives none, so that
  /// the service runs no program for it, then has one.
  std::optional<uint32_t> memory_limit_kb;

  friend bool operator==(const ProgramChoice&, const ProgramChoice&) = default;
};

}  // namespace ringscope::protovm

#endif  // RINGSCOPE_CORE_PROTOVM_PROGRAM_CHOICE_H_
