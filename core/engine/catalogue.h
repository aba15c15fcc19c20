#ifndef RINGSCOPE_CORE_ENGINE_CATALOGUE_H_
#define RINGSCOPE_CORE_ENGINE_CATALOGUE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/engine/engine.h"
#include "core/engine/v2_rules.h"
#include "core/perfetto/fragment.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {

using EngineFactory = std::function<Result<std::unique_ptr<Engine>>(const EngineConfig&)>;

/// In which order a read pass takes what is in a buffer.
enum class ReadOrder : uint8_t { kUnknown, kByBuffer, kBySequence };
/// Reports of an engine to its observer, beside the packets that it returns. What it does not
/// report is unknown, and never concluded from the rest.
struct EngineReports {
  bool chunks = true;     // each chunk that is committed, changed or erased, and why
  bool abandoned = true;  // each packet that a read pass abandoned
  bool stalls = true;     // what a sequence waits for

  static constexpr EngineReports Nothing() { return {false, false, false}; }
};

/// A buffer version that can be replayed: one of the catalogue, or a plug-in.
struct EngineInfo {
  std::string name;         // "v2@58", or the plug-in's path as it was asked for
  std::string corresponds;  // to which released buffer
  std::string difference;   // what sets it apart from its predecessor, in a sentence
  EngineFactory create;
  /// Release of the service that has this buffer, 54 for v54, for what differs around the buffer.
  /// V1 is in all of them: the newest.
  uint32_t release = kNewestRelease;
  EngineReports reports = {};
  /// A chunk takes space for its whole payload, not for its fragments alone.
  bool stores_whole_payloads = false;
  /// The first packet of a sequence that a read pass returns is flagged, and so is a packet read
  /// after a lost one at any later time, whatever is missing: such a flag proves no loss.
  bool flags_first_of_sequence = false;
  /// A chunk that is taken in again, after it was consumed incomplete, is flagged as a gap.
  bool flags_readmitted = false;
  ReadOrder read_order = ReadOrder::kUnknown;
  /// The buffer feeds what it overwrites to the programs of data sources (ProtoVM).
  bool has_protovm = false;

  /// Bytes that a chunk takes in the buffer, header and alignment included. V2 stores the fragments
  /// alone, unless the chunk may still grow.
  /// @param scratch is overwritten
  uint32_t SpaceOf(const ChunkCommit& commit, WrittenChunk& scratch) const;
};

/// All engines, oldest first.
std::span<const EngineInfo> Engines();

/// Looks a name up: a catalogue name, or "v2" for the newest V2. The error names the nearest name.
Result<const EngineInfo*> FindEngine(std::string_view name);

/// Resolves what a user may write for an engine. What it returns lives as long as the lookup or a
/// copy of it; engines that were created live on by themselves.
using EngineLookup = std::function<Result<const EngineInfo*>(std::string_view name)>;

/// The engine for a buffer of which nothing else is known.
inline constexpr const char* kDefaultEngine = "v2";

/// One difference between a buffer version and the one before it, for people who look at a trace.
struct ReleaseNote {
  bool V2Rules::*rule;  // the rule that carries it; nullptr: V1 against all V2
  const char* title;    // a few words, no full stop
  const char* before;   // how the engines before do it; for "v1": how V2 does it
  const char* since;    // how this engine and those after it do it
  const char* symptom;  // what of it shows in a trace
  std::vector<uint64_t BufferStats::*> counters;  // which show it; may be none

  /// The first that behaves the new way: "v2@56"; "v1".
  std::string engine() const;
};

/// All differences, in the order of the releases.
std::span<const ReleaseNote> ReleaseNotes();

/// Returns the notes that this engine introduced: "v2@56" against "v2@55"; "v1" against V2.
std::vector<const ReleaseNote*> NotesOf(std::string_view engine);

/// A counter's name, as statistics call it.
const char* CounterName(uint64_t BufferStats::*counter);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_CATALOGUE_H_
