#include "commands/record/producer_memory.h"

#include <utility>

namespace ringscope {
namespace {

/// Fragments that a chunk needs to be scraped while it is being written: the last is not whole.
constexpr uint16_t kMinFragments = 2;

}  // namespace

ProducerMemory::ProducerMemory(std::unique_ptr<smb::Memory> memory, size_t page_bytes)
    : memory_(std::move(memory)),
      pages_(*memory_, page_bytes),
      slots_(static_cast<size_t>(pages_.count()) * smb::kMaxChunksPerPage) {}

ProducerMemory::Slot& ProducerMemory::SlotAt(smb::ChunkPlace place) {
  return slots_[static_cast<size_t>(place.page) * smb::kMaxChunksPerPage +
                static_cast<size_t>(place.chunk)];
}

bool ProducerMemory::WasCommitted(const Slot& slot, const ChunkHeader& header) {
  // A writer uses a chunk id again only after 2^32 others.
  return slot.committed && slot.last_committed.chunk == header.chunk &&
         slot.last_committed.writer == header.writer &&
         slot.committed_life == lives_[header.writer];
}

bool ProducerMemory::TakeCommitted(smb::ChunkPlace place, std::string& out) {
  const size_t before = out.size();
  if (!pages_.AppendComplete(place, out)) return false;
  const ChunkHeader header =
      *ParseChunkHeader(wire::AsBytes(out).subspan(before, kChunkHeaderSize));
  Slot& slot = SlotAt(place);
  if (WasCommitted(slot, header)) {
    out.resize(before);
    return false;
  }
  slot.committed = true;
  slot.last_committed = header;
  slot.committed_life = lives_[header.writer];
  return true;
}

std::vector<ScrapedChunk> ProducerMemory::ScrapeChunks(const std::map<WriterId, BufferId>& writers,
                                                       Scrape which, std::string& data) {
  std::vector<ScrapedChunk> chunks;
  const auto take = [&](const smb::FoundChunk& found) {
    if (!found.complete && found.header.fragments < kMinFragments) return false;
    if (!writers.contains(found.header.writer)) return false;
    const Slot& slot = SlotAt(found.place);
    if (WasCommitted(slot, found.header)) return false;
    return which == Scrape::kAll || !slot.scraped || slot.last_scraped != found.header ||
           slot.scraped_complete != found.complete;
  };
  size_t offset = data.size();
  const auto done = [&](const smb::FoundChunk& found) {
    Slot& slot = SlotAt(found.place);
    slot.scraped = true;
    slot.scraped_complete = found.complete;
    slot.last_scraped = found.header;
    chunks.push_back({found, writers.at(found.header.writer), offset, data.size() - offset});
    offset = data.size();
  };
  pages_.Scan(take, done, data);
  return chunks;
}

}  // namespace ringscope
