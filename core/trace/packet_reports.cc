#include "core/trace/packet_reports.h"

#include "core/base/wire.h"
#include "core/perfetto/fields.h"

namespace ringscope {
namespace {

using proto::TracePacket;

// Fields of TracePacket.
constexpr uint32_t kFieldHeapProfile = 37, kFieldAndroidLog = 39, kFieldThreadDescriptor = 44,
                   kFieldMetatrace = 49, kFieldGpuCounters = 52, kFieldPerfSample = 66,
                   kFieldGameInterventions = 83, kFieldJournalEvent = 132;

/// The last number of a field; nullopt: it is not there.
std::optional<uint64_t> NumberIn(Bytes message, uint32_t number) {
  std::optional<uint64_t> found;
  wire::FieldReader fields(message);
  while (const auto field = fields.Next())
    if (field->number == number && field->type == wire::Type::kVarint) found = field->value;
  return found;
}

/// The last message of a field; nullopt: it is not there.
std::optional<Bytes> MessageIn(Bytes message, uint32_t number) {
  std::optional<Bytes> found;
  wire::FieldReader fields(message);
  while (const auto field = fields.Next())
    if (field->number == number && field->type == wire::Type::kBytes) found = field->bytes;
  return found;
}

bool IsSet(Bytes message, uint32_t number) { return NumberIn(message, number).value_or(0) != 0; }

}  // namespace

bool PacketReports::Wants(uint32_t content) {
  switch (content) {
    case kFieldHeapProfile:
    case kFieldAndroidLog:
    case kFieldThreadDescriptor:
    case kFieldMetatrace:
    case kFieldGpuCounters:
    case kFieldPerfSample:
    case kFieldGameInterventions:
    case kFieldJournalEvent:
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
    case kFieldThreadDescriptor:
      if (!packet.has_sequence_id) Count(Reported::kThreadWithoutSequence);
      break;
    case kFieldHeapProfile:
      AddHeapProfile(packet);
      break;
    case kFieldPerfSample:
      AddPerfSample(content, ns);
      break;
    case kFieldGpuCounters: {
      constexpr uint32_t kCounters = 2;
      if (!packet.timestamp && MessageIn(content, kCounters))
        Count(Reported::kGpuCountersWithoutTime);
      break;
    }
    case kFieldAndroidLog: {
      constexpr uint32_t kStats = 2, kFailed = 2;
      if (const auto stats = MessageIn(content, kStats))
        Set(Reported::kAndroidLog, {}, NumberIn(*stats, kFailed).value_or(0));
      break;
    }
    case kFieldJournalEvent: {
      constexpr uint32_t kFailed = 21;
      if (const auto failed = NumberIn(content, kFailed)) Set(Reported::kJournal, {}, *failed);
      break;
    }
    case kFieldMetatrace: {
      constexpr uint32_t kHasOverruns = 6;
      if (IsSet(content, kHasOverruns)) Count(Reported::kMetatrace);
      break;
    }
    // Of several such lists the last one counts.
    case TracePacket::kPackagesList:
    case kFieldGameInterventions: {
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
  const uint64_t index = NumberIn(packet.content_bytes, kIndex).value_or(0);
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
  const auto pid = static_cast<uint32_t>(NumberIn(dump, kPid).value_or(0));
  const auto count = [&](uint32_t field, Reported what) {
    if (IsSet(dump, field)) Count(what, pid);
  };
  count(kOverran, Reported::kHeapOverran);
  count(kCorrupted, Reported::kHeapCorrupted);
  count(kRejected, Reported::kHeapRejected);
  count(kGuardrail, Reported::kHeapGuardrail);
  if (IsSet(dump, kClientError))
    Set(Reported::kHeapClientError, pid, *NumberIn(dump, kClientError));
}

void PacketReports::AddPerfSample(Bytes sample, const std::optional<int64_t>& ns) {
  constexpr uint32_t kCpu = 1, kLost = 17, kSkipReason = 18, kProducerEvent = 19;
  constexpr uint64_t kUnwindQueueWasFull = 3, kNotInScope = 4;
  constexpr uint32_t kStopReason = 1;
  constexpr uint64_t kStoppedByGuardrail = 1;
  const auto cpu = static_cast<uint32_t>(NumberIn(sample, kCpu).value_or(0));
  if (const auto lost = NumberIn(sample, kLost); lost.value_or(0) != 0) {
    Count(Reported::kPerfLost, cpu, *lost);
    return;
  }
  if (const auto reason = NumberIn(sample, kSkipReason); reason && *reason != kNotInScope) {
    Count(Reported::kPerfSkipped);
    if (*reason == kUnwindQueueWasFull) Count(Reported::kPerfSkippedLoss);
    return;
  }
  const auto event = MessageIn(sample, kProducerEvent);
  if (event && ns && NumberIn(*event, kStopReason) == kStoppedByGuardrail)
    Set(Reported::kPerfStopped, cpu, static_cast<uint64_t>(*ns));
}

void PacketReports::AddTrack(Bytes track) {
  constexpr uint32_t kUuid = 1, kPid = 1, kTid = 2, kThread = 4;
  if (!NumberIn(track, kUuid)) {
    Count(Reported::kTrackWithoutUuid);
    return;
  }
  if (const auto thread = MessageIn(track, kThread)) {
    if (!NumberIn(*thread, kPid) || !NumberIn(*thread, kTid))
      Count(Reported::kThreadTrackWithoutIds);
    return;
  }
  const auto process = MessageIn(track, proto::TrackDescriptor::kProcess);
  if (process && !NumberIn(*process, kPid)) Count(Reported::kProcessTrackWithoutPid);
}

}  // namespace ringscope
