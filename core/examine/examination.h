#ifndef RINGSCOPE_CORE_EXAMINE_EXAMINATION_H_
#define RINGSCOPE_CORE_EXAMINE_EXAMINATION_H_

#include <memory>

#include "core/examine/needed_names.h"
#include "core/examine/remedies.h"
#include "core/examine/replayed_packets.h"
#include "core/findings/finding.h"

namespace ringscope {

/// The findings of the replay of a log's session, packet by packet.
struct LogEvidence {
  ReplayOutcome outcome;
  SessionNotes notes;
  GapReport gaps;
  ReplayedPackets packets;  // when those that are in the trace were written
  std::vector<NeededProcess> needed;
};

/// The session that is examined.
struct Subject {
  std::string file;                    // "bugreport.zip:traces/a.pftrace" in an archive
  std::optional<uint64_t> session;     // its number, if the input has several, or is a log
  bool is_only_session = true;         // the input has no other
  bool is_config = false;              // of a trace config alone
  std::optional<TimeSpan> time;        // from its start to its end, CLOCK_BOOTTIME, ns
  std::optional<std::string> config;   // a TraceConfig message
  TraceConfigFacts facts;              // of that
  std::map<uint32_t, uint64_t> sizes;  // of its buffers, bytes, by their index in the config
  std::optional<std::string> replay;   // how a log was replayed: "v2@58, buffers read ..."
};

/// Packets that are missing, or that cannot be used, in a time of the session.
struct Hole {
  Stage stage = Stage::kUnknown;         // at which they ended
  std::optional<size_t> sequence = {};   // index in the account; absent: of no single sequence
  std::optional<uint32_t> buffer = {};   // index of a buffer of which this is as a whole
  std::string where = {};                // "buffers[0]", "CPU 3"; empty: not known
  TimeSpan span = {};                    // from the packet before to that after, CLOCK_BOOTTIME, ns
  bool is_unusable = false;              // the packets are in the trace, their state is not
  std::optional<uint64_t> packets = {};  // absent: an unknown number
  uint64_t bytes = 0;                    // of these packets; 0: not known
  uint64_t places = 1;                   // marks of a loss that are joined in it
  std::string what = {};                 // "lost: 12 packets, overwritten by RenderThread"
  uint32_t loss_bits = 0;                // of the packet after it, see kLossBitNames
  std::string remedy = {};               // the change that would have kept them; empty: none known
  // Of a log: the evidence.
  const Gap* gap = nullptr;
  const MissingChunks* missing = nullptr;
};

/// One line of an answer: "Why", "overwritten before they were read".
struct AnswerLine {
  std::string label;
  std::string text;
};

/// The problems of a trace or of a session of a log in about ten lines, the most important first.
struct Answer {
  Harm severity = Harm::kOk;
  std::string headline = {};  // one sentence
  /// The change that helps most: "buffers[0].size_kb 256 -> 6544, which keeps everything"; may be
  /// empty.
  std::string change = {};
  uint64_t more_changes = 0;  // that would help, too: advise has them
  uint64_t packets = 0;       // of producers that are left
  uint64_t usable = 0;        // of these, those that the UI can show
  std::vector<AnswerLine> lines = {};
  Figures figures = {};  // of all these texts

  /// Adds a line, unless there is nothing to say.
  void Add(const char* label, const Sentence& sentence) {
    if (!sentence.empty()) lines.push_back({label, Keep(sentence)});
  }
  /// Adds a sentence's numbers. @return its text
  const std::string& Keep(const Sentence& sentence) {
    AddFigures(figures, sentence);
    return sentence.text;
  }
  /// Returns true if it names a change of the config, or a remedy that is none.
  bool has_change() const;
};

/// All that is known of one session: from its log, from its trace, or from both. A log and a trace
/// fill the same fields, each as far as it proves them. A view shows fields, and computes nothing.
struct Examination : Problems {
  Subject subject;
  StageAccounts account;            // of packets by the stage at which they ended
  std::vector<Hole> holes;          // by sequence, in order of time
  std::map<uint32_t, Reach> reach;  // of rings that overwrote unread data, by index of the buffer
  RemedyList remedies;              // of a log: tried, or estimates; `config` has the changes
  Answer answer;                    // in about ten lines
  /// The trace config as text with the changes that go together marked; absent: there is no
  /// config, or nothing to change.
  std::optional<std::string> changed_config;
  std::string own_config;            // likewise, without the changes
  std::optional<std::string> error;  // why the input could not be read: then there is no more

