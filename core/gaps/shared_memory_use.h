#ifndef RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_
#define RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "core/base/enum_names.h"
#include "core/base/log_moment.h"
#include "core/base/sequence_map.h"
#include "core/log/op.h"
#include "core/perfetto/commit_fragments.h"

namespace ringscope {

/// Why a writer found no free chunk in its producer's shared memory, as far as commits show it.
enum class AbortReason : uint8_t {
  kNotShown,      // the commits before it do not fill the memory
  kLargePacket,   // the packet alone fills it
  kBurst,         // the producer's commits just before it fill it
  kServiceQuiet,  // so do those that come at once after a time without any commit
};
template <>
inline constexpr std::array kEnumNames<AbortReason> = {"not_shown", "large_packet", "burst",
                                                       "service_quiet"};

/// What the log shows of the moment in which a writer aborted a packet.
struct AbortFacts {
  AbortReason reason = AbortReason::kNotShown;
  std::optional<uint64_t> smb_size;  // bytes
  uint64_t packet_bytes = 0;         // of the packet, that were committed before it was aborted
  uint64_t window_bytes = 0;         // that the producer committed in the kWindowNs before
  uint64_t quiet_ns = 0;             // how long nobody committed anything before this request

  static constexpr uint64_t kWindowNs = 100'000'000;
};

/// Follows how much producers commit, to tell apart why their shared memory was full.
/// Memory: O(sequences + commits of a tenth of a second).
class SharedMemoryUse {
 public:
  void OnRecord(const Op& op, const LogMoment& moment);
  /// A chunk as it is committed. @return the facts, if it ends with the marker of an aborted packet
  std::optional<AbortFacts> AddChunk(const ChunkCommit& commit, const WrittenChunk& written);

 private:
  struct Sent {
    uint64_t time_ns = 0;
    uint64_t bytes = 0;
  };
  struct Producer {
    std::optional<uint64_t> smb_size;
    std::deque<Sent> sent;  // in the window before the last commit
    uint64_t sent_bytes = 0;
  };

  LogMoment now_;
  std::optional<uint64_t> last_commit_ns_;  // of any producer, before the record under way
  uint64_t quiet_ns_ = 0;
  std::map<ProducerId, Producer> producers_;
  SequenceMap<uint64_t> open_;  // bytes of the packet that continues in the next chunk
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_GAPS_SHARED_MEMORY_USE_H_
