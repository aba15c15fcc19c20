#include "core/gaps/gap_track.h"

#include <algorithm>

namespace ringscope {
namespace {

GapTrack::Point PointOf(const PacketAccount& account) {
  return {account.first_chunk, account.first_offset};
}

GapTrack::Run RunOf(const PacketAccount& account, GapTrack::Kind kind, uint32_t detail) {
  const GapTrack::Point point = PointOf(account);
  return {.first = point,
          .last = point,
          .last_chunk = account.last_chunk,
          .last_fragment = account.fragment,
          .kind = kind,
          .detail = detail};
}

void Extend(GapTrack::Run& run, const PacketAccount& account) {
  const GapTrack::Point point = PointOf(account);
  run.first = std::min(run.first, point);
  if (point > run.last) {
    run.last = point;
    run.last_fragment = account.fragment;
  }
  run.last_chunk = std::max(run.last_chunk, account.last_chunk);
}

/// What is decided with its commit is reported at once: the fates of packets before it may still be
/// open. What is decided by a read or an eviction is reported after them.
bool IsDecidedWhenWritten(const PacketAccount& account) {
  return account.decided.record == account.written.record && account.fate != Fate::kOverwritten;
}

/// Whether no packet, of a fate that is reported later, can come between the run's last packet and
/// this lost one.
bool IsNextTo(const GapTrack::Run& run, const PacketAccount& account) {
  if (!IsDecidedWhenWritten(account)) return true;
  // A buffer that discards a chunk discards all of it.
  if (account.fate == Fate::kDiscarded) return account.first_chunk <= run.last_chunk + 1;
  return account.first_chunk == run.last.chunk && account.fragment <= run.last_fragment + 1;
}

}  // namespace

/// The first run that begins after the point.
GapTrack::Iterator GapTrack::FirstAfter(Point point) {
  if (runs_.empty() || runs_.back().first <= point) return runs_.end();  // the usual case
  return std::upper_bound(runs_.begin(), runs_.end(), point,
                          [](Point value, const Run& run) { return value < run.first; });
}

void GapTrack::AddKept(const PacketAccount& account, Kind kind, uint32_t detail) {
  const Point point = PointOf(account);
  const Iterator after = FirstAfter(point);
  if (after != runs_.begin()) {
    Run& before = *std::prev(after);
    if (point <= before.last) return;  // within a run: nothing new about the order
    if (before.kind == kind && detail == kNoDetail && account.first_chunk <= before.last_chunk + 1)
      return Extend(before, account);
  }
  runs_.insert(after, RunOf(account, kind, detail));
}

GapTrack::Run& GapTrack::AddLost(const PacketAccount& account) {
  const Point point = PointOf(account);
  Iterator after = FirstAfter(point);
  if (after != runs_.begin()) {
    Run& before = *std::prev(after);
    if (before.kind == Kind::kLost) {
      if (point <= before.last || IsNextTo(before, account)) {
        Extend(before, account);
        return before;
      }
    } else if (point <= before.last) {
      // Packets on both sides were read: their run falls into two.
      Run rest = before;
      rest.first = {point.chunk, point.offset + 1};
      rest.detail = kNoDetail;
      before.last = point.offset > 0 ? Point{point.chunk, point.offset - 1}
                                     : Point{point.chunk - 1, UINT32_MAX};
      before.last_chunk = account.first_chunk;
      after = runs_.insert(after, rest);
    }
  }
  // What begins before a run of lost packets that were reported first.
  if (after != runs_.end() && after->kind == Kind::kLost && !IsDecidedWhenWritten(account)) {
    Extend(*after, account);
    return *after;
  }
  return *runs_.insert(after, RunOf(account, Kind::kLost, kNoDetail));
}

}  // namespace ringscope
