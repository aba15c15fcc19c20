#ifndef RINGSCOPE_CORE_SWEEP_SWEEP_CHOICES_H_
#define RINGSCOPE_CORE_SWEEP_SWEEP_CHOICES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/ids.h"
#include "core/log/retarget.h"
#include "core/perfetto/fill_policy.h"
#include "core/protovm/program_choice.h"
#include "core/session/replay.h"

namespace ringscope {

/// Sizes to try for a buffer.
struct SizeList {
  std::optional<BufferId> buffer;  // absent: all buffers
  std::vector<uint64_t> sizes;     // bytes; ascending, none twice
};

/// When to read, and how the user wrote it.
struct NamedReads {
  std::string name;
  ReadsChoice choice;
  bool assumed = false;  // nobody chose it, and the log does not show when it was read
};

/// What programs do, and how the user wrote it.
struct NamedPrograms {
  std::string name;
  protovm::ProgramChoice choice;
};

/// What a user chooses about a sweep. Lists that are empty: as the log has it.
struct SweepChoices {
  std::vector<SizeList> sizes;
  std::vector<FillPolicy> policies;
  std::vector<NamedReads> reads;
  std::vector<std::string> engines;
  std::vector<NamedPrograms> programs;
  std::optional<uint64_t> pass_bytes;
  std::vector<RetargetRule> splits;
};

/// What a buffer has to achieve.
struct SweepTarget {
  std::string text;                         // as the user wrote it
  std::optional<uint64_t> keep_ns;          // each sequence reaches back that far
  std::optional<uint64_t> loss_millionths;  // at most this share of the packets is lost
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_SWEEP_SWEEP_CHOICES_H_
