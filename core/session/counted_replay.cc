#include "core/session/counted_replay.h"

#include <utility>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"
#include "core/perfetto/trace_config_facts.h"

namespace ringscope {
namespace {

/// Puts the counting listener in front of the others.
std::vector<ReplayListener*> After(ReplayListener& first, std::vector<ReplayListener*> others) {
  others.insert(others.begin(), &first);
  return others;
}

}  // namespace

CountedReplay::CountedReplay(ReplayOptions options, std::vector<ReplayListener*> listeners)
    : replay_(std::move(options), After(counter_, std::move(listeners))) {}

Status CountedReplay::Counter::OnPacket(const SessionPacket& packet) {
  Counts& of_buffer = counts[packet.buffer];
  of_buffer.read += {1, packet.packet->size};
  if (!packet.valid) {
    ++of_buffer.invalid;
    return {};
  }
  const Bytes bytes = Joined(packet.packet->slices, scratch);
  const PacketFacts facts = ReadPacketFacts(bytes);
  losses.AddPacket(packet, facts);
  if (FtraceCounters::Wants(facts.content)) ftrace.AddPacket(bytes);
  return {};
}

Status CountedReplay::Apply(const Op& op, std::optional<uint64_t> number) {
  if (std::holds_alternative<Commit>(op.body)) return replay_.Apply(op, number);
  if (std::holds_alternative<RecorderGap>(op.body)) {
    recorder_gaps_ += IsDamage(op.body) ? 0 : 1;
  } else if (const auto* config = std::get_if<TraceConfigRecord>(&op.body)) {
    if (ReadTraceConfigFacts(wire::AsBytes(config->config)).write_into_file)
      into_file_.insert(config->session.value_or(0));
  }
  clones_.Add(op);
  verdicts_.Add(op.body);
  return replay_.Apply(op, number);
}

Result<ReplayOutcome> CountedReplay::Finish(bool histograms) {
  RS_RETURN_IF_ERROR(replay_.Finish());
  ReplayOutcome outcome;
  outcome.records = replay_.records();
  outcome.read_passes = replay_.read_passes();
  outcome.reads = replay_.reads_used();
  outcome.recorder_gaps = recorder_gaps_;
  outcome.verdicts = verdicts_.Verdicts();
  outcome.first_time_ns = replay_.first_time_ns();
  outcome.last_time_ns = replay_.last_time_ns();
  outcome.service = replay_.session().stats();
  if (const CloneView* view = replay_.session().clone()) outcome.clone = view->clone;
  outcome.clones = clones_.clones();
  outcome.ftrace = counter_.ftrace;
  const std::map<BufferId, BufferLosses> losses = counter_.losses.Result();
  const std::map<BufferId, SessionBuffer>& buffers = replay_.session().buffers();
  for (const auto& [id, buffer] : buffers) {
    if (histograms) {
      buffer.VisitWriterStats([&, buffer_id = id](const WriterStats& writer) {
        outcome.writers.push_back({buffer_id, writer.sequence, *writer.histogram});
      });
    }
    const Counts& counts = counter_.counts[id];
    BufferOutcome& result = outcome.buffers.emplace_back(OutcomeOf(buffer));
    result.into_file = into_file_.contains(buffer.session.value_or(0));
    result.read = counts.read;
    result.invalid = counts.invalid;
    if (const auto loss = losses.find(id); loss != losses.end()) result.losses = loss->second;
  }
  RS_RETURN_IF_ERROR(replay_.Drain());
  for (BufferOutcome& result : outcome.buffers) {
    const Counts& counts = counter_.counts[result.id];
    result.unread = counts.unread;
    result.stuck_bytes = counts.stuck_bytes + buffers.at(result.id).engine->stats().unread_bytes();
  }
  return outcome;
}

}  // namespace ringscope
