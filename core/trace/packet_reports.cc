#include "core/trace/packet_reports.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

bool IsSet(Bytes message, uint32_t number) {
  return wire::LastVarint(message, number).value_or(0) != 0;
}

}  // namespace

bool PacketReports::Wants(uint32_t content) {
  switch (content) {
    case TracePacket::kProfilePacket:
    case TracePacket::kAndroidLog:
    case TracePacket::kThreadDescriptor:
    case TracePacket::kPerfettoMetatrace:
    case TracePacket::kGpuCounterEvent:
    case TracePacket::kPerfSample:
    case TracePacket::kAndroidGameInterventionList:
    case TracePacket::kJournaldEvent:
    case TracePacket::kTrackDescriptor:
    case TracePacket::kPackagesList:
      return true;
    default:
      return false;
  }
}

uint64_t* PacketReports::At(Reported what, std::optional<uint32_t> index) {
  const Key key(what, RowOf(what).has_index ? index : std::nullopt);
  const auto known = counts_.find(key);
  if (known != counts_.end()) return &known->second;
  return counts_.size() < kMaxRows ? &counts_[key] : nullptr;
}

void PacketReports::Count(Reported what, std::optional<uint32_t> index, uint64_t times) {
  if (uint64_t* const value = At(what, index)) *value += times;
}

void PacketReports::Set(Reported what, std::optional<uint32_t> index, uint64_t value) {
  if (uint64_t* const place = At(what, index)) *place = value;
}

uint64_t PacketReports::Sum(Reported what) const {
  uint64_t sum = 0;
  for (auto row = counts_.lower_bound({what, std::nullopt});
       row != counts_.end() && row->first.first == what; ++row)
    sum += row->second;
  return sum;
}

void PacketReports::Add(const TracePacketView& packet, const std::optional<int64_t>& ns) {
  const Bytes content = packet.content_bytes;
  switch (packet.content) {
    case TracePacket::kTrackDescriptor:
      AddTrack(content);
      break;
    case TracePacket::kThreadDescriptor:
      if (!packet.has_sequence_id) Count(Reported::kThreadWithoutSequence);
      break;
    case TracePacket::kProfilePacket:
      AddHeapProfile(packet);
      break;
    case TracePacket::kPerfSample:
      AddPerfSample(content, ns);
      break;
    case TracePacket::kGpuCounterEvent: {
      constexpr uint32_t kCounters = 2;
      if (!packet.timestamp && wire::LastBytes(content, kCounters))
        Count(Reported::kGpuCountersWithoutTime);
      break;
    }
    case TracePacket::kAndroidLog: {
      constexpr uint32_t kStats = 2, kFailed = 2;
      if (const auto stats = wire::LastBytes(content, kStats))
        Set(Reported::kAndroidLog, {}, wire::LastVarint(*stats, kFailed).value_or(0));
      break;
    }
    case TracePacket::kJournaldEvent: {
      constexpr uint32_t kFailed = 21;
      if (const auto failed = wire::LastVarint(content, kFailed))
        Set(Reported::kJournal, {}, *failed);
      break;
    }
    case TracePacket::kPerfettoMetatrace: {
      constexpr uint32_t kHasOverruns = 6;
      if (IsSet(content, kHasOverruns)) Count(Reported::kMetatrace);
      break;
    }
    // Of several such lists the last one counts.
    case TracePacket::kPackagesList:
    case TracePacket::kAndroidGameInterventionList: {
      constexpr uint32_t kParseError = 2, kReadError = 3;
      const bool is_packages = packet.content == TracePacket::kPackagesList;
      Set(is_packages ? Reported::kPackagesParse : Reported::kGamesParse, {},
          IsSet(content, kParseError) ? 1 : 0);
      Set(is_packages ? Reported::kPackagesRead : Reported::kGamesRead, {},
          IsSet(content, kReadError) ? 1 : 0);
      break;
    }
    default:
      break;
  }
}

void PacketReports::AddHeapProfile(const TracePacketView& packet) {
  constexpr uint32_t kDumps = 5, kIndex = 7;
  // The packets of a profiler's sequence are numbered, from 0.
  const uint64_t index = wire::LastVarint(packet.content_bytes, kIndex).value_or(0);
  const auto known = next_heap_index_.find(packet.sequence_id);
  const uint64_t expected = known == next_heap_index_.end() ? 0 : known->second;
  if (index != expected) Count(Reported::kHeapMissing);
  if (known != next_heap_index_.end())
    known->second = index + 1;
  else if (next_heap_index_.size() < kMaxSequences)
    next_heap_index_[packet.sequence_id] = index + 1;
  wire::FieldReader dumps(packet.content_bytes);
  while (const auto dump = dumps.Next())
    if (dump->number == kDumps && dump->type == wire::Type::kBytes) AddHeapDump(dump->bytes);
}

void PacketReports::AddHeapDump(Bytes dump) {
  constexpr uint32_t kPid = 1, kRejected = 4, kOverran = 7, kCorrupted = 8, kGuardrail = 10,
                     kClientError = 14;
  const auto pid = static_cast<uint32_t>(wire::LastVarint(dump, kPid).value_or(0));
  const auto count = [&](uint32_t field, Reported what) {
    if (IsSet(dump, field)) Count(what, pid);
  };
  count(kOverran, Reported::kHeapOverran);
  count(kCorrupted, Reported::kHeapCorrupted);
  count(kRejected, Reported::kHeapRejected);
  count(kGuardrail, Reported::kHeapGuardrail);
  if (IsSet(dump, kClientError))
    Set(Reported::kHeapClientError, pid, *wire::LastVarint(dump, kClientError));
}

void PacketReports::AddPerfSample(Bytes sample, const std::optional<int64_t>& ns) {
  constexpr uint32_t kCpu = 1, kLost = 17, kSkipReason = 18, kProducerEvent = 19;
  constexpr uint64_t kUnwindQueueWasFull = 3, kNotInScope = 4;
  constexpr uint32_t kStopReason = 1;
  constexpr uint64_t kStoppedByGuardrail = 1;
  const auto cpu = static_cast<uint32_t>(wire::LastVarint(sample, kCpu).value_or(0));
  if (const auto lost = wire::LastVarint(sample, kLost); lost.value_or(0) != 0) {
    Count(Reported::kPerfLost, cpu, *lost);
    return;
  }
  if (const auto reason = wire::LastVarint(sample, kSkipReason); reason && *reason != kNotInScope) {
    Count(Reported::kPerfSkipped);
    if (*reason == kUnwindQueueWasFull) Count(Reported::kPerfSkippedLoss);
    return;
  }
  const auto event = wire::LastBytes(sample, kProducerEvent);
  if (event && ns && wire::LastVarint(*event, kStopReason) == kStoppedByGuardrail)
    Set(Reported::kPerfStopped, cpu, static_cast<uint64_t>(*ns));
}

void PacketReports::AddTrack(Bytes track) {
  constexpr uint32_t kUuid = 1, kPid = 1, kTid = 2, kThread = 4;
  if (!wire::LastVarint(track, kUuid)) {
    Count(Reported::kTrackWithoutUuid);
    return;
  }
  if (const auto thread = wire::LastBytes(track, kThread)) {
    if (!wire::LastVarint(*thread, kPid) || !wire::LastVarint(*thread, kTid))
      Count(Reported::kThreadTrackWithoutIds);
    return;
  }
  const auto process = wire::LastBytes(track, proto::TrackDescriptor::kProcess);
  if (process && !wire::LastVarint(*process, kPid)) Count(Reported::kProcessTrackWithoutPid);
}

}  // namespace ringscope
