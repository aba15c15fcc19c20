#ifndef RINGSCOPE_COMMANDS_SMB_SMB_REPORT_H_
#define RINGSCOPE_COMMANDS_SMB_SMB_REPORT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "commands/view/report.h"
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
/// Percentiles, ns.
Json SpreadJson(const smb::TimeSpread& times);

Json SeenJson(const smb::SeenMemory& seen);

/// How much people are shown of memories. Programs get all.
enum class MemoryDetail : uint8_t {
  kUse,    // how they are divided, and how full they were
  kSteps,  // and how long the steps of chunks took
};
/// The memories of a session.
/// @param start_ns of the session
void ReportMemories(Report& report, const std::vector<const smb::MemoryFollower*>& memories,
                    const SmbProducers& producers, uint64_t start_ns,
                    MemoryDetail detail = MemoryDetail::kSteps);

/// A chunk as a look shows it, with what is known of commits.
enum class SeenChunk : uint8_t { kFree, kBeingWritten, kHeldBack, kWaiting, kBeingRead, kBad };
SeenChunk SeenChunkOf(const smb::MemoryFollower& memory, smb::ChunkSlot slot);
/// "held back", "waiting for the service"
const char* SeenChunkText(SeenChunk state);
/// "64 pages of 4 KiB, 1 chunk each"
std::string MemoryLayoutText(const smb::MemoryUse& use);
/// "1 app at 100.0 ms: 0 of 8 chunks free"
std::string PictureHeading(const smb::MemoryFollower& memory, const SmbProducers& producers,
                           uint64_t start_ns);

/// The pages and chunks of one memory, as the last look at or before a moment shows them.
void ReportPicture(Report& report, const smb::MemoryFollower& memory, const SmbProducers& producers,
                   uint64_t start_ns);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_SMB_REPORT_H_
