#ifndef RINGSCOPE_CORE_LOG_LIFE_EVENT_H_
#define RINGSCOPE_CORE_LOG_LIFE_EVENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "core/log/op.h"

namespace ringscope {

/// Index of a record kind in OpBody.
template <typename Kind, size_t kIndex = 0>
constexpr size_t OpKindOf() {
  if constexpr (std::is_same_v<std::variant_alternative_t<kIndex, AnyRecord>, Kind>)
    return kIndex;
  else
    return OpKindOf<Kind, kIndex + 1>();
}

/// An event of a session, its producers or data sources, its flushes and clones, or the recording;
/// not what reached the buffers.
struct LifeEvent {
  std::optional<uint64_t> time_ns;
  uint64_t record = 0;                  // number in the file
  uint64_t kind = 0;                    // of the record: index in OpBody, see OpKindName
  std::optional<SessionChange> change;  // of a `session` record
  std::optional<uint64_t> session;      // as the log numbers it
  std::optional<ProducerId> producer;
  std::optional<uint64_t> instance;  // of a data source
  std::vector<uint64_t> instances;   // that are to flush or to clear their state
  std::optional<BufferId> buffer;    // that a data source writes to, or that it is about
  std::optional<uint64_t> flush;
  uint64_t flags = 0;  // of the flush
  std::optional<uint64_t> clone;
  bool flag = false;   // stopped, no_flush, transfer, success, running: what the kind has of these
  uint64_t size = 0;   // bytes, of a buffer
  std::string name;    // of the session, producer, data source, trigger or reason; at most kMaxText
  std::string detail;  // text, at most kMaxText bytes; of a config, all its bytes

  static constexpr size_t kMaxText = 1024;

  /// Returns true if the record is of this kind.
  template <typename Kind>
  bool Is() const {
    return kind == OpKindOf<Kind>();
  }
  friend bool operator==(const LifeEvent&, const LifeEvent&) = default;
};

/// Returns the event that a record is, if it is one.
std::optional<LifeEvent> LifeEventOf(const Op& op, uint64_t record);

}  // namespace ringscope

#endif  // RINGSCOPE_CORE_LOG_LIFE_EVENT_H_
