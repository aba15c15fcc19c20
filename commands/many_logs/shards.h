#ifndef RINGSCOPE_COMMANDS_MANY_LOGS_SHARDS_H_
#define RINGSCOPE_COMMANDS_MANY_LOGS_SHARDS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "commands/shell/exit_code.h"
#include "commands/view/json_fields.h"
#include "commands/view/report.h"
#include "core/base/result.h"

namespace ringscope {

/// Every count-th log of a list, from the index-th on.
struct Shard {
  uint64_t index = 1;  // from 1
  uint64_t count = 1;
};
/// "2/8"
Result<Shard> ParseShard(std::string_view text);

/// Which shards of a run over many logs a result is of.
struct ShardsHeld {
  uint64_t count = 0;          // of the run; 0: it has none, the result is of all logs
  std::vector<uint64_t> held;  // their indices, ascending
  bool joined = false;         // the results of several runs: those that are missing got lost

  static ShardsHeld Of(const Shard& shard) { return {.count = shard.count, .held = {shard.index}}; }
  /// Adds those of another result of the same run. kUsage: it is of another one, or one is twice.
  Status Join(const ShardsHeld& other);

  bool all() const { return held.size() == count; }
  /// "shard 3 of 4 is missing: its logs are not counted"; empty: none is, as far as is known.
  std::string MissingText() const;
  /// How a run ends whose logs end it with `code`.
  ExitCode CodeWith(ExitCode code) const;
};
template <typename Io>
void ListFields(Io& io, ShardsHeld& shards) {
  io("count", shards.count, "held", shards.held);
}

/// States which shards are held, unless all are: for people where some got lost, in a document
/// always.
void ReportShards(Report& report, const ShardsHeld& shards);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_MANY_LOGS_SHARDS_H_
