#include "commands/testing/replay_check.h"

#include <algorithm>
#include <set>
#include <utility>

#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_stats.h"
#include "core/session/replay.h"

namespace ringscope::testing {
namespace {

/// Keeps what a replay returns, by the session whose buffer it is from.
class ContentCollector : public ReplayListener {
 public:
  void OnBufferSetUp(SessionBuffer& buffer) override {
    sessions_[buffer.id] = buffer.session.value_or(0);
    contents[buffer.session.value_or(0)];
  }
  Status OnPacket(const SessionPacket& read) override {
    if (!read.valid) return {};
    ContentPacket& packet = contents[sessions_.at(read.buffer)].packets.emplace_back();
    for (const Bytes slice : read.packet->slices) packet.content += wire::AsText(slice);
    packet.sequence_id = read.sequence_id;
    packet.dropped = read.packet->dropped;
    packet.bytes = packet.content;
    AppendTrustedFields(packet.bytes, {.uid = read.packet->identity.uid, .pid = -1},
                        packet.sequence_id, packet.dropped, read.machine);
    return {};
  }
  /// Statistics are emitted with a read: what is committed after the last one is not in them.
  void OnAllRead(const Session& session, std::optional<uint64_t> id) override {
    for (const auto& [number, buffer] : session.buffers())
      if (!buffer.freed && (!id || !buffer.session || buffer.session == id)) {
        AddStats(buffer);
        read_.insert(number);
      }
  }
  void OnBufferReplaced(SessionBuffer& buffer) override { AddUnread(buffer); }
  Status OnLogEnd(Session& session) override {
    for (const auto& [id, buffer] : session.buffers()) AddUnread(buffer);
    return {};
  }

  std::map<uint64_t, TraceContent> contents;

 private:
  void AddUnread(const SessionBuffer& buffer) {
    if (read_.erase(buffer.id) == 0) AddStats(buffer);
  }
  void AddStats(const SessionBuffer& buffer) {
    auto& stats = contents[buffer.session.value_or(0)].stats;
    stats.resize(std::max<size_t>(stats.size(), buffer.index + 1));
    stats[buffer.index] = buffer.stats();
  }

  std::map<BufferId, uint64_t> sessions_;
  std::set<BufferId> read_;  // whose statistics were taken with a read
};

Result<std::map<uint64_t, TraceContent>> ReplayAll(const LogOpener& open,
                                                   const std::optional<CloneFacts>& clone) {
  ContentCollector collector;
  ReplayOptions options;
  options.session.clone = clone;
  Replay replay(std::move(options), collector);
  RS_ASSIGN_OR_RETURN(const auto log, open());
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) break;
    RS_RETURN_IF_ERROR(replay.Apply(*op));
    if (clone && clone->IsEnd(*op)) break;
  }
  RS_RETURN_IF_ERROR(replay.Finish());
  return std::move(collector.contents);
}

}  // namespace

Result<TraceContent> ContentOfTrace(const std::string& trace, const std::string& trace_stats) {
  RS_ASSIGN_OR_RETURN(TraceContent content, ReadTraceContent(MakeMemorySource(trace)));
  content.stats = ReadTraceStats(wire::AsBytes(trace_stats));
  return content;
}

Result<std::map<uint64_t, TraceContent>> ContentOfSessions(const LogOpener& open) {
  return ReplayAll(open, std::nullopt);
}

Result<std::map<uint64_t, TraceContent>> ContentOfClones(const LogOpener& open) {
  CloneScan scan;
  RS_ASSIGN_OR_RETURN(const auto log, open());
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) break;
    scan.Add(*op);
  }
  std::map<uint64_t, TraceContent> contents;
  const std::vector<CloneFacts> clones = scan.clones();
  for (const CloneFacts& clone : clones) {
    if (clone.failed) continue;
    RS_ASSIGN_OR_RETURN(const CloneFacts view, FindMadeClone(clones, clone.clone));
    RS_ASSIGN_OR_RETURN(auto sessions, ReplayAll(open, view));
    contents[clone.clone] = std::move(sessions[clone.session.value_or(0)]);
  }
  return contents;
}

}  // namespace ringscope::testing
