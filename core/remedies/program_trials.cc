#include "core/remedies/program_trials.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ringscope {
namespace {

using protovm::VmAccount;

constexpr uint32_t kLeastTriedKb = 16;
constexpr uint32_t kMostTriedKb = 64 * 1024;

bool IsAtLimit(const VmAccount& vm) { return vm.at_limit.packets + vm.dropped_elements > 0; }

bool AnyAtLimit(const std::vector<SweepRow>& rows) {
  return std::ranges::any_of(
      rows, [](const SweepRow& row) { return std::ranges::any_of(row.vms, IsAtLimit); });
}

uint64_t LostIn(const std::vector<SweepRow>& rows, BufferId buffer) {
  const SweepRow* row = FindRow(rows, buffer);
  return row == nullptr ? 0 : row->lost_packets();
}

/// The programs of a replay that has not been given other limits.
void AddPrograms(const std::vector<SweepRow>& now, std::vector<TriedProgram>& programs) {
  for (const SweepRow& row : now) {
    for (const VmAccount& vm : row.vms) {
      TriedProgram& program = programs.emplace_back();
      program.buffer = row.id;
      program.lost = row.lost_packets();
      program.now = vm;
    }
  }
}

/// Those that the service does not run, as their configs give them no memory.
void AddIdlePrograms(const std::vector<SweepRow>& now, const std::vector<SweepRow>& then,
                     std::vector<TriedProgram>& programs) {
  for (const SweepRow& row : then) {
    for (const VmAccount& vm : row.vms) {
      const bool runs = std::ranges::any_of(programs, [&](const TriedProgram& program) {
        return program.buffer == row.id && program.now.data_source == vm.data_source;
      });
      if (runs) continue;
      TriedProgram& program = programs.emplace_back();
      program.buffer = row.id;
      program.lost = LostIn(now, row.id);
      program.is_idle = true;
      program.now.data_source = vm.data_source;
      program.now.producers = vm.producers;
    }
  }
}

}  // namespace

Result<std::vector<TriedProgram>> TryPrograms(AdviceReplays& replays, const AdviceFacts& facts,
                                              const std::vector<SweepRow>& now) {
  std::vector<TriedProgram> programs;
  AddPrograms(now, programs);
  if (programs.empty() && !facts.has_idle_programs) return programs;

  ReplayOptions config = replays.as_is();
  config.session.programs.run = false;
  RS_ASSIGN_OR_RETURN(const std::vector<SweepRow> without, replays.Rows(config, {}));

  // The smallest power of two with which no program drops anything.
  std::vector<SweepRow> then;
  uint32_t limit_kb = kLeastTriedKb;
  if (AnyAtLimit(now) || facts.has_idle_programs) {
    config = replays.as_is();
    for (const TriedProgram& program : programs)
      limit_kb =
          std::max(limit_kb, std::bit_ceil(std::min(program.now.memory_limit_kb, kMostTriedKb)));
    for (limit_kb = std::min(limit_kb, kMostTriedKb); limit_kb <= kMostTriedKb; limit_kb *= 2) {
      config.session.programs.memory_limit_kb = limit_kb;
      RS_ASSIGN_OR_RETURN(then, replays.Rows(config, {}));
      if (!AnyAtLimit(then)) break;
    }
    AddIdlePrograms(now, then, programs);
  }
  for (TriedProgram& program : programs) {
    program.lost_without = LostIn(without, program.buffer);
    if (then.empty() || limit_kb > kMostTriedKb || !(program.is_idle || IsAtLimit(program.now)))
      continue;
    program.enough = uint64_t{limit_kb} * 1024;
    program.lost_then = LostIn(then, program.buffer);
  }
  return programs;
}

}  // namespace ringscope
