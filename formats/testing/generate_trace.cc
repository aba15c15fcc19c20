#include "formats/testing/generate_trace.h"

#include <zstd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "core/base/wire.h"
#include "core/perfetto/fields.h"
#include "core/perfetto/packet_facts.h"
#include "formats/testing/frames.h"

namespace ringscope::testing {
namespace {

constexpr uint64_t kTraceStartNs = 1'000'000'000'000;
constexpr uint64_t kMonotonicLag = 5'000'000'000;  // CLOCK_BOOTTIME less CLOCK_MONOTONIC
constexpr size_t kBlock = size_t{256} << 10;
constexpr uint32_t kFirstSequence = 2;

enum ClockId : uint32_t { kMonotonic = 3, kBootTimeClock = 6, kOwnClock = 64 };

std::string Message(std::initializer_list<std::pair<uint32_t, uint64_t>> fields) {
  std::string message;
  for (const auto& [number, value] : fields) wire::AppendUint(message, number, value);
  return message;
}

std::string ZstdCompressed(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 1));
  return out;
}

class TraceGenerator {
 public:
  TraceGenerator(const GeneratedTrace& trace, ByteSink& out)
      : trace_(trace), out_(out), random_(trace.seed), writers_(std::max(1u, trace.sequences)) {}

  Status Run() {
    RS_RETURN_IF_ERROR(AppendSetUp());
    const uint64_t share = trace_.packet_bytes / writers_.size() + 1;
    if (trace_.sequence_by_sequence) {
      for (uint32_t i = 0; i < writers_.size(); ++i)
        while (writers_[i].bytes < share) RS_RETURN_IF_ERROR(AppendPacketOf(i));
    } else {
      for (uint64_t bytes = bytes_; bytes_ - bytes < trace_.packet_bytes;)
        RS_RETURN_IF_ERROR(AppendPacketOf(static_cast<uint32_t>(random_() % writers_.size())));
    }
    RS_RETURN_IF_ERROR(AppendStats());
    return Flush();
  }

 private:
  struct Writer {
    uint64_t bytes = 0;
    uint64_t now_ns = kTraceStartNs;
    uint64_t packets = 0;
  };

  Status AppendSetUp() {
    std::string config;
    for (uint32_t i = 0; i < std::max(1u, trace_.buffers); ++i)
      wire::AppendBytes(config, 1, wire::AsBytes(Message({{1, 4096}, {4, 1}, {8, 1}})));
    RS_RETURN_IF_ERROR(AppendOfService(proto::TracePacket::kTraceConfig, config));
    std::string snapshot;
    wire::AppendBytes(snapshot, 1,
                      wire::AsBytes(Message({{1, kBootTimeClock}, {2, kTraceStartNs}})));
    wire::AppendBytes(
        snapshot, 1, wire::AsBytes(Message({{1, kMonotonic}, {2, kTraceStartNs - kMonotonicLag}})));
    return AppendOfService(proto::TracePacket::kClockSnapshot, snapshot);
  }

  Status AppendStats() {
    std::string stats;
    for (uint32_t i = 0; i < writers_.size(); ++i) {
      const std::string writer = Message({{1, i + kFirstSequence}, {4, BufferOf(i)}});
      wire::AppendBytes(stats, 18, wire::AsBytes(writer));
    }
    return AppendOfService(proto::TracePacket::kTraceStats, stats);
  }

  uint32_t BufferOf(uint32_t writer) const { return writer % std::max(1u, trace_.buffers); }

  Status AppendOfService(uint32_t field, const std::string& content) {
    std::string packet;
    wire::AppendBytes(packet, field, wire::AsBytes(content));
    AppendTrustedFields(packet, {.uid = 0, .pid = -1}, kServiceSequenceId, 0);
    wire::AppendBytes(pending_, 1, wire::AsBytes(packet));
    return Flush();
  }

  uint64_t Size() {
    const uint64_t roll = random_() % 1000;
    if (roll == 0) return random_() % (300u << 10);
    return roll < 100 ? random_() % 8 : random_() % trace_.max_packet;
  }

