#ifndef RINGSCOPE_CORE_LOG_SERVICE_ACCESS_H_
#define RINGSCOPE_CORE_LOG_SERVICE_ACCESS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "core/base/enum_names.h"
#include "core/base/lookup.h"
#include "core/log/op.h"
#include "core/perfetto/commit_request.h"

namespace ringscope {

/// Why the service does not let a chunk into a buffer.
enum class Refusal : uint8_t { kNoSharedMemory, kNoSuchPage, kNoSuchBuffer, kMayNotWrite };
template <>
inline constexpr auto kEnumRows<Refusal> = EnumTable<EnumRow<Refusal>>({
    {Refusal::kNoSharedMemory, "no_shared_memory", "no shared memory yet"},
    {Refusal::kNoSuchPage, "no_such_page", "no such page"},
    {Refusal::kNoSuchBuffer, "no_such_buffer", "no such buffer"},
    {Refusal::kMayNotWrite, "may_not_write", "may not write to this buffer"},
});

/// The service's permission check. Each rule applies only once the session has records of that
/// kind. Source: Perfetto's tracing service, as observed.
class ServiceAccess {
 public:
  struct Producer {
    Identity identity;
    bool has_shared_memory = false;
    std::optional<uint64_t> smb_pages;     // pages of its shared memory, if known
    std::map<WriterId, BufferId> writers;  // registered
    std::set<BufferId> may_write;          // target buffers of its data sources, until freed
  };

  /// Applies a record about producers, shared memory, data sources, writers or freed buffers.
  void Apply(const Op& op);

  /// Returns a connected producer, or nullptr. Valid until the next Apply.
  const Producer* Find(ProducerId id) const { return FindIn(producers_, id); }
  /// Returns true if the producer lacks shared memory: the service ignores its whole requests.
  bool IgnoresRequests(const Producer* producer) const {
    return knows_shared_memory_ && producer != nullptr && !producer->has_shared_memory;
  }
  /// Returns why a chunk is refused, if it is.
  /// @param producer that Find returned; @param is_open the target buffer is set up and not freed
  /// @param release of the service, 54 for v54
  std::optional<Refusal> Check(const Producer* producer, const Commit& commit,
                               const ChunkToMove& chunk, WriterId writer, bool is_open,
                               uint32_t release) const;

  /// Returns true after a record of any producer's connection.
  bool knows_producers() const { return producers_seen_ > 0; }
  uint64_t producers_seen() const { return producers_seen_; }
  uint64_t producers_connected() const { return knows_producers() ? producers_.size() : 0; }
  /// Returns the machine_id of the producer, also after it disconnected. The service's own is 0.
  uint32_t MachineOf(ProducerId id) const {
    const uint32_t* const machine = FindIn(machines_, id);
    return machine == nullptr ? 0 : *machine;
  }

 private:
  /// Returns the producer that a record is about, or nullptr if it is not connected.
  Producer* Known(ProducerId id) {
    return knows_producers() ? FindIn(producers_, id) : &producers_[id];
  }

  std::map<ProducerId, Producer> producers_;  // connected, once there are records of connections
  std::map<ProducerId, uint32_t> machines_;   // of all that were connected
  uint64_t producers_seen_ = 0;
  bool knows_data_sources_ = false;
  bool knows_shared_memory_ = false;
};

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_SERVICE_ACCESS_H_
