#include "core/gaps/shared_memory_use.h"

#include <algorithm>

#include "core/base/lookup.h"

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

bool MemoryFollower::Apply(const SharedMemoryLook& look) {
  if (pages_ == 0) return false;
  const bool is_next = next_look_ == look.number;
  next_look_.reset();
  if (look.whole)
    picture_ = MemoryPicture(pages_);
  else if (!is_next)
    return false;
  if (!ApplyChanges(wire::AsBytes(look.pages), picture_)) return false;
  next_look_ = look.number + 1;
  return true;
}

bool MemoryFollower::IsComplete(ChunkSlot slot, ChunkHolder holder) const {
  const MemoryPicture::Page& page = picture_.pages()[slot.first];
  return slot.second < page.bitmap().chunks() &&
         page.bitmap().StateOf(slot.second) == ChunkState::kComplete &&
         page.holders[slot.second] == holder;
}

bool MemoryFollower::Add(const SharedMemoryLook& look, std::optional<uint64_t> time_ns) {
  if (!Apply(look)) {
    seen_.reset();
    std::erase_if(complete_, [](const auto& entry) { return !entry.second.committed; });
    return false;
  }
  std::erase_if(complete_,
                [&](const auto& entry) { return !IsComplete(entry.first, entry.second.holder); });
  seen_ = Describe(time_ns);
  if (!first_ns_) first_ns_ = seen_->time_ns;
  return true;
}

SeenMemory MemoryFollower::Describe(std::optional<uint64_t> time_ns) {
  SeenMemory seen{.time_ns = time_ns.value_or(0), .counts = picture_.Count()};
  std::vector<WriterId> writers;
  for (size_t number = 0; number < picture_.pages().size(); ++number) {
    const MemoryPicture::Page& page = picture_.pages()[number];
    const PageBitmap bitmap = page.bitmap();
    for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk) {
      const ChunkHolder holder = page.holders[chunk];
      if (bitmap.StateOf(chunk) == ChunkState::kBeingWritten && Raw(holder.writer) != 0)
        writers.push_back(holder.writer);
      // A chunk that the first look shows complete may have been so for any time.
      if (bitmap.StateOf(chunk) == ChunkState::kComplete)
        complete_.try_emplace({number, chunk}, Complete{.holder = holder,
                                                        .since_ns = seen_ ? time_ns : std::nullopt,
                                                        .committed_ns = {}});
    }
  }
  for (const auto& [slot, chunk] : complete_) {
    seen.committed += chunk.committed ? 1 : 0;
    Lower(seen.committed_since_ns, chunk.committed_ns);
    if (!chunk.committed) Lower(seen.held_since_ns, chunk.since_ns);
  }
  std::ranges::sort(writers);
  writers.erase(std::unique(writers.begin(), writers.end()), writers.end());
  seen.writers = writers.size();
  return seen;
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
  if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) {
    const auto memory = live_.find(look->producer);
    if (memory != live_.end()) memory->second.Add(*look, op.time_ns);
  } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
    const auto memory = live_.find(commit->producer);
    if (memory == live_.end() || commit->origin != Origin::kShm || !memory->second.seen()) return;
    parser_.Parse(commit->request);
    memory->second.Add(parser_, op.time_ns);
  } else if (const auto* setup = std::get_if<SharedMemorySetUp>(&op.body)) {
    End(setup->producer);
    if (setup->size == 0) return;
    const auto [memory, is_new] = live_.try_emplace(setup->producer, *setup, kMaxPages - pages_);
    pages_ += memory->second.pages();
  } else if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) {
    End(gone->producer);
  }
}

void MemoryLooks::End(ProducerId producer) {
  const auto memory = live_.find(producer);
  if (memory == live_.end()) return;
  pages_ -= memory->second.pages();
  live_.erase(memory);
}

}  // namespace ringscope::smb

namespace ringscope {
namespace {

/// Without any commit for so long, the service (or the whole machine) was busy with other things.
constexpr uint64_t kQuietNs = 50'000'000;

/// Bytes of shared memory that a chunk takes at least: its header and what it holds.
uint64_t BytesOf(const ChunkCommit& commit) { return kChunkHeaderSize + commit.payload.size(); }

}  // namespace

void SharedMemoryUse::OnRecord(const Op& op, const LogMoment& moment) {
  now_ = moment;
  looks_.Add(op);
  if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) {
    OnLook(look->producer);
  } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
    if (!moment.time_ns) return;
    producers_[commit->producer].committed_ns = moment.time_ns;
    const uint64_t last = last_commit_ns_.value_or(*moment.time_ns);
    quiet_ns_ = *moment.time_ns > last ? *moment.time_ns - last : 0;
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

void SharedMemoryUse::OnLook(ProducerId id) {
  const smb::MemoryFollower* const memory = looks_.Of(id);
  if (memory == nullptr || !memory->seen() || !memory->seen()->is_full()) return;
  Producer& producer = producers_[id];
  producer.full = memory->seen();
  const uint64_t now = producer.full->time_ns;
  const uint64_t last = producer.committed_ns.value_or(memory->first_ns().value_or(now));
  producer.since_commit_ns = now > last ? now - last : 0;
}

void SharedMemoryUse::AddLook(const Producer& producer, uint64_t now_ns, AbortFacts& facts) {
  if (!producer.full || producer.full->time_ns + AbortFacts::kWindowNs < now_ns) return;
  const smb::SeenMemory& full = *producer.full;
  facts.full = full;
  facts.since_commit_ns = producer.since_commit_ns;
  if (full.held_since_ns && full.time_ns > *full.held_since_ns)
    facts.held_ns = full.time_ns - *full.held_since_ns;
  if (full.committed_since_ns && full.time_ns > *full.committed_since_ns)
    facts.waiting_ns = full.time_ns - *full.committed_since_ns;
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
  const uint64_t bytes = BytesOf(commit);
  if (now_.time_ns) {
    producer.sent.push_back({*now_.time_ns, bytes});
    producer.sent_bytes += bytes;
    const auto age_ns = [&](uint64_t time_ns) {
      return *now_.time_ns - std::min(time_ns, *now_.time_ns);
    };
    while (age_ns(producer.sent.front().time_ns) > AbortFacts::kWindowNs) {
      producer.sent_bytes -= producer.sent.front().bytes;
      producer.sent.pop_front();
    }
  }
  // The packet that continues from chunk to chunk.
  uint64_t packet = 0;
  if (!written.fragments.empty() || written.end == ChunkEnd::kAborted) {
    uint64_t& open = open_[commit.sequence];
    const bool continues = (written.flags & kFirstContinues) != 0;
    const size_t count = written.fragments.size();
    const bool one = count == 1 && continues;
    packet = continues ? open : 0;
    const FragmentKind last = count == 0 ? FragmentKind::kWhole : written.fragments.back().kind;
    const bool on_next = last == FragmentKind::kBegin || last == FragmentKind::kContinue;
    open = on_next ? (one ? packet : 0) + written.fragments.back().size : 0;
    if (count > 0) packet = 0;  // what is aborted begins after these fragments
  }
  if (written.end != ChunkEnd::kAborted) return std::nullopt;
  AbortFacts facts{.smb_size = producer.smb_size,
                   .packet_bytes = packet,
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
