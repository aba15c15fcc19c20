#ifndef RINGSCOPE_COMMANDS_GRAPH_BUFFER_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_BUFFER_REPORT_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"
#include "commands/view/json_fields.h"
#include "core/graph/layout_map.h"
#include "core/session/session_notes.h"

namespace ringscope {

// Contents of buffers at a moment.

/// Maps for a terminal: a letter for each sequence, capital where unread.
/// @param notes of the same replay
std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                       const SessionNotes& notes);
void ListFields(JsonFieldWriter& io, const BufferLayout& layout);

/// In which order a read pass takes what is in the buffers, for a terminal.
/// @param full every step, however many
std::string OrderText(const std::vector<ReadWalk>& walks, bool full, const GraphClock& clock,
                      const SessionNotes& notes);
/// With every step.
void ListFields(JsonFieldWriter& io, const ReadWalk& walk);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_BUFFER_REPORT_H_
