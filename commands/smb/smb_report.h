#ifndef RINGSCOPE_COMMANDS_SMB_SMB_REPORT_H_
#define RINGSCOPE_COMMANDS_SMB_SMB_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/report/report.h"
#include "core/smb/memory_story.h"

namespace ringscope {

/// What is known of a session's producers besides their memories.
struct SmbProducer {
  std::string name;
  std::optional<uint64_t> size_hint;       // bytes
  std::optional<uint64_t> page_size_hint;  // bytes
};
using SmbProducers = std::map<ProducerId, SmbProducer>;

/// "1 app"
std::string SmbProducerText(ProducerId id, const SmbProducers& producers);

/// The memories of a session: how they are divided, how full they were, how long the steps of
/// chunks took.
/// @param start_ns of the session
void ReportMemories(Report& report, const std::vector<const smb::MemoryFollower*>& memories,
                    const SmbProducers& producers, uint64_t start_ns);

/// The pages and chunks of one memory, as the last look at or before a moment shows them.
void ReportPicture(Report& report, const smb::MemoryFollower& memory, const SmbProducers& producers,
                   uint64_t start_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_SMB_REPORT_H_
