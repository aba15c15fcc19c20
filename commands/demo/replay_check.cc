#include "commands/demo/replay_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/perfetto/fields.h"
#include "core/perfetto/trace_stats.h"
#include "core/perfetto/trusted_fields.h"
#include "core/session/replay.h"
#include "formats/trace/perfetto_trace.h"

namespace ringscope::demo {
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
    CheckedPacket& packet = contents[sessions_.at(read.buffer)].packets.emplace_back();
    for (const Bytes slice : read.packet->slices) packet.content += wire::AsText(slice);
    packet.sequence_id = read.sequence_id;
    packet.dropped = read.packet->dropped;
    return {};
  }
  void OnBufferReplaced(SessionBuffer& buffer) override { AddStats(buffer); }
  Status OnLogEnd(Session& session) override {
    for (const auto& [id, buffer] : session.buffers()) AddStats(buffer);
    return {};
  }

  std::map<uint64_t, SessionContent> contents;

 private:
  void AddStats(const SessionBuffer& buffer) {
    auto& stats = contents[buffer.session.value_or(0)].stats;
    stats.resize(std::max<size_t>(stats.size(), buffer.index + 1));
    stats[buffer.index] = buffer.stats();
  }

  std::map<BufferId, uint64_t> sessions_;
};

Result<std::map<uint64_t, SessionContent>> ReplayAll(const LogOpener& open,
                                                     const std::optional<CloneView>& clone) {
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

Result<SessionContent> ContentOfTrace(const std::string& trace, const std::string& trace_stats) {
  SessionContent content;
  content.stats = ReadTraceStats(wire::AsBytes(trace_stats));
  RS_ASSIGN_OR_RETURN(const auto reader, TraceReader::Open(MakeMemorySource(trace)));
  while (true) {
    RS_ASSIGN_OR_RETURN(const auto packet, reader->Next());
    if (!packet) break;
    if (packet->sequence_id != kServiceSequenceId) {
      content.packets.push_back({.content = std::string(wire::AsText(packet->content)),
                                 .sequence_id = packet->sequence_id,
                                 .dropped = packet->dropped});
      continue;
    }
    wire::FieldReader fields(packet->bytes);
    while (const auto field = fields.Next())
      if (field->number == proto::TracePacket::kTraceStats && trace_stats.empty())
        content.stats = ReadTraceStats(field->bytes);
  }
  return content;
}

Result<std::map<uint64_t, SessionContent>> ContentOfSessions(const LogOpener& open) {
  return ReplayAll(open, std::nullopt);
}

Result<std::map<uint64_t, SessionContent>> ContentOfClones(const LogOpener& open) {
  CloneScan scan;
  RS_ASSIGN_OR_RETURN(const auto log, open());
  while (true) {
    RS_ASSIGN_OR_RETURN(const std::optional<Op> op, log->Next());
    if (!op) break;
    scan.Add(*op);
  }
  std::map<uint64_t, SessionContent> contents;
  const std::vector<CloneFacts> clones = scan.clones();
  for (const CloneFacts& clone : clones) {
    if (clone.failed) continue;
    RS_ASSIGN_OR_RETURN(const CloneView view, ViewOfClone(clones, clone.clone));
    RS_ASSIGN_OR_RETURN(auto sessions, ReplayAll(open, view));
    contents[clone.clone] = std::move(sessions[clone.session.value_or(0)]);
  }
  return contents;
}

std::string Difference(const SessionContent& service, const SessionContent& replay) {
  std::map<uint32_t, uint32_t> to_replay, to_service;  // sequence ids
  const size_t both = std::min(service.packets.size(), replay.packets.size());
  for (size_t i = 0; i < both; ++i) {
    const CheckedPacket &expected = service.packets[i], &found = replay.packets[i];
    const uint32_t renamed =
        to_replay.try_emplace(expected.sequence_id, found.sequence_id).first->second;
    const uint32_t back =
        to_service.try_emplace(found.sequence_id, expected.sequence_id).first->second;
    if (renamed != found.sequence_id || back != expected.sequence_id)
      return fmt::format("packet {} is of another sequence", i);
    if (expected.content != found.content) return fmt::format("packet {} has another content", i);
    if (expected.dropped != found.dropped)
      return fmt::format("packet {} has the loss bits {}, not {}", i, found.dropped,
                         expected.dropped);
  }
  if (service.packets.size() != replay.packets.size())
    return fmt::format("{} packets, not {}", replay.packets.size(), service.packets.size());
  if (service.stats.size() != replay.stats.size())
    return fmt::format("{} buffers, not {}", replay.stats.size(), service.stats.size());
  for (size_t i = 0; i < service.stats.size(); ++i)
    for (const StatField& field : kStatFields)
      if (service.stats[i].*field.value != replay.stats[i].*field.value)
        return fmt::format("buffer {}: {} is {}, not {}", i, field.name,
                           replay.stats[i].*field.value, service.stats[i].*field.value);
  return {};
}

}  // namespace ringscope::demo
