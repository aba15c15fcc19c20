#ifndef RINGSCOPE_COMMANDS_REPLAY_RUN_H_
#define RINGSCOPE_COMMANDS_REPLAY_RUN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/cli_fwd.h"
#include "commands/session_reader.h"
#include "commands/values.h"
#include "core/journal.h"
#include "core/ledger.h"
#include "core/loss_analysis.h"
#include "core/packet_count.h"
#include "core/replay.h"
#include "core/split.h"
#include "formats/events_jsonl.h"
#include "formats/perfetto_trace.h"

namespace ringscope {

/// What a user chooses about a replay; the options of all commands that replay.
struct ReplayChoices {
  Session::Options session;
  ReadsChoice reads;
  std::optional<uint64_t> pass_bytes;
  std::vector<SplitRule> splits;  // what goes into other buffers than the log says
};

/// How the replay options are called, where a command has them more than once.
struct ReplayOptionNames {
  std::string engine = "--engine";
  std::string prefix = "--";  // of --size, --policy, --reads and --pass-bytes
  std::string whose;          // in front of the descriptions: "A: "
};

/// Adds --engine, --size, --policy, --reads and --pass-bytes.
void AddReplayOptions(CLI::App& app, ReplayChoices& choices, const ReplayOptionNames& names = {});
/// Adds --split.
void AddSplitOption(CLI::App& app, std::vector<SplitRule>& splits);
/// Warns of rules that moved nothing.
void WarnOfUnusedSplits(Console& console, const std::string& path,
                        const std::vector<SplitRule>& unused);
/// The same choices as a replay takes them.
ReplayOptions ToReplayOptions(const ReplayChoices& choices);

/// How one buffer came out of a replay.
struct BufferOutcome {
  BufferId id{};
  uint32_t index = 0;  // in the trace config
  std::string engine;
  uint64_t size = 0;  // bytes, as asked for
  FillPolicy policy = FillPolicy::kRingBuffer;
  bool freed = false;
  BufferStats stats;
  PacketCount read;      // returned by all read passes, clones apart
  uint64_t invalid = 0;  // of these, refused by the service
  BufferLosses losses;
  PacketCount unread;        // what one more read would have returned
  uint64_t stuck_bytes = 0;  // of chunks that even that read would have left: packets that wait
                             // for a patch or for another chunk
};

struct WriterOutcome {
  BufferId buffer{};
  SequenceKey sequence;
  WriterHistogram histogram;
};

/// How the replay of one session ended.
struct ReplayOutcome {
  std::string path;
  uint64_t session = 0;  // number in the input, from 1
  uint64_t records = 0;
  uint64_t read_passes = 0;
  uint64_t recorder_gaps = 0;
  std::optional<uint64_t> first_time_ns;
  std::optional<uint64_t> last_time_ns;
  std::vector<BufferOutcome> buffers;  // by id
  std::vector<WriterOutcome> writers;  // if asked for; by buffer, in order of first commit
  ServiceStats service;
  std::map<BufferId, LedgerTotals> ledger;  // if accounts were kept

  uint64_t duration_ns() const {
    return first_time_ns && last_time_ns ? *last_time_ns - *first_time_ns : 0;
  }
};

/// Where else a replay goes. Not owned; nullptr: nowhere.
struct ReplayOutputs {
  TraceWriter* trace = nullptr;
  EventsWriter* events = nullptr;
  LedgerSink* accounts = nullptr;  // keeps a ledger, whose entries go there
  Journal* journal = nullptr;      // observes the buffers
  SessionSink* sink = nullptr;     // is told all that the session tells
  ObserverFactory observe;         // makes another observer for each buffer
  bool histograms = false;         // fill ReplayOutcome::writers: memory for each sequence
};

/// Replays the session that `sessions` stands at, to its end.
Result<ReplayOutcome> ReplaySession(Context& context, SessionReader& sessions,
                                    const ReplayChoices& choices, const ReplayOutputs& outputs);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_REPLAY_RUN_H_
