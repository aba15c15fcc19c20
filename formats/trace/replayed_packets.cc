#include "formats/trace/replayed_packets.h"

#include <algorithm>

#include "core/base/wire.h"
#include "core/perfetto/packet_facts.h"

namespace ringscope {

void ReplayedPackets::OnRecord(const Op& op, const LogMoment& moment) {
  now_ns_ = moment.time_ns;
  if (const auto* clocks = std::get_if<ClockSnapshotRecord>(&op.body))
    clocks_.AddClocks(wire::AsBytes(clocks->snapshot));
}

void ReplayedPackets::OnChunkWritten(BufferId buffer, WrittenCommit& commit) {
  const ChunkAt at{buffer, {commit.commit().sequence, commit.commit().chunk}};
  clocks_.AddChunk(buffer, commit, now_ns_,
                   [&](size_t fragment, const PacketFacts&, Bytes, Bytes, auto time_ns) {
                     std::vector<uint64_t>& times = times_[at];
                     if (times.size() <= fragment) times.resize(fragment + 1);
                     times[fragment] = time_ns.value_or(0);
                   });
}

void ReplayedPackets::OnChunkForgotten(BufferId buffer, SequenceKey sequence, uint64_t chunk) {
  const auto times = times_.find({buffer, {sequence, IdOf(chunk)}});
  if (times == times_.end()) return;
  const auto time_ns = static_cast<int64_t>(times->second.back());
  const Place place{chunk, static_cast<uint32_t>(times->second.size() - 1)};
  sequences_[sequence].last_one = {place, 1, time_ns, time_ns};
  times_.erase(times);
}

int64_t ReplayedPackets::TimeOf(const PacketAccount& account) const {
  const auto times = times_.find({account.buffer, {account.sequence, IdOf(account.first_chunk)}});
  const Sequence* const sequence = sequences_.Find(account.sequence);
  uint64_t time_ns = 0;
  if (times != times_.end() && account.fragment < times->second.size())
    time_ns = times->second[account.fragment];
  else if (sequence != nullptr &&
           sequence->last_one.first == Place{account.first_chunk, account.fragment})
    time_ns = static_cast<uint64_t>(sequence->last_one.last_ns);
  return static_cast<int64_t>(time_ns != 0 ? time_ns : account.written.time_ns.value_or(0));
}

void ReplayedPackets::OnPacketFate(const PacketAccount& account) {
  const Place place{account.first_chunk, account.fragment};
  const int64_t time_ns = TimeOf(account);
  Sequence::Run& all = sequences_[account.sequence].all;
  if (all.count == 0 || place < all.first) all.first = place, all.first_ns = time_ns;
  all.last_ns = all.count++ == 0 ? time_ns : std::max(all.last_ns, time_ns);
  if (account.fate == Fate::kRead) last_ = account;
}

Status ReplayedPackets::OnPacket(const SessionPacket& packet) {
  if (!packet.valid) return {};
  const Place place{last_.first_chunk, last_.fragment};
  const int64_t time_ns = TimeOf(last_);
  Sequence& sequence = sequences_[packet.packet->sequence];
  sequence.id = {packet.machine, packet.sequence_id};
  sequence.digest.Add(Joined(packet.packet->slices, joined_));
  const bool is_flagged = last_.facts.dropped != 0 && sequence.flagged.size() < kMaxFlagged;
  if (is_flagged) sequence.flagged.push_back({place, last_.facts.dropped});
  if (!sequence.runs.empty() && !is_flagged) {
    Sequence::Run& run = sequence.runs.back();
    if (run.first.chunk == place.chunk && run.first.fragment + run.count == place.fragment) {
      ++run.count;
      run.last_ns = time_ns;
      return {};
    }
  }
  sequence.runs.push_back({place, 1, time_ns, time_ns});
  return {};
}

void ReplayedPackets::OnDrained() {
  for (size_t i = 0; i < sequences_.size(); ++i)
    std::ranges::stable_sort(sequences_.At(i).value.runs, {}, &Sequence::Run::first);
}

int64_t ReplayedPackets::Sequence::TimeBefore(Place place) const {
  const auto after = std::ranges::lower_bound(runs, place, {}, &Run::first);
  return after == runs.begin() ? all.first_ns : after[-1].last_ns;
}

int64_t ReplayedPackets::Sequence::TimeFrom(Place place) const {
  const auto after = std::ranges::lower_bound(runs, place, {}, &Run::first);
  return after == runs.end() ? all.last_ns : after->first_ns;
}

}  // namespace ringscope
