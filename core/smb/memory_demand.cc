#include "core/smb/memory_demand.h"

#include <algorithm>
#include <map>
#include <optional>

#include "core/perfetto/commit_fragments.h"
#include "core/perfetto/commit_request.h"
#include "core/perfetto/data_loss.h"
#include "core/perfetto/fields.h"

namespace ringscope::smb {
namespace {

/// With fewer bytes left in a chunk a packet begins in another one. Source: Perfetto's trace
/// writer.
constexpr size_t kLeastSpace = 12;
constexpr uint16_t kMostFragments = 1022;
/// Uses that are assumed for one loss, at most.
constexpr uint64_t kMostAssumed = 1000;

/// Whether a packet's producer reports that it dropped others before it.
bool FollowsLoss(Bytes packet, bool is_first) {
  wire::FieldReader fields(packet);
  while (const auto field = fields.Next())
    if (field->number == proto::TracePacket::kPreviousPacketDropped)
      return (field->value & kLossSmbFull) != 0 || (field->value == 1 && !is_first);
  return false;
}

bool IsTakenBefore(const ChunkUse& a, const ChunkUse& b) {
  if (a.taken.to != b.taken.to) return a.taken.to < b.taken.to;
  if (a.holder.writer != b.holder.writer) return a.holder.writer < b.holder.writer;
  return Raw(a.holder.chunk) < Raw(b.holder.chunk);
}

/// kNotOver remains kNotOver.
uint64_t Sum(uint64_t time_ns, uint64_t more_ns) {
  return time_ns > kNotOver - more_ns ? kNotOver : time_ns + more_ns;
}

/// Uses at a time, at most, as far as looks allow.
uint64_t MostInUse(const std::vector<ChunkUse>& uses) {
  const auto [starts, ends] = WidestTimesOf(uses);
  size_t over = 0, most = 0;
  for (size_t begun = 0; begun < starts.size(); ++begun) {
    while (over < ends.size() && ends[over] <= starts[begun]) ++over;
    most = std::max(most, begun + 1 - std::min(over, begun + 1));
  }
  return most;
}

/// The time at which that part of a use's bytes was written.
uint64_t TimeAt(const ChunkUse& use, size_t byte, size_t bytes) {
  const double part = bytes == 0 ? 0 : static_cast<double>(byte) / static_cast<double>(bytes);
  return use.taken.to +
         static_cast<uint64_t>(static_cast<double>(Between(use.taken.to, use.returned.to)) * part);
}

/// Fills chunks of another size with what a writer wrote.
class Packer {
 public:
  Packer(size_t old_capacity, size_t capacity, std::vector<ChunkUse>& out)
      : old_capacity_(old_capacity), capacity_(capacity), out_(out) {}

  void Add(const ChunkUse& use) {
    const bool is_full = use.content.is_full || !use.content.is_known;
    const size_t bytes =
        is_full ? old_capacity_ : std::min<size_t>(use.content.bytes, old_capacity_);
    if (!open_) Open(use, use.taken, 0);
    for (size_t at = 0; at < bytes;) {
      const size_t part = std::min(capacity_ - open_->content.bytes, bytes - at);
      open_->content.bytes += static_cast<uint32_t>(part);
      open_->content.packets += PacketsIn(use, at, at + part, bytes);
      at += part;
      if (open_->content.bytes < capacity_) continue;
      const bool is_end = at == bytes;
      const uint64_t time = TimeAt(use, at, bytes);
      Close(use, is_end ? use.returned : Moment{use.taken.from, std::min(time, use.returned.to)},
            true);
      if (!is_end) Open(use, {use.taken.from, time}, at);
    }
    if (open_) open_->content.is_aborted |= use.content.is_aborted;
    last_ = use;
    if (open_ && !is_full) Close(use, use.returned, false);
  }
  void Finish() {
    if (open_) Close(*last_, last_->returned, false);
  }

 private:
  static uint32_t PacketsIn(const ChunkUse& use, size_t from, size_t to, size_t bytes) {
    const auto before = [&](size_t at) { return uint64_t{use.content.packets} * at / bytes; };
    return static_cast<uint32_t>(before(to) - before(from));
  }
  void Open(const ChunkUse& use, Moment taken, size_t at) {
    open_ = ChunkUse{.holder = use.holder, .taken = taken};
    open_->content.is_known = use.content.is_known;
    open_->content.follows_loss = at == 0 && use.content.follows_loss;
  }
  /// It is freed as long after its return as the chunk was that had its last byte.
  void Close(const ChunkUse& use, Moment returned, bool is_full) {
    open_->returned = returned;
    open_->freed = use.freed;
    open_->committed_ns = use.committed_ns;
    open_->due = use.due;
    if (returned != use.returned) {
      open_->freed.from = std::max(returned.from, open_->taken.from);
      const auto moved = [&](uint64_t time_ns) {
        return time_ns == kNotOver ? time_ns : returned.to + Between(use.returned.to, time_ns);
      };
      open_->freed.to = moved(use.freed.to);
      open_->committed_ns = moved(use.committed_ns);
      open_->due = {moved(use.due.likely_ns), moved(use.due.latest_ns)};
    }
    open_->content.is_full = is_full;
    out_.push_back(*open_);
    open_.reset();
  }

