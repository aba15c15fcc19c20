#include "core/session/session_clock.h"

#include "core/base/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr uint32_t kTimeOfDay = proto::BuiltinClock::kBuiltinClockRealtime;

}  // namespace

void SessionClock::AddRecord(const Op& op) {
  if (!start_ns_) start_ns_ = op.time_ns;
  const auto* const snapshot = std::get_if<ClockSnapshotRecord>(&op.body);
  if (snapshot == nullptr) return;
  clocks_.AddSnapshot(wire::AsBytes(snapshot->snapshot));
  if (clocks_.Knows(kTimeOfDay)) wall_offset_ns_ = clocks_.Resolve(kTimeOfDay, 0);
}

std::string SessionClock::Text(uint64_t boot_ns) const {
  return HumanDuration(boot_ns > start_ns() ? boot_ns - start_ns() : 0);
}

}  // namespace ringscope
