#include "core/gaps/shared_memory_use.h"

#include <set>

namespace ringscope::smb {
namespace {

size_t FollowedPages(const SharedMemorySetUp& setup, size_t most_pages) {
  if (!IsPageSize(setup.page_size)) return 0;
  const uint64_t pages = setup.size / setup.page_size;
  return pages <= std::min(most_pages, kMaxPagesOfPicture) ? static_cast<size_t>(pages) : 0;
}

/// Lowers `least` to a time that is known.
void Lower(std::optional<uint64_t>& least, std::optional<uint64_t> time_ns) {
  if (time_ns) least = std::min(least.value_or(*time_ns), *time_ns);
}

}  // namespace

MemoryFollower::MemoryFollower(const SharedMemorySetUp& setup, size_t most_pages)
    : pages_(FollowedPages(setup, most_pages)) {}

bool MemoryFollower::Add(const SharedMemoryLook& look, std::optional<uint64_t> time_ns) {
  const bool is_next = std::exchange(next_look_, std::nullopt) == look.number;
  if (look.whole) picture_ = MemoryPicture(pages_);
  if (pages_ == 0 || !(look.whole || is_next) ||
      !ApplyChanges(wire::AsBytes(look.pages), picture_)) {
    seen_.reset();
    std::erase_if(complete_, [](const auto& entry) { return !entry.second.committed; });
    return false;
  }
  next_look_ = look.number + 1;
  SeenMemory seen{.time_ns = time_ns.value_or(0), .counts = picture_.Count()};
  std::set<WriterId> writers;
  std::map<ChunkSlot, Complete> complete;
  for (size_t number = 0; number < picture_.pages().size(); ++number) {
    const MemoryPicture::Page& page = picture_.pages()[number];
    const PageBitmap bitmap = page.bitmap();
    for (size_t index = 0; index < bitmap.chunks(); ++index) {
      const ChunkHolder holder = page.holders[index];
      if (bitmap.StateOf(index) == ChunkState::kBeingWritten && Raw(holder.writer) != 0)
        writers.insert(holder.writer);
      if (bitmap.StateOf(index) != ChunkState::kComplete) continue;
      // A chunk that the first look shows complete may have been so for any time.
      Complete chunk{.holder = holder, .since_ns = seen_ ? time_ns : std::nullopt};
      const Complete* const before = FindIn(complete_, {number, index});
      if (before != nullptr && before->holder == holder) chunk = *before;
      complete.emplace(ChunkSlot(number, index), chunk);
      seen.committed += chunk.committed ? 1 : 0;
      Lower(seen.committed_since_ns, chunk.committed_ns);
      if (!chunk.committed) Lower(seen.held_since_ns, chunk.since_ns);
    }
  }
  complete_ = std::move(complete);
  seen.writers = writers.size();
  seen_ = seen;
  if (!first_ns_) first_ns_ = seen.time_ns;
  return true;
}

void MemoryFollower::Add(const CommitRequestParser& request, std::optional<uint64_t> time_ns) {
  if (!seen_) return;
  for (const ChunkToMove& chunk : request.chunks()) {
    const uint64_t page = chunk.page.value_or(0);
    const uint64_t index = chunk.index.value_or(0);
    if (page >= picture_.pages().size() || index >= kMaxChunksPerPage) continue;
    const ChunkSlot slot{static_cast<size_t>(page), static_cast<size_t>(index)};
    // A chunk that was completed after the look has its holder in its own header.
    const auto header = chunk.header();
    const ChunkHolder holder = header ? ChunkHolder{header->writer, header->chunk}
                                      : picture_.pages()[slot.first].holders[slot.second];
    Complete& complete = complete_[slot];
    if (complete.committed && complete.holder == holder) continue;
    complete = {.holder = holder, .since_ns = {}, .committed = true, .committed_ns = time_ns};
  }
}

void MemoryLooks::Add(const Op& op) {
  VisitRecord(
      op.body,
      [&](const SharedMemoryLook& look) {
        if (auto* const memory = FindIn(live_, look.producer)) memory->Add(look, op.time_ns);
      },
      [&](const Commit& commit) {
        MemoryFollower* const memory = FindIn(live_, commit.producer);
        if (memory == nullptr || commit.origin != Origin::kShm || !memory->seen()) return;
        parser_.Parse(commit.request);
        memory->Add(parser_, op.time_ns);
      },
      [&](const SharedMemorySetUp& setup) {
        End(setup.producer);
        if (setup.size == 0) return;
        pages_ +=
            live_.try_emplace(setup.producer, setup, kMaxPages - pages_).first->second.pages();
      },
      [&](const ProducerDisconnected& gone) { End(gone.producer); });
}

void MemoryLooks::End(ProducerId producer) {
  if (const auto memory = live_.extract(producer)) pages_ -= memory.mapped().pages();
}

}  // namespace ringscope::smb

