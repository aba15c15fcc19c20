#include "formats/trace/lost_trace.h"

#include <fmt/format.h>

#include <vector>

#include "core/base/text.h"
#include "core/perfetto/data_loss.h"
#include "core/session/buffer_event.h"

namespace ringscope {

LostTrace::LostTrace(ByteSink& sink)
    : trace_(sink), events_(trace_), packets_([this](const LostPacket& lost) { Write(lost); }) {
  trace_.AddTool();
}

void LostTrace::OnRecord(const Op& op, const LogMoment&) {
  if (const auto* connected = std::get_if<ProducerConnected>(&op.body))
    names_[connected->producer] = Printable(connected->name);
  if (const auto* snapshot = std::get_if<ClockSnapshotRecord>(&op.body)) {
    if (status_) status_ = trace_.AddClockSnapshot(wire::AsBytes(snapshot->snapshot));
  }
}

Status LostTrace::OnPacket(const SessionPacket&) { return status_; }

void LostTrace::Write(const LostPacket& lost) {
  const PacketAccount& account = lost.account;
  const Track track = TrackOf(account);
  const Packet packet{.sequence = account.sequence,
                      .identity = lost.identity,
                      .dropped = lost.gap_before ? uint32_t{kLossPresent} : 0,
                      .slices = lost.slices,
                      .size = account.size,
                      .place = {}};
  const Status written = trace_.AddPacket({.buffer = account.buffer,
                                           .packet = &packet,
                                           .sequence_id = sequence_ids_.IdOf(account.sequence)});
  if (status_) status_ = written;

  const std::string sequence = ToString(account.sequence);
  const std::string content = ContentName(account.facts.content);
  const std::string culprit = account.culprit ? ToString(*account.culprit) : std::string();
  const std::string bits = LossBitsToString(account.loss_bits);
  std::vector<Arg> args = {
      {"fate", std::string_view(Name(account.fate))},
      {"cause", std::string_view(Name(account.cause))},
      {"buffer", uint64_t{Raw(account.buffer)}},
      {"sequence", std::string_view(sequence)},
      {"trusted_packet_sequence_id", uint64_t{sequence_ids_.IdOf(account.sequence)}},
      {"chunk", account.first_chunk},
      {"last_chunk", account.last_chunk},
      {"fragment", uint64_t{account.fragment}},
      {"size", account.size},
      {"content", std::string_view(content)},
      {"own_fault", account.own_fault},
      {"commit_record", account.written.record.value_or(0)},
      {"lost_record", account.decided.record.value_or(0)}};
  if (account.culprit) args.push_back({"culprit", std::string_view(culprit)});
  if (account.loss_bits != 0) args.push_back({"loss_bits", std::string_view(bits)});
  if (account.decided.time_ns) args.push_back({"lost_ns", *account.decided.time_ns});
  if (account.facts.timestamp) args.push_back({"packet_timestamp", *account.facts.timestamp});
  events_.Instant(track, TraceTime(account.written), Name(account.fate), args);
}

auto LostTrace::TrackOf(const PacketAccount& account) -> Track {
  if (root_ == Track::kNone) root_ = events_.AddTrack("lost packets");
  Track& track = tracks_[{account.buffer, account.sequence}];
  if (track == Track::kNone) {
    const std::string& name = names_[account.sequence.producer];
    track = events_.AddTrack(fmt::format("{}{}{} in buffer {}", name, name.empty() ? "" : " ",
                                         ToString(account.sequence), Raw(account.buffer)),
                             root_);
  }
  return track;
}

Status LostTrace::Finish() {
  RS_RETURN_IF_ERROR(status_);
  RS_RETURN_IF_ERROR(events_.status());
  return trace_.Finish();
}

std::string LostTrace::Summary() const {
  uint64_t written = 0;
  uint64_t left_out = 0;
  std::string reasons;
  for (size_t i = 0; i < kFates; ++i) {
    written += packets_.handed_on()[i].packets;
    const uint64_t count = packets_.unwritable()[i].packets;
    left_out += count;
    if (count > 0)
      reasons += fmt::format("{}{} {}", reasons.empty() ? "" : ", ", WithCommas(count),
                             Name(static_cast<Fate>(i)));
  }
  std::string text = Count(written, "lost packet");
  if (left_out > 0)
    text +=
        fmt::format("; {} more are not in it, because they are incomplete or not well-formed: {}",
                    WithCommas(left_out), reasons);
  return text;
}

}  // namespace ringscope
