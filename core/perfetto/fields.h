#ifndef RINGSCOPE_CORE_PERFETTO_FIELDS_H_
#define RINGSCOPE_CORE_PERFETTO_FIELDS_H_

#include <cstdint>

/// Field numbers of Perfetto's messages, as far as ringscope uses them: a struct for each message.
/// Messages that are decoded into structs list their fields there (formats/ipc/ipc_messages.h).
/// Source: Perfetto's trace format and IPC protocol.
namespace ringscope::proto {

struct Trace {
  enum : uint32_t { kPacket = 1 };
};
struct TracePacket {
  enum : uint32_t {
    kFtraceEvents = 1,
    kProcessTree = 2,
    kTrustedUid = 3,
    kChromeEvents = 5,
    kClockSnapshot = 6,
    kTimestamp = 8,
    kProcessStats = 9,
    kTrustedPacketSequenceId = 10,
    kTrackEvent = 11,
    kInternedData = 12,
    kSequenceFlags = 13,
    kTraceConfig = 33,
    kFtraceStats = 34,
    kTraceStats = 35,
    kSynchronizationMarker = 36,
    kProfilePacket = 37,
    kAndroidLog = 39,
    kPowerRails = 40,
    kIncrementalStateCleared = 41,
    kPreviousPacketDropped = 42,
    kThreadDescriptor = 44,
    kSystemInfo = 45,
    kTrigger = 46,
    kPackagesList = 47,
    kCompressedPackets = 50,
    kChromeMetadata = 51,
    kGpuCounterEvent = 52,
    kStreamingProfilePacket = 54,
    kTimestampClockId = 58,
    kTracePacketDefaults = 59,
    kTrackDescriptor = 60,
    kCpuInfo = 67,
    kServiceEvent = 69,
    kExtensionDescriptor = 72,
    kUiState = 78,
    kTrustedPid = 79,
    kTranslationTable = 82,
    kStatsdAtom = 84,
    kFirstPacketOnSequence = 87,
    kTraceUuid = 89,
    kNetworkPacketBundle = 92,
    kEtwEvents = 95,
    kMachineId = 98,
    kRemoteClockSync = 107,
    kPixelModemEvents = 110,
    kPixelModemTokenDatabase = 111,
    kCloneSnapshotTrigger = 113,
    kTraceProvenance = 124,
    kProtoVms = 125,
    kGpuInfo = 128,
    kZstdCompressedPackets = 133,
    kForTesting = 900,
  };
};
/// Bits of TracePacket.sequence_flags.
struct SequenceFlag {
  enum : uint64_t { kIncrementalStateCleared = 1, kNeedsIncrementalState = 2 };
};
struct TracePacketDefaults {
  enum : uint32_t { kTimestampClockId = 58 };
};
struct ClockSnapshot {
  enum : uint32_t { kClocks = 1, kPrimaryTraceClock = 2 };
};
/// ClockSnapshot.Clock
struct Clock {
  enum : uint32_t {
    kClockId = 1,
    kTimestamp = 2,
    kIsIncremental = 3,
    kUnitMultiplierNs = 4,
  };
};
/// Ids of clocks that every trace has.
struct BuiltinClock {
  enum : uint32_t {
    kRealTime = 1,
    kMonotonic = 3,
    kMonotonicCoarse = 4,
    kMonotonicRaw = 5,
    kBootTime = 6,
  };
};
struct TraceUuid {
  enum : uint32_t { kMsb = 1, kLsb = 2 };
};
struct SystemInfo {
  enum : uint32_t { kTracingServiceVersion = 4 };
};
/// TracingServiceEvent
struct ServiceEvent {
  enum : uint32_t {
    kAllDataSourcesStarted = 1,
    kTracingStarted = 2,
    kAllDataSourcesFlushed = 3,
    kReadTracingBuffersCompleted = 4,
    kTracingDisabled = 5,
    kFlushStarted = 9,
    kCloneStarted = 10,
    kBufferCloned = 11,
  };
};
/// The trigger of a packet, and where a CloneSessionRequest has it.
struct ReceivedTrigger {
  enum : uint32_t { kName = 1, kProducerName = 2 };
};
struct CloneSessionRequest {
  enum : uint32_t {
    kTriggerName = 5,
    kTriggerProducerName = 6,
    kTriggerProducerUid = 7,
    kTriggerBootTimeNs = 8,
    kTriggerDelayMs = 9,
  };
};
struct TraceConfig {
  enum : uint32_t {
    kBuffers = 1,
    kDataSources = 2,
    kDurationMs = 3,
    kWriteIntoFile = 8,
    kFileWritePeriodMs = 9,
    kMaxFileSizeBytes = 10,
    kDeferredStart = 12,
    kFlushPeriodMs = 13,
    kFlushTimeoutMs = 14,
    kTriggerConfig = 17,
    kIncrementalStateConfig = 21,
    kUniqueSessionName = 22,
    kOutputPath = 29,
    kWriteFlushMode = 44,
  };
};
/// TraceConfig.TriggerConfig
struct TriggerConfig {
  enum : uint32_t { kTriggerMode = 1, kTriggers = 2 };
};
/// TraceConfig.TriggerConfig.Trigger
struct Trigger {
  enum : uint32_t { kName = 1 };
};
/// TraceConfig.BufferConfig
struct BufferConfig {
  enum : uint32_t {
    kSizeKb = 1,
    kFillPolicy = 4,
    kTransferOnClone = 5,
    kClearBeforeClone = 6,
    kName = 7,
    kExperimentalMode = 8,
  };
};
/// TraceConfig.DataSource
struct DataSource {
  enum : uint32_t { kConfig = 1 };
};
/// TraceConfig.IncrementalStateConfig
struct IncrementalStateConfig {
  enum : uint32_t { kClearPeriodMs = 1 };
};
struct DataSourceConfig {
  enum : uint32_t {
    kName = 1,
    kTargetBuffer = 2,
    kTraceDurationMs = 3,
    kTracingSessionId = 4,
    kStopTimeoutMs = 7,
    kTargetBufferName = 11,
    kProtoVmConfig = 12,
    kFtraceConfig = 100,
  };
};
struct ProtoVmConfig {
  enum : uint32_t { kMemoryLimitKb = 1 };
};
struct ProtoVms {
  enum : uint32_t { kInstance = 1 };
};
/// ProtoVms.Instance
struct ProtoVmInstance {
  enum : uint32_t { kProgram = 1, kState = 2, kMemoryLimitKb = 3, kProducerId = 4 };
};
struct FtraceConfig {
  enum : uint32_t { kEvents = 1, kBufferSizeKb = 10, kDrainPeriodMs = 11, kSyscallEvents = 18 };
};
struct TraceStats {
  enum : uint32_t {
    kBufferStats = 1,
    kProducersConnected = 2,
    kProducersSeen = 3,
    kDataSourcesRegistered = 4,
    kDataSourcesSeen = 5,
    kTracingSessions = 6,
    kTotalBuffers = 7,
    kChunksDiscarded = 8,
    kPatchesDiscarded = 9,
    kInvalidPackets = 10,
    kFlushesRequested = 12,
    kFlushesSucceeded = 13,
    kFlushesFailed = 14,
    kFinalFlushOutcome = 15,
    kChunkPayloadHistogramDef = 17,
    kWriterStats = 18,
  };
};
/// TraceStats.WriterStats
struct WriterStats {
  enum : uint32_t {
    kSequenceId = 1,
    kChunkPayloadHistogramCounts = 2,
    kChunkPayloadHistogramSum = 3,
    kBuffer = 4,
  };
};
struct TraceProvenance {
  enum : uint32_t { kBuffers = 2 };
};
/// TraceProvenance.Buffer
struct ProvenanceBuffer {
  enum : uint32_t { kSequences = 1 };
};
/// TraceProvenance.Sequence
struct ProvenanceSequence {
  enum : uint32_t { kId = 1, kProducerId = 2 };
};
struct TrackDescriptor {
  enum : uint32_t { kUuid = 1, kName = 2, kProcess = 3, kParentUuid = 5, kCounter = 8 };
};
struct ProcessTree {
  enum : uint32_t { kProcesses = 1 };
};
struct ProcessTreeProcess {
  enum : uint32_t { kPid = 1, kCmdline = 3 };
};
struct ProcessDescriptor {
  enum : uint32_t { kPid = 1, kProcessName = 6 };
};
struct CounterDescriptor {
  enum : uint32_t { kUnit = 3 };
};
struct TrackEvent {
  enum : uint32_t {
    kCategoryIids = 3,
    kDebugAnnotations = 4,
    kType = 9,
    kNameIid = 10,
    kTrackUuid = 11,
    kName = 23,
    kCounterValue = 30,
  };
};
struct DebugAnnotation {
  enum : uint32_t {
    kNameIid = 1,
    kUintValue = 3,
    kStringValue = 6,
    kName = 10,
  };
};
struct FtraceEventBundle {
  enum : uint32_t { kCpu = 1, kLostEvents = 3 };
};
struct FtraceStats {
  enum : uint32_t { kPhase = 1, kCpuStats = 2 };
};
struct FtraceCpuStats {
  enum : uint32_t { kCpu = 1, kOverrun = 3, kCommitOverrun = 4, kDroppedEvents = 8 };
};
struct CommitDataRequest {
  enum : uint32_t { kChunksToMove = 1, kChunksToPatch = 2, kFlushRequestId = 3 };
};
/// CommitDataRequest.ChunksToMove
struct ChunksToMove {
  enum : uint32_t {
    kPage = 1,
    kChunk = 2,
    kTargetBuffer = 3,
    kData = 4,
    kChunkIncomplete = 5,
  };
};
/// CommitDataRequest.ChunkToPatch
struct ChunkToPatch {
  enum : uint32_t {
    kTargetBuffer = 1,
    kWriterId = 2,
    kChunkId = 3,
    kPatches = 4,
    kHasMorePatches = 5,
  };
};
/// CommitDataRequest.ChunkToPatch.Patch
struct Patch {
  enum : uint32_t { kOffset = 1, kData = 2 };
};
struct IpcFrame {
  enum : uint32_t {
    kRequestId = 2,
    kMsgBindService = 3,
    kMsgBindServiceReply = 4,
    kMsgInvokeMethod = 5,
    kMsgInvokeMethodReply = 6,
  };
};
/// IPCFrame.BindService
struct BindService {
  enum : uint32_t { kServiceName = 1 };
};
/// IPCFrame.BindServiceReply
struct BindServiceReply {
  enum : uint32_t { kSuccess = 1, kServiceId = 2, kMethods = 3 };
};
/// IPCFrame.BindServiceReply.MethodInfo
struct MethodInfo {
  enum : uint32_t { kId = 1, kName = 2 };
};
/// IPCFrame.InvokeMethod
struct InvokeMethod {
  enum : uint32_t { kServiceId = 1, kMethodId = 2, kArgsProto = 3, kDropReply = 4 };
};
/// IPCFrame.InvokeMethodReply
struct InvokeMethodReply {
  enum : uint32_t { kSuccess = 1, kHasMore = 2, kReplyProto = 3 };
};
struct EnableTracingRequest {
  enum : uint32_t { kTraceConfig = 1 };
};
struct ReadBuffersResponse {
  enum : uint32_t { kSlices = 2 };
};
/// ReadBuffersResponse.Slice
struct Slice {
  enum : uint32_t { kData = 1, kLastSliceForPacket = 2 };
};
struct GetTraceStatsResponse {
  enum : uint32_t { kTraceStats = 1 };
};
struct GetAsyncCommandResponse {
  enum : uint32_t { kStartDataSource = 1, kSetupDataSource = 6 };
};
/// GetAsyncCommandResponse.SetupDataSource and StartDataSource
struct DataSourceCommand {
  enum : uint32_t { kInstanceId = 1, kConfig = 2 };
};
struct InitializeConnectionRequest {
  enum : uint32_t { kSmbScrapingMode = 4 };
};

}  // namespace ringscope::proto

#endif  // RINGSCOPE_CORE_PERFETTO_FIELDS_H_