namespace ringscope {
namespace {

/// Without any commit for so long, the service (or the whole machine) was busy with other things.
constexpr uint64_t kQuietNs = 50'000'000;

/// Returns the time from `then`, if it is known, to `now_ns`; 0 if that is no later.
uint64_t Since(std::optional<uint64_t> then_ns, uint64_t now_ns) {
  return now_ns - std::min(then_ns.value_or(now_ns), now_ns);
}

}  // namespace

void SharedMemoryUse::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  looks_.Add(op);
  if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) {
    const smb::MemoryFollower* const memory = looks_.Of(look->producer);
    if (memory == nullptr || !memory->seen() || !memory->seen()->is_full()) return;
    Producer& producer = producers_[look->producer];
    producer.full = memory->seen();
    producer.since_commit_ns = Since(
        producer.committed_ns ? producer.committed_ns : memory->first_ns(), producer.full->time_ns);
  } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
    if (!moment.time_ns) return;
    producers_[commit->producer].committed_ns = moment.time_ns;
    quiet_ns_ = Since(last_commit_ns_, *moment.time_ns);
    last_commit_ns_ = moment.time_ns;
  } else if (const auto* connected = std::get_if<ProducerConnected>(&op.body)) {
    if (connected->smb_size) producers_[connected->producer].smb_size = connected->smb_size;
  } else if (const auto* memory = std::get_if<SharedMemorySetUp>(&op.body)) {
    if (memory->size > 0) producers_[memory->producer].smb_size = memory->size;
  } else if (const auto* mark = std::get_if<Inexact>(&op.body)) {
    if (!mark->producer || !mark->held_ns) return;
    producers_[*mark->producer].released_ns = moment.time_ns;
    producers_[*mark->producer].held_ns = *mark->held_ns;
  }
}

void SharedMemoryUse::AddLook(const Producer& producer, uint64_t now_ns, AbortFacts& facts) {
  if (!producer.full || producer.full->time_ns + AbortFacts::kWindowNs < now_ns) return;
  const smb::SeenMemory& full = *producer.full;
  facts.full = full;
  facts.since_commit_ns = producer.since_commit_ns;
  facts.held_ns = Since(full.held_since_ns, full.time_ns);
  facts.waiting_ns = Since(full.committed_since_ns, full.time_ns);
  if (facts.reason == AbortReason::kLargePacket) return;
  if (full.counts.being_written * 2 >= full.counts.used())
    facts.reason = AbortReason::kHeldByWriters;
  else if (full.committed > full.held_back() && facts.waiting_ns >= AbortFacts::kLateNs)
    facts.reason = AbortReason::kServiceLate;
  else if (full.held_back() >= full.committed && facts.held_ns >= AbortFacts::kHeldBackNs)
    facts.reason = AbortReason::kHeldBack;
  else
    facts.reason = AbortReason::kBurst;
}

std::optional<AbortFacts> SharedMemoryUse::AddChunk(const ChunkCommit& commit,
                                                    const WrittenChunk& written) {
  Producer& producer = producers_[commit.sequence.producer];
  if (now_.time_ns) {
    // The chunk takes at least its header and what it holds.
    producer.sent.emplace_back(*now_.time_ns, kChunkHeaderSize + commit.payload.size());
    producer.sent_bytes += producer.sent.back().second;
    while (Since(producer.sent.front().first, *now_.time_ns) > AbortFacts::kWindowNs) {
      producer.sent_bytes -= producer.sent.front().second;
      producer.sent.pop_front();
    }
  }
  const std::vector<WrittenFragment>& fragments = written.fragments;
  const bool aborts = written.end == ChunkEnd::kAborted;
  uint64_t& open = open_[commit.sequence];
  const uint64_t before = (written.flags & kFirstContinues) != 0 ? open : 0;
  if (aborts || !fragments.empty()) open = 0;
  if (!fragments.empty() && (fragments.back().kind == FragmentKind::kBegin ||
                             fragments.back().kind == FragmentKind::kContinue))
    open = (fragments.size() == 1 ? before : 0) + fragments.back().size;
  if (!aborts) return std::nullopt;
  AbortFacts facts{.smb_size = producer.smb_size,
                   .packet_bytes = fragments.empty() ? before : 0,  // else it begins after these
                   .window_bytes = producer.sent_bytes,
                   .quiet_ns = quiet_ns_};
  if (facts.smb_size) {
    // Each writer holds a chunk that is not full, so the memory is full before all of it is used.
    const uint64_t most = *facts.smb_size / 4 * 3;
    if (facts.packet_bytes >= most)
      facts.reason = AbortReason::kLargePacket;
    else if (facts.window_bytes >= most)
      facts.reason = facts.quiet_ns >= kQuietNs ? AbortReason::kServiceQuiet : AbortReason::kBurst;
  }
  if (now_.time_ns) AddLook(producer, *now_.time_ns, facts);
  if (now_.time_ns && producer.released_ns && facts.reason != AbortReason::kLargePacket &&
      *producer.released_ns + AbortFacts::kWindowNs >= *now_.time_ns) {
    facts.reason = AbortReason::kHeldByRecorder;
    facts.held_ns = producer.held_ns;
  }
  return facts;
}

}  // namespace ringscope
