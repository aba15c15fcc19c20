#include "core/smb/memory_story.h"

#include <algorithm>
#include <utility>

#include "core/smb/picture_codec.h"

namespace ringscope::smb {
namespace {

size_t FollowedPages(const SharedMemorySetUp& setup, size_t most_pages) {
  if (!IsPageSize(setup.page_size)) return 0;
  const uint64_t pages = setup.size / setup.page_size;
  return pages <= std::min(most_pages, kMaxPagesOfPicture) ? static_cast<size_t>(pages) : 0;
}

void Raise(uint64_t& most, uint64_t value) { most = std::max(most, value); }

}  // namespace

MemoryFollower::MemoryFollower(const SharedMemorySetUp& setup, size_t most_pages,
                               std::shared_ptr<KeptUses> uses)
    : use_{.producer = setup.producer,
           .size = setup.size,
           .page_size = setup.page_size,
           .direct_patching = setup.direct_patching},
      pages_(FollowedPages(setup, most_pages)),
      uses_(std::move(uses)) {
  if (uses_) ways_.SendUsesTo([uses = uses_](const ChunkUse& use) { uses->Add(use); });
}

std::optional<MemoryDemand> MemoryFollower::Demand() const {
  if (!uses_ || use_.looks == 0) return std::nullopt;
  MemoryDemand demand{.producer = use_.producer,
                      .size = use_.size,
                      .page_size = use_.page_size,
                      .first_ns = *use_.first_ns,
                      .last_ns = *use_.last_ns,
                      .is_partial = use_.missing > 0 || uses_->is_cut(),
                      .uses = uses_->uses(),
                      .full_looks = uses_->full_looks()};
  ways_.ForEachOpen([&](const ChunkUse& use) { demand.uses.push_back(use); });
  const auto most = std::max_element(use_.layouts.begin() + 1, use_.layouts.end());
  if (*most > 0) {
    const auto layout = static_cast<uint32_t>(most - use_.layouts.begin());
    const size_t chunks = PageBitmap(layout << PageBitmap::kLayoutShift).chunks();
    demand.chunks_per_page = std::max<size_t>(chunks, 1);
  }
  demand.Finish();
  return demand;
}

bool MemoryFollower::ShowsLoss() const {
  if (!uses_) return false;
  const auto& open = ways_.under_way();
  return uses_->shows_loss() || std::any_of(open.begin(), open.end(), [](const auto& entry) {
           return entry.second.content.shows_loss();
         });
}

bool MemoryFollower::Apply(const SharedMemoryLook& look) {
  if (pages_ == 0) return false;
  changed_.clear();
  if (look.whole) {
    picture_ = MemoryPicture(pages_);
    for (size_t page = 0; page < pages_; ++page) changed_.push_back(page);
  } else if (next_look_ != look.number) {
    next_look_.reset();
    return false;
  }
  next_look_.reset();
  if (!ApplyChanges(wire::AsBytes(look.pages), picture_, look.whole ? nullptr : &changed_))
    return false;
  next_look_ = look.number + 1;
  return true;
}

bool MemoryFollower::Add(const SharedMemoryLook& look, std::optional<uint64_t> time_ns) {
  if (!Apply(look)) {
    ++use_.missing;
    seen_.reset();
    ways_.Interrupt();
    return false;
  }
  ++use_.looks;
  std::erase_if(committed_, [&](const auto& entry) {
    const auto& [place, committed] = entry;
    const MemoryPicture::Page& page = picture_.pages()[place.first];
    return place.second >= page.bitmap().chunks() ||
           page.bitmap().StateOf(place.second) != ChunkState::kComplete ||
           page.holders[place.second] != committed.holder;
  });
  ways_.Change(changed_);
  if (time_ns) ways_.Look(*time_ns, picture_, look.same_until_ns);
  const SeenMemory seen = Describe(time_ns.value_or(0));
  Account(seen, look.same_until_ns);
  if (uses_ && time_ns && seen.is_full()) uses_->AddFullLook(*time_ns);
  seen_ = seen;
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
    const auto known = committed_.find(slot);
    if (known != committed_.end() && known->second.holder == holder) continue;
    committed_[slot] = {holder, time_ns};
    if (!time_ns) continue;
    ChunkContent content;
    if (uses_ && chunk.data) {
      const size_t chunks = picture_.pages()[slot.first].bitmap().chunks();
      content = ReadContent(
          *chunk.data, ChunkBytes(use_.page_size, std::max<size_t>(chunks, 1)) - kChunkHeaderSize);
    }
    ways_.Commit(*time_ns, slot, holder, content);
  }
}

SeenMemory MemoryFollower::SeenSince(uint64_t time_ns) const {
  SeenMemory seen = *seen_;
  seen.time_ns = time_ns;
  seen.committed = 0;
  for (const auto& [slot, committed] : committed_) {
    const MemoryPicture::Page& page = picture_.pages()[slot.first];
    if (slot.second < page.bitmap().chunks() &&
        page.bitmap().StateOf(slot.second) == ChunkState::kComplete &&
        page.holders[slot.second] == committed.holder)
      ++seen.committed;
  }
  return seen;
}

void MemoryFollower::End() {
  picture_ = MemoryPicture();
  committed_.clear();
  ways_.End();
}

