#ifndef RINGSCOPE_COMMANDS_SMB_SMB_SVG_H_
#define RINGSCOPE_COMMANDS_SMB_SMB_SVG_H_

#include <cstdint>
#include <string>
#include <vector>

#include "commands/smb/smb_report.h"
#include "core/smb/memory_story.h"

namespace ringscope {

/// The pages and chunks of memories as ReportPicture writes them, drawn: a cell for each page, by
/// the state of its chunks, and which writers had them.
/// @param start_ns of the session
std::string MemorySvg(const std::vector<const smb::MemoryFollower*>& memories,
                      const SmbProducers& producers, uint64_t start_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_SMB_SVG_H_
