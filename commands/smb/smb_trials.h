#ifndef RINGSCOPE_COMMANDS_SMB_SMB_TRIALS_H_
#define RINGSCOPE_COMMANDS_SMB_SMB_TRIALS_H_

#include <cstdint>
#include <vector>

#include "commands/smb/smb_report.h"
#include "core/smb/memory_trial.h"

namespace ringscope {

/// What to try with the recorded demand.
struct SmbTrialChoices {
  std::vector<uint64_t> sizes;  // bytes; empty: a quarter to four times the recorded one
  std::vector<uint64_t> pages;  // bytes; empty: the recorded one
  std::vector<smb::WhenNoneIsFree> policies;  // empty: both

  bool any() const { return !sizes.empty() || !pages.empty() || !policies.empty(); }
  bool Has(smb::WhenNoneIsFree policy) const;
};

/// The columns of the rows of trials: titles of CSV, or what a session adds.
Table SmbTrialRows();

/// What these memories would have done at other sizes: tables for people, `trials` and what they
/// assume for programs.
/// @param rows gets a row for each trial
void ReportTrials(Report& report, const std::vector<const smb::MemoryFollower*>& memories,
                  const SmbProducers& producers, const SmbTrialChoices& choices, uint64_t session,
                  Table& rows);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_SMB_TRIALS_H_
