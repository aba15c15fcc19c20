#ifndef RINGSCOPE_CORE_DOCTOR_FINDING_H_
#define RINGSCOPE_CORE_DOCTOR_FINDING_H_

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/ids.h"
#include "core/base/sentence.h"
#include "core/perfetto/fill_policy.h"
#include "core/perfetto/trace_config_facts.h"
#include "core/trace/stage_account.h"
#include "core/trace/stat_rows.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

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

/// One line of an answer: "Why", "overwritten before they were read".
struct AnswerLine {
  std::string label;
  std::string text;
};

/// The problems of a trace or of a session of a log in about ten lines, the most important first.
struct Answer {
  Harm severity = Harm::kOk;
  std::string headline = {};  // one sentence
  /// What helps most: "buffers[0].size_kb 256 -> 6544, which keeps everything"; may be empty.
  std::string change = {};
  uint64_t more_changes = 0;  // that would help, too: advise has them
  uint64_t packets = 0;       // of producers that are left
  uint64_t usable = 0;        // of these, those that the UI can show
  std::vector<AnswerLine> lines;
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
};

/// "a, b, 4 further lines": the first texts, as many as two lines of an answer hold.
std::string ShortList(const std::vector<std::string>& texts, std::string_view further,
                      std::string_view between = ", ");
/// "buffers[0].size_kb 256 -> 7424 (an estimate)"
/// @param sizes_kb of the buffers today, by their index in the config
Sentence ChangesText(const std::vector<ConfigChange>& changes,
                     const std::vector<uint64_t>& sizes_kb);
/// "LEFT, and the names of the events were lost: the UI can show 2 of 4,912 packets."
/// @param left what is left of the session; may be empty
Sentence UnusableHeadline(const Sentence& left, uint64_t unusable, uint64_t packets);

/// A kind of finding: an entry of the table that the documentation is made of.
struct Rule {
  const char* id;       // "buffer.overwritten"
  Harm harm;            // the worst that it finds
  const char* title;    // what is wrong, in a few words: "Unread data was overwritten"
  const char* meaning;  // what it says of a trace, and how it is found
  const char* remedy;   // in general
};
/// All of them, by what they are about. Source: core/doctor/rules.cc.
std::span<const Rule> DoctorRules();
/// The rule with this id, which there must be.
const Rule& RuleOf(const char* id);

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

/// The result of doctor for one trace or session of a log.
struct Diagnosis {
  Answer answer;
  StageAccounts stages;
  std::vector<Finding> findings;     // the worst first
  std::vector<std::string> well;     // what was checked and is as it should be, a sentence each
  std::vector<std::string> unknown;  // what the trace cannot tell
  Figures figures;                   // of what is well or unknown
  StatRows counters;                 // of severity data_loss and error, with a value other than 0
};

/// Facts of a buffer that the replay of a log has.
struct ReplayedBuffer {
  BufferId id{};
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::optional<ConfigChange> size;  // the size that it needs; absent: a larger one keeps no more
  /// Re-commits that break the rules, refused by the buffer, which had all their packets.
  uint64_t harmless_recommits = 0;
};
/// Facts that the replay of a log has, and the trace that it makes has not.
struct ReplayFacts {
  std::optional<TimeSpan> session;             // absent: no record has a time
  std::map<uint32_t, ReplayedBuffer> buffers;  // by their index in the trace
  std::vector<Finding> findings;               // what was lost, packet by packet
  std::vector<std::string> missed_flushes;     // producers that did not acknowledge them
  Answer answer;                               // the losses in about ten lines
  StageAccounts stages;
};

/// Judges a trace.
/// @param replay that made it of a log; nullptr if it is from a service
Diagnosis Diagnose(const TraceFacts& facts, const ReplayFacts* replay = nullptr);
/// The changes of all findings, the worst finding's first; of each line only the first.
std::vector<ConfigChange> ChangesOf(const Diagnosis& diagnosis);
/// Judges a config alone: a TraceConfig message.
Diagnosis DiagnoseConfig(Bytes config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_FINDING_H_