  Status AppendPacketOf(uint32_t i) {
    Writer& writer = writers_[i];
    writer.now_ns += random_() % 20'000;
    packet_.clear();
    AppendTimes(i, writer);
    // Like a track event: names that repeat, and a few bytes that do not.
    static constexpr const char* kNames[] = {"DrawFrame", "BinderTransaction", "Swap", "vsync"};
    content_.clear();
    const uint64_t size = Size();
    while (content_.size() < size) {
      content_ += kNames[random_() % 4];
      wire::AppendVarint(content_, random_());
    }
    content_.resize(size);
    wire::AppendBytes(packet_, proto::TracePacket::kTrackEvent, wire::AsBytes(content_));
    writer.bytes += packet_.size();
    bytes_ += packet_.size();
    ++writer.packets;
    const Identity identity{.uid = 1000 + i % 3, .pid = static_cast<int32_t>(100 + i / 2)};
    AppendTrustedFields(packet_, identity, i + kFirstSequence, 0);
    wire::AppendBytes(pending_, 1, wire::AsBytes(packet_));
    return pending_.size() < kBlock ? Status{} : Flush();
  }

  /// The packet's timestamp, in a clock that depends on the sequence.
  void AppendTimes(uint32_t i, Writer& writer) {
    const uint32_t kind = trace_.random_clocks ? i % 4 : 0;
    const bool first = writer.packets == 0;
    switch (kind) {
      case 1:  // another clock, named in each packet
        wire::AppendUint(packet_, proto::TracePacket::kTimestamp, writer.now_ns - kMonotonicLag);
        wire::AppendUint(packet_, proto::TracePacket::kTimestampClockId, kMonotonic);
        return;
      case 2:  // a default clock of the sequence
        wire::AppendUint(packet_, proto::TracePacket::kTimestamp, writer.now_ns - kMonotonicLag);
        if (first) {
          wire::AppendUint(packet_, proto::TracePacket::kIncrementalStateCleared, 1);
          wire::AppendBytes(
              packet_, proto::TracePacket::kTracePacketDefaults,
              wire::AsBytes(Message({{proto::TracePacket::kTimestampClockId, kMonotonic}})));
        }
        return;
      case 3:  // a clock of its own that counts steps of 1000 ns; none in some packets
        if (first) {
          std::string snapshot;
          wire::AppendBytes(snapshot, 1,
                            wire::AsBytes(Message({{1, kBootTimeClock}, {2, writer.now_ns}})));
          wire::AppendBytes(snapshot, 1,
                            wire::AsBytes(Message({{1, kOwnClock}, {2, 7}, {3, 1}, {4, 1000}})));
          wire::AppendBytes(packet_, proto::TracePacket::kClockSnapshot, wire::AsBytes(snapshot));
          return;
        }
        if (random_() % 4 == 0) return;
        wire::AppendUint(packet_, proto::TracePacket::kTimestamp, random_() % 20);
        wire::AppendUint(packet_, proto::TracePacket::kTimestampClockId, kOwnClock);
        return;
      default:
        wire::AppendUint(packet_, proto::TracePacket::kTimestamp, writer.now_ns);
        return;
    }
  }

  Status Flush() {
    if (pending_.empty()) return {};
    if (trace_.compressed) {
      const bool zstd = ++blocks_ % 2 == 0;
      std::string packet;
      wire::AppendBytes(packet,
                        zstd ? proto::TracePacket::kZstdCompressedPackets
                             : proto::TracePacket::kCompressedPackets,
                        wire::AsBytes(zstd ? ZstdCompressed(pending_) : Deflated(pending_)));
      pending_.clear();
      wire::AppendBytes(pending_, 1, wire::AsBytes(packet));
    }
    const Status status = out_.Write(pending_);
    pending_.clear();
    return status;
  }

  const GeneratedTrace& trace_;
  ByteSink& out_;
  std::mt19937 random_;
  std::vector<Writer> writers_;
  uint64_t bytes_ = 0;
  uint64_t blocks_ = 0;
  std::string packet_;
  std::string content_;
  std::string pending_;
};

}  // namespace

Status GenerateTrace(const GeneratedTrace& trace, ByteSink& out) {
  return TraceGenerator(trace, out).Run();
}

}  // namespace ringscope::testing
