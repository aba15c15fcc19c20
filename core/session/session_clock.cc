#include "core/session/session_clock.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "core/base/text.h"
#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr uint32_t kTimeOfDay = proto::BuiltinClock::kRealTime;
constexpr uint64_t kNsOfSecond = 1'000'000'000;

}  // namespace

void SessionClock::AddRecord(const Op& op) {
  if (!start_ns_) start_ns_ = op.time_ns;
  const auto* const snapshot = std::get_if<ClockSnapshotRecord>(&op.body);
  if (snapshot == nullptr || base_ != TimeBase::kWall) return;
  clocks_.AddSnapshot(wire::AsBytes(snapshot->snapshot));
  if (clocks_.Knows(kTimeOfDay)) wall_offset_ns_ = clocks_.Resolve(kTimeOfDay, 0);
}

std::string SessionClock::Text(uint64_t boot_ns) const {
  if (base_ == TimeBase::kSession)
    return HumanDuration(boot_ns > start_ns() ? boot_ns - start_ns() : 0);
  if (base_ == TimeBase::kBoot)
    return fmt::format("{}.{:09} s", boot_ns / kNsOfSecond, boot_ns % kNsOfSecond);
  if (!wall_offset_ns_) return "?";
  const uint64_t wall_ns = boot_ns - *wall_offset_ns_;
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:06} UTC",
                     fmt::gmtime(static_cast<std::time_t>(wall_ns / kNsOfSecond)),
                     wall_ns % kNsOfSecond / 1000);
}

}  // namespace ringscope
