#include "formats/trace/packet_sorter.h"

#include <algorithm>
#include <array>

#include "core/base/wire.h"

namespace ringscope {

PacketSorter::PacketSorter(Options options) : options_(std::move(options)) {
  if (options_.file != nullptr) file_blocks_.emplace(*options_.file, options_.merge_bytes / 2);
}

Result<StoredPlace> PacketSorter::Store(Bytes bytes) {
  if (bytes.size() > UINT32_MAX)
    return Fail(ErrorCode::kLimit, "a packet is too large to be sorted");
  RS_RETURN_IF_ERROR(MakeSpace(bytes.size()));
  const StoredPlace place{spilled_bytes() + store_.size(), static_cast<uint32_t>(bytes.size()),
                          false};
  store_ += wire::AsText(bytes);
  return place;
}

Status PacketSorter::Add(const TimedPacket& packet) {
  RS_RETURN_IF_ERROR(MakeSpace(sizeof(Entry)));
  bytes_ += packet.place.size;
  if (entries_.capacity() == 0) entries_.reserve(options_.run_bytes / sizeof(Entry) + 1);
  entries_.push_back({packet.time_ns, packet.place.at, packet.place.size, packet.sequence,
                      packet.dropped, packet.place.in_file ? 1U : 0U});
  return {};
}

/// Uses the temporary file if there is more in memory than a run may have.
Status PacketSorter::MakeSpace(size_t bytes) {
  const size_t used = store_.size() + entries_.size() * sizeof(Entry);
  return used == 0 || used + bytes <= options_.run_bytes ? Status() : Spill();
}

Status PacketSorter::Spill() {
  if (!spilled_) {
    RS_ASSIGN_OR_RETURN(
        spilled_,
        TemporaryFile::Create({.folder = options_.folder,
                               .hint = "sorting needs space there; set TMPDIR to another folder"}));
  }
  RS_RETURN_IF_ERROR(spilled_->Write(wire::AsBytes(store_)));
  store_.clear();
  if (entries_.empty()) return {};
  SortEntries();
  const uint64_t start = spilled_->size();
  RS_RETURN_IF_ERROR(spilled_->Write(
      {reinterpret_cast<const uint8_t*>(entries_.data()), entries_.size() * sizeof(Entry)}));
  runs_.push_back({start, spilled_->size(), {}});
  entries_.clear();
  return {};
}

/// Sorts by one digit of the times after the other.
void PacketSorter::SortEntries() {
  if (std::ranges::is_sorted(entries_, {}, &Entry::time_ns)) return;
  const auto [first, last] = std::ranges::minmax(entries_, {}, &Entry::time_ns);
  const uint64_t least = first.time_ns, range = last.time_ns - first.time_ns;
  constexpr unsigned kDigitBits = 8;
  constexpr size_t kDigits = size_t{1} << kDigitBits;
  std::vector<Entry> sorted(entries_.size());
  for (unsigned shift = 0; shift < 64 && range >> shift != 0; shift += kDigitBits) {
    const auto digit = [&](const Entry& entry) {
      return static_cast<size_t>((entry.time_ns - least) >> shift) % kDigits;
    };
    std::array<size_t, kDigits> next{};
    for (const Entry& entry : entries_) ++next[digit(entry)];
    size_t begin = 0;
    for (size_t& place : next) begin += std::exchange(place, begin);
    for (const Entry& entry : entries_) sorted[next[digit(entry)]++] = entry;
    entries_.swap(sorted);
  }
}

Status PacketSorter::Finish() {
  if (!spilled_) {
    SortEntries();
    return {};
  }
  RS_RETURN_IF_ERROR(Spill());
  std::vector<Entry>().swap(entries_);
  std::string().swap(store_);
  spilled_source_ = OpenTemporary(spilled_, "");
  store_blocks_.emplace(*spilled_source_, options_.merge_bytes / 4);
  for (size_t i = 0; i < runs_.size(); ++i) RS_RETURN_IF_ERROR(Refill(i));
  return {};
}

/// Reads the next entries of a run, if it has any.
Status PacketSorter::Refill(size_t index) {
  constexpr size_t kLeastWindow = 512, kMostWindow = size_t{32} << 10;  // entries
  Run& run = runs_[index];
  const size_t most = std::clamp(options_.merge_bytes / 4 / runs_.size() / sizeof(Entry),
                                 kLeastWindow, kMostWindow);
  run.at = 0;
  run.window.resize(std::min<uint64_t>(most, (run.end - run.next) / sizeof(Entry)));
  RS_ASSIGN_OR_RETURN(const size_t got,
                      spilled_->ReadAt(run.next, {reinterpret_cast<uint8_t*>(run.window.data()),
                                                  run.window.size() * sizeof(Entry)}));
  run.next += got;
  if (!run.window.empty()) fronts_.emplace(run.window.front().time_ns, index);
  return {};
}

Result<std::optional<PacketSorter::Entry>> PacketSorter::NextEntry() {
  if (!spilled_) {
    if (next_entry_ == entries_.size()) return std::nullopt;
    return entries_[next_entry_++];
  }
  if (fronts_.empty()) return std::nullopt;
  const size_t index = fronts_.top().second;
  fronts_.pop();
  Run& run = runs_[index];
  const Entry entry = run.window[run.at++];
  if (run.at == run.window.size())
    RS_RETURN_IF_ERROR(Refill(index));
  else
    fronts_.emplace(run.window[run.at].time_ns, index);
  return entry;
}

Result<std::optional<TimedPacket>> PacketSorter::Next() {
  RS_ASSIGN_OR_RETURN(const std::optional<Entry> entry, NextEntry());
  if (!entry) return std::nullopt;
  TimedPacket packet{.time_ns = entry->time_ns,
                     .sequence = entry->sequence,
                     .dropped = entry->dropped,
                     .place = {entry->at, entry->size, entry->in_file != 0}};
  if (packet.place.in_file || spilled_) {
    FileBlocks& blocks = packet.place.in_file ? *file_blocks_ : *store_blocks_;
    RS_ASSIGN_OR_RETURN(packet.bytes, blocks.Read(entry->at, entry->size));
  } else {
    packet.bytes = wire::AsBytes(store_).subspan(static_cast<size_t>(entry->at), entry->size);
  }
  return packet;
}

}  // namespace ringscope
