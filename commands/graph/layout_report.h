#ifndef RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"
#include "commands/view/json.h"
#include "core/graph/layout_grid.h"
#include "core/session/session_notes.h"

namespace ringscope {

/// "buffer 1 (v2@58, 256 KiB, ring_buffer) after record 4,734 (1.836718 s)"
std::string LayoutHeading(const BufferLayout& layout, const GraphClock& clock);
/// "2:2 (app/render): 120 chunks, 64 KiB, 60 KiB unread"
std::string ShareText(const LayoutShare& share, const SessionNotes& notes);

/// Maps for a terminal: a letter for each sequence, capital where unread.
/// @param notes of the same replay
std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                       const SessionNotes& notes);
/// How much of a layout a picture has.
struct LayoutDetail {
  size_t cells = 8192;       // of each map, at most; rows have 128
  size_t shares = SIZE_MAX;  // in the legend, at most
};
std::string LayoutSvg(const std::vector<BufferLayout>& layouts, const GraphClock& clock,
                      const SessionNotes& notes, const LayoutDetail& detail = {});
/// An array of buffers.
Json LayoutJson(const std::vector<BufferLayout>& layouts);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_
