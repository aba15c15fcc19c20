#ifndef RINGSCOPE_CORE_TRACE_STAGE_ACCOUNT_H_
#define RINGSCOPE_CORE_TRACE_STAGE_ACCOUNT_H_

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/enum_names.h"
#include "core/base/log_moment.h"
#include "core/trace/ftrace_counters.h"

namespace ringscope {

/// The stages between the kernel and the screen, in order: at each of them data can end.
enum class Stage : uint8_t {
  kKernel,        // the kernel's ftrace buffers: events that it overwrote or dropped
  kSharedMemory,  // of the producer: never committed as a whole, or dropped as it was full
  kCommit,        // refused, or against the rules of the shared memory
  kBuffer,        // the central buffer: overwritten, discarded, stalled or abandoned there
  kFile,          // on the way to the file: not read, or refused when it was read
  kImport,        // trace processor: events that are too late for its sorting
  kUnknown,       // the log or the trace does not show at which
  kElsewhere,     // not lost: another reader has it, or a program's state (ProtoVM)
  kLeft,          // in the trace
};
/// Words of a stage.
struct StageRow {
  Stage value;
  const char* name;
  const char* place;
  /// A clause on the data that ended here: {n} is its count, {were} and {are} its verbs, and
  /// {buffer} the buffer's name.
  const char* ended;
};
template <>
inline constexpr auto kEnumRows<Stage> = EnumTable<StageRow>({
    {Stage::kKernel, "kernel", "in the kernel", "the kernel lost {n}"},
    {Stage::kSharedMemory, "shared_memory", "in shared memory",
     "{n} {were} unfinished in shared memory"},
    {Stage::kCommit, "commit", "at the commit", "{n} {were} lost at the commit"},
    {Stage::kBuffer, "buffer", "in the buffers", "{buffer} lost {n}"},
    {Stage::kFile, "file", "on the way to the file", "{n} {were} lost on the way to the file"},
    {Stage::kImport, "import", "in the import's sorting",
     "{n} {are} too late for the import's sorting"},
    {Stage::kUnknown, "unknown", "at an unknown stage", "{n} {were} lost at an unknown stage"},
    {Stage::kElsewhere, "elsewhere", "read elsewhere or folded",
     "{n} {were} read elsewhere or folded"},
    {Stage::kLeft, "left", "left", "{n} {are} in the trace"},
});
inline constexpr size_t kStages = kEnumRows<Stage>.size();

/// Data that ended at a stage: packets; at kKernel and kImport events, none or part of one.
struct StageCount {
  PacketCount count;
  uint64_t places = 0;       // at which an unknown number more was lost
  uint64_t chunks = 0;       // that were refused, with an unknown number of packets
  bool is_known = true;      // false: `count` is not proven
  bool is_estimate = false;  // the bytes of `count` are one

  friend bool operator==(const StageCount&, const StageCount&) = default;
};

/// The stages at which the packets of a sequence, or of several, ended.
struct StageAccount : std::array<StageCount, kStages> {
  using std::array<StageCount, kStages>::operator[];
  StageCount& operator[](Stage stage) { return (*this)[static_cast<size_t>(stage)]; }
  const StageCount& operator[](Stage stage) const { return (*this)[static_cast<size_t>(stage)]; }
  StageAccount& operator+=(const StageAccount& other);
  /// Returns the packets that were written. nullopt: a trace does not show it.
  std::optional<PacketCount> written() const;

  uint64_t unusable = 0;  // packets that are left, and need state that was lost
  uint64_t waiting = 0;   // packets of kBuffer that are still there, and were not read
};

/// A process, as far as it is known.
struct StageProcess {
  std::string name;
  int32_t pid = 0;
  uint32_t machine = 0;
  friend auto operator<=>(const StageProcess&, const StageProcess&) = default;
};

/// The account of one sequence in one buffer.
struct SequenceStages : StageAccount {
  StageProcess process;
  std::string thread;  // its name; empty: not known
  uint32_t id = 0;     // in the trace; 0: it is not there
  uint64_t track = 0;  // uuid of its thread's track in the trace; 0: none describes it
  std::string writer;  // its second name, in logs: "1:1"
  std::string buffer;  // "buffers[0]"; empty: not known
  std::string source;  // its data source; empty: not known
};

/// The one account of a session or a trace. With a log all of it is exact but for `places`; of a
/// trace alone known is what it proves.
struct StageAccounts {
  StageAccount all;
  std::map<std::string, StageAccount> buffers;  // by name
  std::map<std::string, StageAccount> sources;  // by data source, as far as it is known
  std::map<StageProcess, StageAccount> processes;
  std::vector<SequenceStages> sequences;

  void Sum();  // adds the sequences to the sums
};

/// Returns the sequence as the trace names it, with its process, thread and second name: "sequence
/// 5 (demo-app/appbin, 1:4)"; one that is not in the trace: "writer 1:1 (demo-app)".
/// @param below_process without the process, in a list that names it: "sequence 5 (appbin, 1:4)"
std::string NameOf(const SequenceStages& sequence, bool below_process = false);

/// The events that the kernel lost, by its counters; places on CPUs without these.
StageCount KernelLosses(const FtraceCounters& counters);

/// "128,295 packets were written: 5 were unfinished in shared memory; buffers[0] lost 123,378
/// (96.2%); 4,912 are in the trace, 2 of them usable." Of a trace alone: "buffers[0] overwrote
/// 6.14 MiB; packets are missing at 7 places; 4,912 packets are in the trace. A trace does not show
/// losses in shared memory."
std::string StagesText(const StageAccounts& accounts);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_TRACE_STAGE_ACCOUNT_H_
