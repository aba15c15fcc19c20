#ifndef RINGSCOPE_CORE_DOCTOR_FINDING_H_
#define RINGSCOPE_CORE_DOCTOR_FINDING_H_

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/config_change.h"
#include "core/base/ids.h"
#include "core/doctor/answer.h"
#include "core/perfetto/fill_policy.h"
#include "core/trace/stat_rows.h"
#include "core/trace/trace_facts.h"

namespace ringscope {

/// What doctor looks for: an entry of the table that the documentation is made of.
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
  Harm harm = Harm::kInfo;
  std::string what;     // one sentence with the figures
  std::string where;    // machine, buffer, sequences, times; empty: the trace as a whole
  std::string cause;    // as far as it is known
  std::string proof;    // which packets or counters show it
  std::string remedy;   // for this case
  uint64_t weight = 0;  // orders findings of the same harm: packets, bytes or times concerned
  std::vector<ConfigChange> changes;
};

/// What doctor says of one trace or log.
struct Diagnosis {
  std::string verdict;  // one sentence
  Harm harm = Harm::kOk;
  Answer answer;                     // the same in about ten lines
  std::vector<Finding> findings;     // the worst first
  std::vector<std::string> well;     // what was checked and is as it should be, a sentence each
  std::vector<std::string> unknown;  // what the trace cannot tell
  StatRows counters;                 // of severity data_loss and error, with a value other than 0
};

/// What the replay of a log knows of a buffer.
struct ReplayedBuffer {
  BufferId id{};
  FillPolicy policy = FillPolicy::kRingBuffer;
  std::optional<ConfigChange> size;  // the size that it needs; absent: a larger one keeps no more
  /// Re-commits that break the rules and that the buffer refused, where it lost no packet at all.
  uint64_t harmless_recommits = 0;
};
/// What the replay of a log knows, and the trace that it makes does not.
struct ReplayFacts {
  std::optional<TimeSpan> session;             // absent: no record has a time
  std::map<uint32_t, ReplayedBuffer> buffers;  // by their index in the trace
  std::vector<Finding> findings;               // what was lost, packet by packet
  Answer answer;                               // the losses in about ten lines
};

/// Judges a trace.
/// @param replay that made it of a log; nullptr: it is from a service
Diagnosis Diagnose(const TraceFacts& facts, const ReplayFacts* replay = nullptr);
/// The changes of all findings, the worst finding's first; of each line only the first.
std::vector<ConfigChange> ChangesOf(const Diagnosis& diagnosis);
/// Judges a config alone: a TraceConfig message.
Diagnosis DiagnoseConfig(Bytes config);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_DOCTOR_FINDING_H_
