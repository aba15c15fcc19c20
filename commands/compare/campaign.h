#ifndef RINGSCOPE_COMMANDS_COMPARE_CAMPAIGN_H_
#define RINGSCOPE_COMMANDS_COMPARE_CAMPAIGN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "commands/shell/context.h"
#include "core/compare/fuzz_run.h"

namespace ringscope {

/// When a campaign ends; at least one of `streams` and `time_ns` is there.
struct CampaignLimits {
  uint32_t first_seed = 0;
  std::optional<uint64_t> streams;
  std::optional<uint64_t> time_ns;
  size_t findings = 10;  // different ones
};

/// What streams show, once for all that show the same.
struct CampaignFinding {
  FuzzFinding first;  // of the stream that showed it first
  uint64_t streams = 0;
  std::optional<uint32_t> seed;  // of that stream
  std::string corpus_file;       // or where it was; empty: it has a seed
  PlainStream smallest;
  /// What the plan's engines show of `smallest`; absent: they do not differ there unless the rules
  /// in first.left_out are switched, or it is what the accounts of one engine show.
  std::optional<FuzzFinding> shown;
  std::string text;        // what `smallest` shows, in a line
  std::string written_to;  // a file; empty: none
};

struct CampaignResult {
  std::vector<CampaignFinding> findings;  // in the order of their streams
  FuzzCoverage coverage;
  uint64_t corpus_streams = 0;
  uint64_t streams = 0;  // of seeds
  uint64_t operations = 0;
  uint64_t differing = 0;  // streams with findings
  bool at_limit = false;   // it ended at the number of findings
  double cpu_seconds = 0;  // of all threads, without minimizing
};

/// A stream of the corpus.
struct CorpusStream {
  std::string path;
  PlainStream stream;
};

/// Puts the corpus and then the streams of the seeds through the plan, on all threads, and
/// minimizes what they show. The same seeds give the same findings, on however many threads.
CampaignResult RunCampaign(const FuzzPlan& plan, const CampaignLimits& limits,
                           const std::vector<CorpusStream>& corpus, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_CAMPAIGN_H_
