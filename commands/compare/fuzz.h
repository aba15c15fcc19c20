#ifndef RINGSCOPE_COMMANDS_COMPARE_FUZZ_H_
#define RINGSCOPE_COMMANDS_COMPARE_FUZZ_H_

#include "commands/shell/command.h"
#include "core/compare/fuzz_run.h"

namespace ringscope {

struct FuzzArgs {
  Both<std::string> engines;
  FuzzPlan plan;  // without its sides; no kinds: all
  std::vector<std::string> ignored;
  uint64_t seed = 0;
  std::optional<uint64_t> streams;
  std::optional<uint64_t> time_ns;
  uint64_t findings = 10;    // different ones, after which the run ends
  std::string output = ".";  // folder
  Format format = Format::kText;
};

/// A finding, once for all streams that show it.
struct KnownFinding {
  FuzzFinding first;     // of the stream that showed it first
  uint64_t streams = 0;  // that show it
  uint32_t seed = 0;     // of the first
  SmallestStream smallest = {};
  std::string written_to = {};
  std::string test_text = {};  // sentence about the unit test beside it; empty: none is possible

  uint64_t operations() const { return smallest.ops.size() - 1; }  // without the buffer's set-up
};

struct FuzzResult {
  std::vector<KnownFinding> findings;  // in the order of their streams
  uint64_t streams = 0;
  uint64_t operations = 0;
  uint64_t differing = 0;  // streams with findings
  bool at_limit = false;   // it ended at the number of findings
};

/// Compares the plan's engines over the streams of the seeds, on all threads, and minimizes the
/// findings. The same seeds give the same findings, on any number of threads.
FuzzResult RunStreams(const FuzzPlan& plan, const FuzzArgs& args, Context& context);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_COMPARE_FUZZ_H_
