#include "formats/trace/packet_sorter.h"

#include <algorithm>
#include <array>
#include <span>
#include <tuple>
#include <utility>

#include "core/base/wire.h"

namespace ringscope {
namespace {

constexpr size_t kSpillBytes = size_t{1} << 20;  // of a write into the temporary file
constexpr size_t kLeastWindow = 512, kMostWindow = size_t{32} << 10;  // entries of a run

}  // namespace

PacketSorter::PacketSorter(Options options) : options_(std::move(options)) {
  if (options_.file != nullptr) file_blocks_.emplace(*options_.file, options_.merge_bytes / 2);
}

Result<StoredPlace> PacketSorter::Store(Bytes bytes) {
  if (bytes.size() > UINT32_MAX)
    return Fail(ErrorCode::kLimit, "a packet is too large to be sorted");
  RS_RETURN_IF_ERROR(MakeSpace(bytes.size()));
  if (spilled_ && store_.size() + bytes.size() > kSpillBytes) RS_RETURN_IF_ERROR(SpillStore());
  if (store_.capacity() < kSpillBytes)  // untouched pages cost nothing
    store_.reserve(spilled_ ? kSpillBytes : options_.run_bytes);
  const StoredPlace place{store_offset_ + store_.size(), static_cast<uint32_t>(bytes.size()),
                          false};
  store_ += wire::AsText(bytes);
  return place;
}

Status PacketSorter::Add(const TimedPacket& packet) {
  RS_RETURN_IF_ERROR(MakeSpace(sizeof(Entry)));
  bytes_ += packet.place.size;
  if (entries_.capacity() == 0) entries_.reserve(options_.run_bytes / sizeof(Entry) + 1);
  is_sorted_ &= entries_.empty() || entries_.back().time_ns <= packet.time_ns;
  entries_.push_back({packet.time_ns, packet.place.at, packet.place.size, packet.sequence,
                      packet.dropped, packet.place.in_file ? 1U : 0U});
  return {};
}

/// Uses the temporary file if there is more in memory than a run may have.
Status PacketSorter::MakeSpace(size_t bytes) {
  const size_t used = store_.size() + entries_.size() * sizeof(Entry);
  if (used == 0 || used + bytes <= options_.run_bytes) return {};
  if (!spilled_) {
    RS_ASSIGN_OR_RETURN(
        spilled_,
        TemporaryFile::Create({.folder = options_.folder,
                               .hint = "sorting needs space there; set TMPDIR to another folder"}));
  }
  RS_RETURN_IF_ERROR(SpillStore());
  return SpillRun();
}

Status PacketSorter::SpillStore() {
  RS_RETURN_IF_ERROR(spilled_->Write(wire::AsBytes(store_)));
  // The first time, it is as large as a run.
  if (store_.capacity() > 2 * kSpillBytes) std::string().swap(store_);
  store_.clear();
  store_offset_ = spilled_->size();
  return {};
}

Status PacketSorter::SpillRun() {
  if (entries_.empty()) return {};
  SortEntries();
  const uint64_t start = spilled_->size();
  RS_RETURN_IF_ERROR(spilled_->Write(
      {reinterpret_cast<const uint8_t*>(entries_.data()), entries_.size() * sizeof(Entry)}));
  runs_.push_back({start, spilled_->size(), {}});
  entries_.clear();
  is_sorted_ = true;
  store_offset_ = spilled_->size();
  return {};
}

/// Sorts by one digit of the times after the other, or where that does not pay, by comparing.
void PacketSorter::SortEntries() {
  if (is_sorted_) return;
  constexpr size_t kLeast = 4096;
  if (entries_.size() < kLeast) {
    std::ranges::stable_sort(entries_, {}, &Entry::time_ns);
    return;
  }
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
  RS_RETURN_IF_ERROR(SpillStore());
  RS_RETURN_IF_ERROR(SpillRun());
  std::vector<Entry>().swap(entries_);
  spilled_source_ = OpenTemporary(spilled_, "");
  store_blocks_.emplace(*spilled_source_, options_.merge_bytes / 4);
  for (size_t i = 0; i < runs_.size(); ++i) {
    RS_RETURN_IF_ERROR(Refill(runs_[i]));
    heap_.push_back(i);
  }
  std::ranges::make_heap(heap_, [this](size_t a, size_t b) { return IsLater(a, b); });
  return {};
}

/// Earlier runs are first: what they hold came first.
bool PacketSorter::IsLater(size_t a, size_t b) const {
  return std::tuple(runs_[a].window[runs_[a].at].time_ns, a) >
         std::tuple(runs_[b].window[runs_[b].at].time_ns, b);
}

/// Reads the next entries of a run. Its window stays empty at its end.
Status PacketSorter::Refill(Run& run) {
  const size_t most = std::clamp(options_.merge_bytes / 4 / runs_.size() / sizeof(Entry),
                                 kLeastWindow, kMostWindow);
  run.at = 0;
  run.window.resize(std::min<uint64_t>(most, (run.end - run.next) / sizeof(Entry)));
  RS_ASSIGN_OR_RETURN(const size_t got,
                      spilled_->ReadAt(run.next, {reinterpret_cast<uint8_t*>(run.window.data()),
                                                  run.window.size() * sizeof(Entry)}));
  run.next += got;
  return {};
}

Result<std::optional<PacketSorter::Entry>> PacketSorter::NextEntry() {
  if (!spilled_) {
    if (next_entry_ == entries_.size()) return std::nullopt;
    constexpr size_t kAhead = 6;
    if (next_entry_ + kAhead < entries_.size())
      if (const Entry& soon = entries_[next_entry_ + kAhead]; soon.in_file != 0)
        file_blocks_->Prefetch(soon.at);
    return entries_[next_entry_++];
  }
  if (heap_.empty()) return std::nullopt;
  const auto later = [this](size_t a, size_t b) { return IsLater(a, b); };
  std::ranges::pop_heap(heap_, later);
  Run& run = runs_[heap_.back()];
  const Entry entry = run.window[run.at++];
  if (run.at == run.window.size()) RS_RETURN_IF_ERROR(Refill(run));
  if (run.window.empty())
    heap_.pop_back();
  else
    std::ranges::push_heap(heap_, later);
  return entry;
}

Result<std::optional<TimedPacket>> PacketSorter::Next() {
  RS_ASSIGN_OR_RETURN(const std::optional<Entry> entry, NextEntry());
  if (!entry) return std::nullopt;
  TimedPacket packet{.time_ns = entry->time_ns,
                     .sequence = entry->sequence,
                     .dropped = entry->dropped,
                     .place = {entry->at, entry->size, entry->in_file != 0}};
  if (!packet.place.in_file && !spilled_) {
    packet.bytes = wire::AsBytes(store_).subspan(static_cast<size_t>(entry->at), entry->size);
    return packet;
  }
  FileBlocks& blocks = packet.place.in_file ? *file_blocks_ : *store_blocks_;
  RS_ASSIGN_OR_RETURN(packet.bytes, blocks.Read(entry->at, entry->size));
  return packet;
}

}  // namespace ringscope
