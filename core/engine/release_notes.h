#ifndef RINGSCOPE_CORE_ENGINE_RELEASE_NOTES_H_
#define RINGSCOPE_CORE_ENGINE_RELEASE_NOTES_H_

#include <span>
#include <string_view>
#include <vector>

#include "core/engine/v2_rules.h"
#include "core/perfetto/trace_stats.h"

namespace ringscope {

/// One difference between a buffer version and the one before it, for people who look at a trace.
struct ReleaseNote {
  const char* engine;   // the first that behaves the new way: "v2@56"; "v1": V1 against all V2
  bool V2Rules::*rule;  // the rule that carries it; nullptr for V1
  const char* title;    // a few words, no full stop
  const char* before;   // how the engines before do it; for "v1": how V2 does it
  const char* since;    // how this engine and those after it do it
  const char* symptom;  // what of it shows in a trace
  std::vector<uint64_t BufferStats::*> counters;  // which show it; may be none
};

/// All differences, in the order of the releases.
std::span<const ReleaseNote> ReleaseNotes();

/// Those that this engine introduced: "v2@56" against "v2@55"; "v1" against V2.
std::vector<const ReleaseNote*> NotesOf(std::string_view engine);

/// A counter's name, as statistics call it.
const char* CounterName(uint64_t BufferStats::*counter);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_ENGINE_RELEASE_NOTES_H_