  const size_t old_capacity_;
  const size_t capacity_;
  std::vector<ChunkUse>& out_;
  std::optional<ChunkUse> open_;
  std::optional<ChunkUse> last_;
};

/// What a writer would have asked for between two of its uses, at its pace of the first.
void AssumeBetween(const ChunkUse& before, const ChunkUse& after, std::vector<ChunkUse>& assumed) {
  const uint64_t gap = Between(before.returned.to, after.taken.to);
  const uint64_t pace = Between(before.taken.to, before.returned.to);
  const uint64_t count = pace == 0 ? 1 : std::clamp<uint64_t>(gap / pace, 1, kMostAssumed);
  const uint64_t wait =
      after.freed.to == kNotOver ? 0 : Between(after.returned.to, after.freed.to);  // to be freed
  for (uint64_t i = 0; i < count; ++i) {
    ChunkUse use = before;
    const uint64_t taken = before.returned.to + gap / count * i;
    const uint64_t returned = taken + gap / count;
    use.taken = {before.returned.from, taken};
    use.returned = {before.returned.from, returned};
    use.freed = {before.returned.from, returned + wait};
    use.committed_ns = after.committed_ns == kNotOver
                           ? kNotOver
                           : returned + Between(after.returned.to, after.committed_ns);
    use.due = {use.committed_ns, use.committed_ns};
    use.content.is_aborted = use.content.follows_loss = false;
    assumed.push_back(use);
  }
}

}  // namespace

WidestTimes WidestTimesOf(const std::vector<ChunkUse>& uses, bool sent_when_due) {
  WidestTimes times;
  for (const ChunkUse& use : uses) {
    times.starts.push_back(use.taken.from);
    const bool is_later = sent_when_due && use.due.latest_ns != use.committed_ns;
    times.ends.push_back(is_later ? Sum(use.due.latest_ns, Between(use.committed_ns, use.freed.to))
                                  : use.freed.to);
  }
  std::sort(times.starts.begin(), times.starts.end());
  std::sort(times.ends.begin(), times.ends.end());
  return times;
}

ChunkContent ReadContent(Bytes chunk, size_t capacity) {
  const auto header = ParseChunkHeader(chunk);
  if (!header) return {};
  ChunkCommit commit;
  commit.chunk = header->chunk;
  commit.fragments = header->fragments;
  commit.flags = header->flags & kAbiFlags;
  commit.payload = chunk.subspan(kChunkHeaderSize);
  WrittenChunk written;
  ReadWrittenChunk(commit, written);
  ChunkContent content{.bytes = written.bytes,
                       .is_known = true,
                       .is_full = (header->flags & kLastContinues) != 0 ||
                                  header->fragments >= kMostFragments ||
                                  written.bytes + kLeastSpace > capacity,
                       .is_aborted = written.end == ChunkEnd::kAborted};
  for (const WrittenFragment& fragment : written.fragments) {
    if (fragment.kind != FragmentKind::kWhole && fragment.kind != FragmentKind::kBegin) continue;
    // A chunk that is returned ends with an empty fragment.
    if (fragment.size == 0 && &fragment == &written.fragments.back()) continue;
    if (content.packets++ > 0) continue;
    const size_t end = size_t{fragment.offset} + fragment.size + wire::kMaxVarintBytes;
    const Bytes rest =
        commit.payload.first(std::min(end, commit.payload.size())).subspan(fragment.offset);
    const wire::Varint size = wire::ReadVarint(rest);
    if (size.size == 0 || size.size + fragment.size > rest.size()) continue;
    content.follows_loss =
        FollowsLoss(rest.subspan(size.size, fragment.size), Raw(header->chunk) == 0);
  }
  if (content.is_aborted) ++content.packets;
  return content;
}

size_t MemoryDemand::Capacity(uint64_t page_bytes) const {
  return ChunkBytes(static_cast<size_t>(page_bytes), chunks_per_page) - kChunkHeaderSize;
}

void MemoryDemand::Finish() {
  std::sort(uses.begin(), uses.end(), IsTakenBefore);
  early = FindDueTimes(uses, ChunkSize(page_size), size);
  const auto was_full = [&](uint64_t from_ns, uint64_t to_ns) {
    const auto look = std::lower_bound(full_looks.begin(), full_looks.end(), from_ns);
    return look != full_looks.end() && *look <= to_ns;
  };
  std::map<WriterId, const ChunkUse*> last;
  for (const ChunkUse& use : uses) {
    const ChunkUse*& before = last[use.holder.writer];
    const bool was_aborted = before != nullptr && before->content.is_aborted;
    // An aborted packet is counted with the flag of the next, if there is one.
    if (use.content.follows_loss || was_aborted) {
      ++losses;
      between_packets += was_aborted ? 0 : 1;
      seen_full += was_full(before == nullptr ? 0 : before->returned.from, use.taken.to) ? 1 : 0;
      if (before != nullptr) AssumeBetween(*before, use, assumed);
    }
    before = &use;
  }
  for (const auto& [writer, use] : last) {
    if (!use->content.is_aborted) continue;
    ++losses;
    seen_full += was_full(use->returned.from, kNotOver) ? 1 : 0;
  }
  std::sort(assumed.begin(), assumed.end(), IsTakenBefore);
  was_free = MostInUse(uses) < RecordedChunks();
}

std::vector<ChunkUse> Repack(const std::vector<ChunkUse>& uses, size_t old_capacity,
                             size_t capacity) {
  std::vector<ChunkUse> out;
  std::map<WriterId, Packer> packers;
  for (const ChunkUse& use : uses)
    packers.try_emplace(use.holder.writer, old_capacity, capacity, out).first->second.Add(use);
  for (auto& [writer, packer] : packers) packer.Finish();
  std::sort(out.begin(), out.end(), IsTakenBefore);
  return out;
}

}  // namespace ringscope::smb