  // The evidence.
  std::vector<std::string> broken_limits;  // of those that the command line has
  std::shared_ptr<const LogEvidence> log;  // nullptr: of a trace or a config alone
  std::optional<TraceFacts> trace;         // of the trace, or of the one that the replay makes

  /// Returns the changes of all findings, the worst finding's first; of each line only the first.
  std::vector<ConfigChange> changes() const;
  /// Frees the evidence and the holes, where only the other fields are shown.
  void ForgetEvidence();
};

/// Examines a trace.
Examination ExamineTrace(TraceFacts facts);
/// Examines a session of a log: what its replay found, and the trace that the replay makes.
/// @param remedies as far as they were tried
Examination ExamineLog(LogEvidence log, TraceFacts facts, RemedyList remedies);
/// Examines a trace config alone: a TraceConfig message.
Examination ExamineConfig(std::string config);
/// The result for an input that cannot be read.
Examination Unreadable(std::string file, Error error);

/// Leaves only the findings of a rule, an answer of these alone, and no config.
void KeepRule(Examination& examination, const std::string& rule);

// Parts of the above.

/// The losses of an examined session of a log in sentences, each empty if there is nothing to say.
struct LogLosses {
  LedgerTotals totals = {};  // of all buffers
  uint64_t lost = 0;         // packets, without those of which only the place is known
  uint64_t places = 0;       // at which writers dropped an unknown number of packets
  uint64_t waiting = 0;      // packets in a buffer that were not read
  std::optional<uint32_t> worst_buffer = {};  // index of that which lost most packets

  /// "122 of 128 packets (95.3%) were lost, from 714.5 ms to 1.833 s."; without a loss what waits,
  /// the signs of losses, or that nothing was lost as far as the log goes.
  Sentence headline = {};
  Sentence waiting_headline = {};
  /// "710.5 ms ··▂█████ 3.7 s: share of packets lost", by the time of their commit
  Sentence over_time = {};
  // Empty unless there are losses.
  Sentence why = {};       // of writers that dropped packets, what the looks at shared memory show
  Sentence losers = {};    // the sequences that lost most packets, or else at most places
  Sentence sources = {};   // "96.6% linux.ftrace, 3.4% linux.process_stats": if there are several
  Sentence needed = {};    // "12.0 s of events need the lost process tree of pid 610 (init)"
  Sentence evictors = {};  // for whose commits packets were overwritten
  Sentence dropped = {};   // "more, by their writers, at 12 places ...": beside other losses
  // Of all sessions.
  Sentence still_there = {};  // what waits, and where
  Sentence stale = {};        // the packets that were committed long after their time, and when
  Sentence signs = {};        // that more may be missing than is known
  Sentence clones = {};       // "2 were made, and may have other packets: gaps --clone 1"

  bool any() const { return lost + places > 0; }
};
/// @param examination of a log, with its subject, account and reach
LogLosses LossesOf(const Examination& examination);

/// "Only the last 101.7 ms of 3.710 s are left": of a ring; empty if its reach is not known.
/// @param buffer its index in the config; absent: none
Sentence LeftText(const Examination& examination, std::optional<uint32_t> buffer);
/// "a, b, 4 further lines": the first texts, as many as two lines of an answer hold.
std::string ShortList(const std::vector<std::string>& texts, std::string_view further,
                      std::string_view between = ", ");

/// Words the answer of an examination that has all but that.
/// @param losses of a log; nullptr: it is of a trace or a config alone
Answer AnswerOf(const Examination& examination, const LogLosses* losses = nullptr);

/// Returns the account of these sequences of a log, and of the kernel's losses.
/// @param reports places at which the log itself reports that something is missing
StageAccounts AccountOf(const std::vector<const SequenceGaps*>& sequences,
                        const SessionNotes& notes, const ReplayOutcome& outcome, uint64_t reports);
/// Returns what a trace alone proves of the stages at which data ended.
StageAccounts AccountOf(const TraceFacts& facts, const TraceConfigFacts& config);

/// Returns the holes that the replay of a log proves, with their packets and causes.
/// @param examination has its log, account and remedies
std::vector<Hole> HolesOfLog(const Examination& examination);
/// Returns the holes that a trace alone proves: of how many packets is unknown.
/// @param examination has its trace, account and reach
std::vector<Hole> HolesOfTrace(const Examination& examination);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_EXAMINE_EXAMINATION_H_
