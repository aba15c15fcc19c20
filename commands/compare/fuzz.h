#ifndef RINGSCOPE_COMMANDS_COMPARE_FUZZ_H_
#define RINGSCOPE_COMMANDS_COMPARE_FUZZ_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "commands/compare/campaign.h"
#include "commands/shell/command.h"
#include "formats/ops/test_case.h"

namespace ringscope {

/// What streams are made of, what counts, and what is written.
struct FuzzArgs {
  Both<std::string> engines;
  std::vector<StreamKind> kinds;  // empty: all, or mutated if there are logs
  std::vector<std::string> logs;  // to mutate
  std::vector<std::string> ignored;
  uint64_t seed = 0;
  uint64_t operations = 150;
  std::optional<uint64_t> streams;
  std::optional<uint64_t> time_ns;
  uint64_t findings = 10;
  std::optional<uint64_t> op_time_ns;
  bool judges_losses = false;
  std::string corpus;
  CaseStyle style = CaseStyle::kOps;  // of the test cases beside findings
  std::string output;                 // folder; empty: the corpus, else this folder
  std::string format;
};

/// The streams of the logs' buffers, one for each session and buffer. Those without operations are
/// left out.
Result<std::vector<PlainStream>> ReadSources(const std::vector<std::string>& logs,
                                             Context& context);

/// All streams of a folder, by name. A folder that is not there has none.
Result<std::vector<CorpusStream>> ReadCorpus(const std::string& folder);

/// Writes each finding of a seed to the folder as .ops.jsonl, and notes its name. A file with the
/// same content stays; another one is not replaced, the finding gets a further name.
/// @param style of the test case beside each difference
Status WriteFindings(const FuzzPlan& plan, const std::string& folder, CaseStyle style,
                     CampaignResult& result);

/// The same command line for one finding: "ringscope diff FILE --a v2@57 --b v2@58".
std::string DiffCommandLine(const FuzzPlan& plan, const std::string& file);

/// The result, for people and for programs.
Status ReportFuzz(const FuzzArgs& args, const FuzzPlan& plan, const CampaignResult& result,
                  Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_FUZZ_H_
