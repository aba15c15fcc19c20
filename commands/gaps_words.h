#ifndef RINGSCOPE_COMMANDS_GAPS_WORDS_H_
#define RINGSCOPE_COMMANDS_GAPS_WORDS_H_

#include <map>
#include <optional>
#include <string>

#include "core/gap_report.h"
#include "core/session.h"

namespace ringscope {

/// What a report needs of the session besides the losses. Watches a replay.
class SessionNotes : public SessionSink {
 public:
  void OnRecord(const Op& op, uint64_t number) override;

  /// "2:17 (demo-app)"; without a name where there is none.
  std::string NameOf(SequenceKey sequence) const;
  /// Name of the sequence's producer; empty: none.
  std::string ProducerOf(SequenceKey sequence) const;
  /// Bytes of the shared memory of the sequence's producer.
  std::optional<uint64_t> SharedMemoryOf(SequenceKey sequence) const;
  /// Time of the session's first record that has one.
  uint64_t start_ns() const { return start_ns_.value_or(0); }
  /// "1.837 s", from the session's start; "?" if not known.
  std::string Time(const std::optional<uint64_t>& time_ns) const;
  /// "0.707 s to 1.543 s", or one time.
  std::string Span(const std::optional<uint64_t>& from, const std::optional<uint64_t>& to) const;
  /// The same; where times are not known: "record 3 to record 5".
  std::string Span(const MomentSpan& span) const;

 private:
  struct Producer {
    std::string name;
    std::optional<uint64_t> smb_size;
  };
  std::map<ProducerId, Producer> producers_;
  std::optional<uint64_t> start_ns_;
};

/// Each of these is a sentence, or a part of one, in plain words.

/// What happened to packets: "overwritten before they were read".
std::string CauseText(const CauseCount& cause);
/// What happened to the packets of the gap: "12 overwritten before they were read; 1 ...".
std::string CausesText(const Gap& gap);
/// "53% track_event, 47% clock_snapshot"
std::string ContentsText(const Gap& gap);
/// Whose bytes pushed the packets out, or filled the buffer before they came; empty: none did.
std::string CulpritsText(const Gap& gap, const SessionNotes& notes);
/// Whether the culprits filled the buffer, rather than pushed the packets out.
bool IsFilled(const Gap& gap);
/// What the trace shows of the gap.
std::string SignText(const Gap& gap);
/// What would have saved the packets; empty: nothing that is known.
std::string RemediesText(const Gap& gap, const SessionNotes& notes);
/// The rule by which a packet is flagged.
std::string RuleText(FlagRule rule);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_WORDS_H_
