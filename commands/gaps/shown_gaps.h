#ifndef RINGSCOPE_COMMANDS_GAPS_SHOWN_GAPS_H_
#define RINGSCOPE_COMMANDS_GAPS_SHOWN_GAPS_H_

#include <algorithm>

#include "commands/replays/replay_run.h"
#include "commands/replays/tried_remedies.h"
#include "core/gaps/gap_selection.h"
#include "core/perfetto/packet_kinds.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// What the user wants to see of a session's gaps, and all that showing it takes.
struct ShownGaps : GapSelection {
  ShownGaps(const GapReport& all, const ReplayOutcome& replayed, const SessionNotes& session,
            const GapFilter& filter, uint64_t at_most, const std::vector<Remedy>& tried,
            const PacketKinds& packet_kinds)
      : GapSelection(all, session.start_ns(), filter, at_most),
        outcome(replayed),
        notes(session),
        remedies(tried),
        kinds(packet_kinds) {}

  const ReplayOutcome& outcome;
  const SessionNotes& notes;
  const std::vector<Remedy>& remedies;
  const PacketKinds& kinds;

  /// The remedies for buffers of which sequences with losses are selected.
  std::vector<Remedy> SelectedRemedies() const {
    std::vector<Remedy> selected = remedies;
    std::erase_if(selected, [&](const Remedy& remedy) {
      return remedy.buffer && std::ranges::none_of(sequences, [&](const SequenceGaps* sequence) {
               return sequence->buffer == *remedy.buffer && sequence->lost().packets > 0;
             });
    });
    return selected;
  }
  const BufferOutcome* BufferOf(BufferId id) const {
    const auto found = std::find_if(outcome.buffers.begin(), outcome.buffers.end(),
                                    [&](const BufferOutcome& buffer) { return buffer.id == id; });
    return found == outcome.buffers.end() ? nullptr : &*found;
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_SHOWN_GAPS_H_
