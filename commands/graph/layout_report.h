#ifndef RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"
#include "commands/view/json.h"
#include "core/graph/layout_map.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// Maps for a terminal: a letter for each sequence, capital where unread.
/// @param notes of the same replay
std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                       const SessionNotes& notes);
/// An array of buffers.
Json LayoutJson(const std::vector<BufferLayout>& layouts);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_