SeenMemory MemoryFollower::Describe(uint64_t time_ns) {
  SeenMemory seen{.time_ns = time_ns, .counts = picture_.Count(), .committed = committed_.size()};
  for (const auto& [slot, committed] : committed_)
    if (committed.time_ns)
      seen.committed_since_ns =
          std::min(seen.committed_since_ns.value_or(*committed.time_ns), *committed.time_ns);
  std::vector<WriterId> writers;
  std::array<uint64_t, 8> layouts = {};
  for (const MemoryPicture::Page& page : picture_.pages()) {
    const PageBitmap bitmap = page.bitmap();
    ++layouts[bitmap.layout()];
    for (size_t chunk = 0; chunk < bitmap.chunks(); ++chunk) {
      if (bitmap.StateOf(chunk) == ChunkState::kBeingWritten &&
          Raw(page.holders[chunk].writer) != 0)
        writers.push_back(page.holders[chunk].writer);
    }
  }
  for (const auto& [slot, way] : ways_.under_way()) {
    if (!way.returned_ns || (seen.held_since_ns && *seen.held_since_ns <= way.returned_ns->second))
      continue;
    if (picture_.pages()[slot.first].bitmap().StateOf(slot.second) == ChunkState::kComplete &&
        !committed_.contains(slot))
      seen.held_since_ns = way.returned_ns->second;
  }
  for (size_t layout = 0; layout < layouts.size(); ++layout)
    Raise(use_.layouts[layout], layouts[layout]);
  std::sort(writers.begin(), writers.end());
  seen.writers =
      static_cast<uint64_t>(std::unique(writers.begin(), writers.end()) - writers.begin());
  return seen;
}

void MemoryFollower::Account(const SeenMemory& seen, std::optional<uint64_t> same_until_ns) {
  Raise(use_.bad_pages, seen.counts.bad_pages);
  Raise(use_.chunks, seen.counts.all());
  Raise(use_.most_being_written, seen.counts.being_written);
  Raise(use_.most_held_back, seen.held_back());
  Raise(use_.most_committed, seen.committed);
  Raise(use_.most_writers, seen.writers);
  if (!use_.peak || seen.counts.used() > use_.peak->counts.used()) use_.peak = seen;
  if (!use_.first_ns) use_.first_ns = seen.time_ns;
  use_.last_ns = seen.time_ns;
  const bool was_full = seen_ && seen_->is_full();
  if (seen.is_full()) ++use_.full_looks;
  if (!seen_) return;
  // Until the last look that saw the same, and from there to this look.
  const uint64_t start = seen_->time_ns;
  const uint64_t same =
      std::clamp(same_until_ns.value_or(start), start, std::max(start, seen.time_ns));
  const uint64_t open = Between(same, seen.time_ns);
  if (was_full) use_.full.least += same - start;
  if (was_full && seen.is_full()) use_.full.least += open;
  if (was_full) use_.full.most += same - start;
  if (was_full || seen.is_full()) use_.full.most += open;
  // Between two looks the mean of both.
  const auto used = [](const SeenMemory& at) { return static_cast<double>(at.counts.used()); };
  const auto all = [](const SeenMemory& at) { return static_cast<double>(at.counts.all()); };
  use_.used_chunk_ns += used(*seen_) * static_cast<double>(same - start) +
                        (used(*seen_) + used(seen)) / 2 * static_cast<double>(open);
  use_.chunk_ns += all(*seen_) * static_cast<double>(same - start) +
                   (all(*seen_) + all(seen)) / 2 * static_cast<double>(open);
}

void MemoryStory::Add(const Op& op) {
  if (const auto* look = std::get_if<SharedMemoryLook>(&op.body)) {
    const auto memory = live_.find(look->producer);
    if (memory != live_.end()) memory->second->Add(*look, op.time_ns);
  } else if (const auto* commit = std::get_if<Commit>(&op.body)) {
    const auto memory = live_.find(commit->producer);
    if (memory == live_.end() || commit->origin != Origin::kShm || !memory->second->seen()) return;
    parser_.Parse(commit->request);
    memory->second->Add(parser_, op.time_ns);
  } else if (const auto* setup = std::get_if<SharedMemorySetUp>(&op.body)) {
    End(setup->producer);
    if (setup->size == 0) return;
    auto memory = std::make_unique<MemoryFollower>(
        *setup, kMaxPages - pages_, uses_left_ ? std::make_shared<KeptUses>(uses_left_) : nullptr);
    if (is_split_) memory->SplitByWriter();
    pages_ += memory->pages();
    live_.emplace(setup->producer, std::move(memory));
  } else if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) {
    End(gone->producer);
  }
}

void MemoryStory::End(ProducerId producer) {
  auto memory = live_.extract(producer);
  if (memory.empty()) return;
  pages_ -= memory.mapped()->pages();
  if (ended_.size() == max_ended_) {
    ++unlisted_;
    return;
  }
  memory.mapped()->End();
  ended_.push_back(std::move(memory.mapped()));
}

std::vector<const MemoryFollower*> MemoryStory::Memories() const {
  std::vector<const MemoryFollower*> memories;
  for (const auto& memory : ended_) memories.push_back(memory.get());
  for (const auto& [producer, memory] : live_) memories.push_back(memory.get());
  return memories;
}

const MemoryFollower* MemoryStory::Of(ProducerId producer) const {
  const auto memory = live_.find(producer);
  return memory == live_.end() ? nullptr : memory->second.get();
}

}  // namespace ringscope::smb
