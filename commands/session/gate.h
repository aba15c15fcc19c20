#ifndef RINGSCOPE_COMMANDS_SESSION_GATE_H_
#define RINGSCOPE_COMMANDS_SESSION_GATE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "commands/shell/command.h"
#include "commands/view/report.h"
#include "core/examine/examination.h"

namespace ringscope {

/// Limits that a run checks, as for continuous integration. A run ends with kNotice where a session
/// breaks one. With limits of amounts and without `fail_on`, only these count.
struct Gate {
  std::optional<Harm> fail_on;                 // absent and without limits: kWarning
  std::optional<double> max_lost, min_usable;  // shares, from 0 to 1
  std::optional<uint64_t> min_reach_ns;

  /// Returns true if any was given.
  bool is_set() const { return fail_on || max_lost || min_usable || min_reach_ns; }
  /// Returns what breaks the limits, each as a phrase: "96.2% lost, more than 1% (--max-lost)".
  std::vector<std::string> Broken(const Examination& examination) const;
};

/// --fail-on and the limits, below "Limits".
void AddGate(CLI::App& app, Gate& gate);

/// Prints the limits that each session breaks (Examination::broken_limits).
void PrintBrokenLimits(Report& report, std::span<const Examination> examinations);

/// Returns how a run over these inputs ends: kFailed if none could be read, kNotice if one breaks
/// the gate or could not be read.
ExitCode CodeOf(std::span<const Examination> examinations, const Gate& gate = {});

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SESSION_GATE_H_
