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

/// What memories would have done at other sizes.
struct SmbTrials {
  struct Trial {
    size_t demand = 0;  // index
    smb::MemoryTrial outcome;
  };
  std::vector<smb::MemoryDemand> demands;  // of the memories that have one
  std::vector<Trial> trials;
};
SmbTrials TryMemories(const std::vector<const smb::MemoryFollower*>& memories,
                      const SmbTrialChoices& choices);

/// The rows for programs: none yet, with their titles.
Table SmbTrialRows();
void AddTrialRows(const SmbTrials& trials, uint64_t session, Table& rows);

/// Tables for people, `trials` and what they assume for programs.
void ReportTrials(Report& report, const SmbTrials& trials, const SmbProducers& producers,
                  const SmbTrialChoices& choices, uint64_t session);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_SMB_TRIALS_H_
