#ifndef RINGSCOPE_COMMANDS_SMB_CHUNK_LATENCY_H_
#define RINGSCOPE_COMMANDS_SMB_CHUNK_LATENCY_H_

#include <array>
#include <cstdint>
#include <map>
#include <utility>

#include "commands/replays/session_reader.h"
#include "commands/smb/smb_report.h"
#include "commands/view/report.h"
#include "core/graph/chunk_lifetimes.h"
#include "core/smb/time_spread.h"

namespace ringscope {

/// For how long the chunks of each producer were in each buffer, by how they left it.
/// Memory: O(producers and buffers).
class BufferTimes : public ChunkLifeListener {
 public:
  using Times = std::map<ChunkLife::Exit, smb::TimeSpread>;

  void OnChunkLeft(const ChunkLife& life) override;
  const std::map<std::pair<ProducerId, BufferId>, Times>& times() const { return times_; }

 private:
  std::map<std::pair<ProducerId, BufferId>, Times> times_;
};

/// Reports the shared memory of the session that the reader is at: how it was divided, and how full
/// it was.
Status ReportOccupancy(SessionReader& sessions, Report& report);

/// The same with how long chunks took for each step of their way: through the shared memory by its
/// looks, and in the buffers by a replay.
Status ReportLatency(Context& context, SessionReader& sessions, Report& report);

}  // namespace ringscope

#endif  // RINGSCOPE_COMMANDS_SMB_CHUNK_LATENCY_H_
