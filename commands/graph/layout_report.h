#ifndef RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_
#define RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_

#include <string>
#include <vector>

#include "commands/graph/graph_words.h"
#include "commands/report/json.h"
#include "core/graph/layout_grid.h"

namespace ringscope {

/// "buffer 1 (v2@58, 256 KiB, ring_buffer) after record 4,734 (1.836718 s)"
std::string LayoutHeading(const BufferLayout& layout, const GraphClock& clock);
/// "2:2: 120 chunks, 64 KiB, 60 KiB unread"
std::string ShareText(const LayoutShare& share);

/// Maps for a terminal: a letter for each sequence, capital where unread.
std::string LayoutText(const std::vector<BufferLayout>& layouts, const GraphClock& clock);
std::string LayoutSvg(const std::vector<BufferLayout>& layouts, const GraphClock& clock);
/// An array of buffers.
Json LayoutJson(const std::vector<BufferLayout>& layouts);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_GRAPH_LAYOUT_REPORT_H_
