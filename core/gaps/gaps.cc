#include "core/gaps/gaps.h"

#include "core/base/wire.h"
#include "core/gaps/buffer_gaps.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

using gaps::GapBuffer;

class GapAnalysis::Impl {
 public:
  explicit Impl(uint64_t stale_ns) : stale_(stale_ns) {}

  GapBuffer& Of(BufferId id) {
    std::unique_ptr<GapBuffer>& buffer = buffers_[id];
    if (buffer == nullptr) buffer = std::make_unique<GapBuffer>(id, now_, unused_);
    return *buffer;
  }

  void BeginRecord(const Op& op, const LogMoment& moment) {
    now_ = moment;
    if (const auto* clocks = std::get_if<ClockSnapshotRecord>(&op.body))
      stale_.AddClocks(wire::AsBytes(clocks->snapshot));
  }

  void AddChunk(BufferId id, const ChunkCommit& commit) {
    Of(id).OnChunk(commit);
    stale_.AddChunk(id, commit, now_.time_ns);
  }

  void AddAccount(const PacketAccount& account) {
    last_ = account;
    Of(account.buffer).OnPacketFate(account);
  }
  void AddDuplicate(const PacketAccount& account) { last_ = account; }

  /// The ledger reported this packet just before.
  void AddPacket(const SessionPacket& packet) {
    if (!packet.valid) return;
    Bytes bytes;
    if (packet.packet->slices.size() == 1) {
      bytes = packet.packet->slices.front();
    } else {
      joined_.clear();
      for (const Bytes slice : packet.packet->slices) joined_ += wire::AsText(slice);
      bytes = wire::AsBytes(joined_);
    }
    const PacketFacts facts = ReadPacketFacts(bytes);
    ftrace_.AddPacket(bytes, facts.content);
    Of(packet.buffer).OnPacket(last_, facts);
  }

  /// The buffer is at its end.
  void Close(BufferId id) {
    const auto buffer = buffers_.find(id);
    if (buffer == buffers_.end()) return;
    std::vector<SequenceGaps>& done = done_[id];
    for (SequenceGaps& sequence : buffer->second->Finish()) done.push_back(std::move(sequence));
    buffers_.erase(buffer);
  }

  GapReport Finish(const std::map<BufferId, LedgerTotals>& totals) {
    while (!buffers_.empty()) Close(buffers_.begin()->first);
    GapReport report;
    for (auto& [id, sequences] : done_) {
      BufferGaps& buffer = report.buffers.emplace_back();
      buffer.id = id;
      if (const auto total = totals.find(id); total != totals.end()) buffer.totals = total->second;
      buffer.sequences = std::move(sequences);
    }
    report.ftrace = ftrace_.Result();
    report.stale = stale_.Result();
    return report;
  }

 private:
  LogMoment now_;
  GapBuffer::Unused unused_{.gaps = kMaxListed, .flags = kMaxListed};
  std::map<BufferId, std::unique_ptr<GapBuffer>> buffers_;
  std::map<BufferId, std::vector<SequenceGaps>> done_;
  StalePackets stale_;
  FtraceLosses ftrace_;
  PacketAccount last_;
  std::string joined_;  // scratch
};

GapAnalysis::GapAnalysis(uint64_t stale_ns) : impl_(std::make_unique<Impl>(stale_ns)) {}
GapAnalysis::~GapAnalysis() = default;

void GapAnalysis::OnBufferEvent(const BufferEvent& event) {
  impl_->Of(event.buffer).OnEvent(event);
}
void GapAnalysis::OnPacketFate(const PacketAccount& account) { impl_->AddAccount(account); }
void GapAnalysis::OnDuplicate(const PacketAccount& account) { impl_->AddDuplicate(account); }
void GapAnalysis::OnRecord(const Op& op, const LogMoment& moment) {
  impl_->BeginRecord(op, moment);
}
void GapAnalysis::OnBufferSetUp(SessionBuffer& buffer) {
  impl_->Of(buffer.id).SetEngine(*buffer.info);
}
void GapAnalysis::OnBufferReplaced(SessionBuffer& buffer) { impl_->Close(buffer.id); }
void GapAnalysis::OnChunk(BufferId buffer, const ChunkCommit& commit, std::optional<Refusal>) {
  impl_->AddChunk(buffer, commit);
}
void GapAnalysis::OnReadBegun(BufferId buffer) { impl_->Of(buffer).OnReadBegun(); }
Status GapAnalysis::OnPacket(const SessionPacket& packet) {
  impl_->AddPacket(packet);
  return {};
}
GapReport GapAnalysis::Finish(const std::map<BufferId, LedgerTotals>& totals) {
  return impl_->Finish(totals);
}

}  // namespace ringscope
