#ifndef RINGSCOPE_COMMANDS_GAPS_SHOWN_GAPS_H_
#define RINGSCOPE_COMMANDS_GAPS_SHOWN_GAPS_H_

#include <algorithm>

#include "commands/replays/replay_run.h"
#include "commands/replays/tried_remedies.h"
#include "core/gaps/gap_selection.h"
#include "core/perfetto/packet_kinds.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// The gaps of a session that the user wants to see, and all that showing them takes.
struct ShownGaps : GapSelection {
  ShownGaps(const GapReport& all, const ReplayOutcome& replayed, const SessionNotes& session,
            const GapFilter& filter, const RemedyList& tried, const PacketKinds& packet_kinds)
      : GapSelection(all, session.start_ns(), filter),
        outcome(replayed),
        notes(session),
        remedies(tried),
        kinds(packet_kinds) {}

  const ReplayOutcome& outcome;
  const SessionNotes& notes;
  const RemedyList& remedies;
  const PacketKinds& kinds;

  /// Returns the buffer, or nullptr if it was never set up.
  const BufferOutcome* BufferOf(BufferId id) const {
    const auto found = std::ranges::find(outcome.buffers, id, &BufferOutcome::id);
    return found == outcome.buffers.end() ? nullptr : &*found;
  }
  /// Calls visit(const Gap&) for each gap, those of buffer bugs first.
  template <typename Visit>
  void VisitGaps(Visit visit) const {
    for (const std::vector<const Gap*>* list : {&own_fault, &gaps})
      for (const Gap* gap : *list) visit(*gap);
  }
};

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GAPS_SHOWN_GAPS_H_
