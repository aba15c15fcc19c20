#ifndef RINGSCOPE_CORE_FINDINGS_FINDING_H_
#define RINGSCOPE_CORE_FINDINGS_FINDING_H_

#include "core/perfetto/trace_config_facts.h"
#include "core/trace/stage_account.h"
#include "core/trace/stat_rows.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// The outcome of a data source of a trace's config.
enum class SourceState : uint8_t {
  kDelivered,       // packets of it are in the trace
  kEndedEarly,      // packets of it are in the trace; others wrote for much longer
  kUnknown,         // the trace does not show which packets are its
  kUnknownName,     // no data source has this name
  kNotRegistered,   // no producer had registered it
  kNotStarted,      // the service was waiting for it
  kNothingAsked,    // its config asks for nothing
  kNoEvents,        // it was started, and there was nothing to write
  kNothingWritten,  // nothing came to its buffer
  kLost,            // its buffer lost data
  kSilent,          // nothing shows why
};
template <>
inline constexpr auto kEnumRows<SourceState> = EnumTable<EnumRow<SourceState>>({
    {SourceState::kDelivered, "delivered", "delivered"},
    {SourceState::kEndedEarly, "ended_early", "ended early"},
    {SourceState::kUnknown, "unknown", "not known"},
    {SourceState::kUnknownName, "unknown_name", "unknown name"},
    {SourceState::kNotRegistered, "not_registered", "not registered"},
    {SourceState::kNotStarted, "not_started", "not started"},
    {SourceState::kNothingAsked, "nothing_asked", "asked for nothing"},
    {SourceState::kNoEvents, "no_events", "had no event"},
    {SourceState::kNothingWritten, "nothing_written", "wrote nothing"},
    {SourceState::kLost, "lost", "lost"},
    {SourceState::kSilent, "silent", "nothing came"},
});

/// The account of one data source of a trace's config.
struct SourceAccount {
  std::string name;
  uint32_t buffer = 0;  // index of its target
  SourceState state = SourceState::kDelivered;
  uint64_t sequences = 0;
  Amount amount = {};     // of its packets; the span is of events
  uint64_t unusable = 0;  // of these packets
  uint64_t places = 0;    // at which packets are missing, by flags and by the kernel's marks
  Sentence why = {};      // what the trace proves, where nothing was delivered
  Sentence change = {};   // what to do about it
};

/// Returns the data source whose packets a sequence has, by their fields; empty: not known.
std::string SourceOf(const TraceSequence& sequence, const TraceConfigFacts& config);

/// Severity of a finding, from harmless to worst.
enum class Harm : uint8_t {
  kOk,        // of an answer alone: no finding is a warning or worse
  kInfo,      // of a finding alone: good to know
  kWarning,   // data can be lost, or is of less use
  kDataLoss,  // data is missing
  kError,     // the trace, or a part of it, cannot be used
};
template <>
inline constexpr std::array kEnumNames<Harm> = {"ok", "info", "warning", "data_loss", "error"};

/// Severity of so many packets that cannot be used because their state is missing: a trace with
/// half of them is not a trace.
inline Harm HarmOfUnusable(uint64_t unusable, uint64_t packets) {
  return unusable == 0 ? Harm::kOk : unusable * 2 >= packets ? Harm::kError : Harm::kDataLoss;
}

/// A kind of finding: an entry of the table that the documentation is made of.
struct Rule {
  std::string_view id;  // "buffer.overwritten"
  Harm harm;            // the worst that it finds
  const char* title;    // what is wrong, in a few words: "Unread data was overwritten"
  const char* meaning;  // what it says of a trace, and how it is found
  const char* remedy;   // in general
};
/// All of them, by what they are about. Source: core/findings/rules.cc.
std::span<const Rule> DoctorRules();
/// The rule with this id, which there must be.
const Rule& RuleOf(std::string_view id);

/// Something that is wrong with a trace or its config.
struct Finding {
  const Rule* rule = nullptr;
  Harm harm = Harm::kOk;  // never so when it is reported
  Sentence what = {};
  Sentence where = {};   // machine, buffer, sequences, times; empty: the trace as a whole
  Sentence cause = {};   // as far as it is known
  Sentence proof = {};   // which packets or counters show it
  Sentence remedy = {};  // for this case
  uint64_t weight = 0;   // orders findings of the same harm: packets, bytes or times concerned
  std::vector<ConfigChange> changes = {};

  /// Returns the numbers of all its sentences.
  Figures figures() const;
};

/// The result of all rules for a trace or a config.
struct Problems {
  std::vector<Finding> findings;       // the worst first
  std::vector<std::string> well;       // what was checked and is as it should be, a sentence each
  std::vector<std::string> unknown;    // what the input cannot tell
  Figures figures;                     // of what is well or unknown
  std::vector<SourceAccount> sources;  // of a trace: the data sources of its config, in order
  StatRows counters;                   // of severity data_loss and error, with a value other than 0
};

/// Facts of a buffer that the replay of a log has.
struct ReplayedBuffer {
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::optional<ConfigChange> size;  // that it needs, by replays; absent: none is known
  bool no_size_helps = false;        // a replay shows that a larger one keeps no more
  std::optional<Reach> reach;        // of a ring that overwrote unread data before its only read
  bool missed_patches = true;        // a packet waited for a patch that failed
  bool lost_violations = true;  // not all that it refused by the rules were packets that it had
};
/// Facts that the replay of a log has, and the trace that it makes has not.
struct ReplayFacts {
  std::optional<TimeSpan> session = {};             // absent: no record has a time
  std::map<uint32_t, ReplayedBuffer> buffers = {};  // by their index in the trace
  std::vector<Finding> findings = {};               // what was lost, packet by packet
  std::vector<std::string> missed_flushes = {};     // producers that did not acknowledge them
  bool keeps_all = false;                           // the changes that were tried lose nothing
};

/// Judges a trace by all rules.
/// @param replay that made it of a log; nullptr if it is from a service
Problems FindProblems(const TraceFacts& facts, const ReplayFacts* replay = nullptr);
/// Judges a config alone: a TraceConfig message.
Problems FindProblemsOfConfig(Bytes config);

/// "buffers[0] (main)": a buffer by its index in the config.
std::string BufferName(const TraceConfigFacts& config, size_t index);
/// A sequence with its names, without its account.
SequenceStages TitleOf(const TraceFacts& facts, const TraceConfigFacts& config,
                       const TraceSequence& sequence);
/// Time of a session by its packets and by the service's events; nullopt if nothing has a time.
std::optional<TimeSpan> SessionOf(const TraceFacts& facts);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_FINDINGS_FINDING_H_
