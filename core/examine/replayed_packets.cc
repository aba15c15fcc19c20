#include "core/examine/replayed_packets.h"

#include <algorithm>

#include "core/perfetto/packet_facts.h"

namespace ringscope {

void ReplayedPackets::OnPacketFate(const PacketAccount& account) {
  const Place place{account.first_chunk, account.fragment};
  const auto time_ns = static_cast<int64_t>(times_->Of(account));
  Sequence::Run& all = sequences_[account.sequence].all;
  if (all.count == 0 || place < all.first) all.first = place, all.first_ns = time_ns;
  all.last_ns = all.count++ == 0 ? time_ns : std::max(all.last_ns, time_ns);
}

void ReplayedPackets::OnReturned(const PacketAccount& account, const SessionPacket& packet) {
  const Place place{account.first_chunk, account.fragment};
  const auto time_ns = static_cast<int64_t>(times_->Of(account));
  Sequence& sequence = sequences_[packet.packet->sequence];
  sequence.id = {packet.machine, packet.sequence_id};
  sequence.digest.Add(Joined(packet.packet->slices, joined_));
  const bool is_flagged = account.facts.dropped != 0 && sequence.flagged.size() < kMaxFlagged;
  if (is_flagged) sequence.flagged.push_back({place, account.facts.dropped});
  if (!sequence.runs.empty() && !is_flagged) {
    Sequence::Run& run = sequence.runs.back();
    if (run.first.chunk == place.chunk && run.first.fragment + run.count == place.fragment) {
      ++run.count;
      run.last_ns = time_ns;
      return;
    }
  }
  sequence.runs.push_back({place, 1, time_ns, time_ns});
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
