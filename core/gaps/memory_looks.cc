#include "core/gaps/memory_looks.h"

#include <algorithm>

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

const MemoryFollower* MemoryLooks::Of(ProducerId producer) const {
  const auto memory = live_.find(producer);
  return memory == live_.end() ? nullptr : &memory->second;
}

}  // namespace ringscope::smb
