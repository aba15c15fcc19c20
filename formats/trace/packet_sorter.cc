#include "formats/trace/packet_sorter.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <tuple>
#include <utility>

namespace ringscope {
namespace {

constexpr size_t kSpillBytes = size_t{1} << 20;
constexpr size_t kLeastRunWindow = size_t{16} << 10;
constexpr size_t kMostRunWindow = size_t{1} << 20;

/// What precedes a packet's bytes, in memory and in the temporary file.
struct Head {
  uint64_t time_ns;
  uint32_t sequence;
  uint32_t dropped;
  uint32_t size;
  uint32_t is_in_file;  // 1: its offset there follows in place of its bytes
};
static_assert(sizeof(Head) == 24);

Head LoadHead(const uint8_t* at) {
  Head head;
  std::memcpy(&head, at, sizeof head);
  return head;
}

/// Of a packet with its head.
size_t StoredSize(const Head& head) {
  return sizeof head + (head.is_in_file != 0 ? sizeof(uint64_t) : head.size);
}

template <typename T>
Bytes BytesOf(const T& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

}  // namespace

/// A sorted part of the file, being read.
class PacketSorter::Run {
 public:
  Run(const TemporaryFile& file, uint64_t begin, uint64_t end, size_t window)
      : file_(&file), position_(begin), end_(end), window_bytes_(window) {}

  /// Goes to the first or next packet. @return false at the end
  Result<bool> Advance() {
    begin_ += current_;
    current_ = 0;
    if (begin_ == window_.size() && position_ == end_) return false;
    RS_RETURN_IF_ERROR(Have(sizeof(Head)));
    time_ns_ = LoadHead(window_.data() + begin_).time_ns;
    return true;
  }
  uint64_t time_ns() const { return time_ns_; }
  /// The packet that Advance went to.
  Result<const uint8_t*> Take() {
    const size_t size = StoredSize(LoadHead(window_.data() + begin_));
    RS_RETURN_IF_ERROR(Have(size));
    current_ = size;
    return window_.data() + begin_;
  }

 private:
  Status Have(size_t size) {
    if (window_.size() - begin_ >= size) return {};
    window_.erase(window_.begin(), window_.begin() + static_cast<ptrdiff_t>(begin_));
    begin_ = 0;
    // A large packet's memory is released after it.
    if (window_.capacity() > 2 * window_bytes_ && size <= window_bytes_) window_.shrink_to_fit();
    const size_t have = window_.size();
    const uint64_t want =
        std::min<uint64_t>(std::max(size, window_bytes_), have + end_ - position_);
    window_.resize(static_cast<size_t>(want));
    RS_ASSIGN_OR_RETURN(const size_t got,
                        file_->ReadAt(position_, std::span(window_).subspan(have)));
    position_ += got;
    return {};
  }

  const TemporaryFile* file_;
  uint64_t position_;  // in the file, after the window
  uint64_t end_;
  size_t window_bytes_;
  std::vector<uint8_t> window_;
  size_t begin_ = 0;    // of the current packet in the window
  size_t current_ = 0;  // its bytes, once taken
  uint64_t time_ns_ = 0;
};

PacketSorter::PacketSorter(Options options) : options_(std::move(options)) {
  if (options_.file != nullptr) blocks_.emplace(*options_.file, options_.merge_bytes / 2);
}

PacketSorter::~PacketSorter() = default;

Status PacketSorter::Add(const TimedPacket& packet) {
  const size_t size = packet.bytes.size();
  if (size > UINT32_MAX) return Fail(ErrorCode::kLimit, "a packet is too large to be sorted");
  const Head head{packet.time_ns, packet.sequence, packet.dropped, static_cast<uint32_t>(size), 0};
  RS_RETURN_IF_ERROR(AddEntry({packet.time_ns, 0, 0, kInArena}, sizeof head + size));
  AppendToArena(BytesOf(head));
  AppendToArena(packet.bytes);
  bytes_ += size;
  return {};
}

Status PacketSorter::Add(const TimedPacket& packet, const FilePlace& place) {
  bytes_ += place.size;
  if (packet.dropped == 0 && packet.sequence != kInArena)
    return AddEntry({packet.time_ns, place.offset, place.size, packet.sequence}, 0);
  const Head head{packet.time_ns, packet.sequence, packet.dropped, place.size, 1};
  RS_RETURN_IF_ERROR(AddEntry({packet.time_ns, 0, 0, kInArena}, sizeof head + sizeof place.offset));
  AppendToArena(BytesOf(head));
  AppendToArena(BytesOf(place.offset));
  return {};
}

/// @param arena_bytes that the caller appends for it
Status PacketSorter::AddEntry(const Entry& entry, size_t arena_bytes) {
  const size_t used = arena_.size() + entries_.size() * sizeof(Entry);
  if (!entries_.empty() && used + arena_bytes + sizeof(Entry) > options_.run_bytes)
    RS_RETURN_IF_ERROR(SpillRun());
  // Untouched pages cost nothing.
  if (arena_bytes > 0 && arena_.capacity() == 0) arena_.reserve(options_.run_bytes);
  if (arena_bytes == 0 && entries_.capacity() == 0)
    entries_.reserve(options_.run_bytes / sizeof(Entry) + 1);
  is_sorted_ &= entries_.empty() || entries_.back().time_ns <= entry.time_ns;
  entries_.push_back(entry);
  if (arena_bytes > 0) entries_.back().at = arena_.size();
  return {};
}

void PacketSorter::SortEntries() {
  if (is_sorted_) return;
  // In memory that the run leaves: by one digit of the times after the other.
  constexpr size_t kLeast = 4096;
  const size_t bytes = entries_.size() * sizeof(Entry);
  if (entries_.size() < kLeast || arena_.size() + 2 * bytes > options_.run_bytes / 2 * 3) {
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
  if (run_starts_.empty()) {  // everything is in memory
    SortEntries();
    return {};
  }
  if (!entries_.empty()) RS_RETURN_IF_ERROR(SpillRun());
  std::vector<uint8_t>().swap(arena_);
  std::vector<Entry>().swap(entries_);
  const size_t window =
      std::clamp(options_.merge_bytes / run_starts_.size(), kLeastRunWindow, kMostRunWindow);
  for (size_t i = 0; i < run_starts_.size(); ++i) {
    const uint64_t end = i + 1 < run_starts_.size() ? run_starts_[i + 1] : file_->size();
    Run& run = runs_.emplace_back(*file_, run_starts_[i], end, window);
    RS_RETURN_IF_ERROR(run.Advance());
    heap_.push_back(i);
  }
  taken_.reset();
  std::make_heap(heap_.begin(), heap_.end(), [this](size_t a, size_t b) {
    return std::tuple(runs_[a].time_ns(), a) > std::tuple(runs_[b].time_ns(), b);
  });
  return {};
}

Result<std::optional<TimedPacket>> PacketSorter::Next() {
  if (runs_.empty()) {
    if (next_entry_ == entries_.size()) return std::nullopt;
    constexpr size_t kAhead = 6;
    if (next_entry_ + kAhead < entries_.size()) {
      const Entry& soon = entries_[next_entry_ + kAhead];
      if (soon.sequence != kInArena) blocks_->Prefetch(soon.at);
    }
    RS_ASSIGN_OR_RETURN(const TimedPacket packet, PacketOf(entries_[next_entry_++]));
    return packet;
  }
  // Earlier runs first: what they hold came first.
  const auto later = [this](size_t a, size_t b) {
    return std::tuple(runs_[a].time_ns(), a) > std::tuple(runs_[b].time_ns(), b);
  };
  if (taken_) {
    RS_ASSIGN_OR_RETURN(const bool more, runs_[*taken_].Advance());
    if (more) {
      heap_.push_back(*taken_);
      std::push_heap(heap_.begin(), heap_.end(), later);
    }
    taken_.reset();
  }
  if (heap_.empty()) return std::nullopt;
  std::pop_heap(heap_.begin(), heap_.end(), later);
  taken_ = heap_.back();
  heap_.pop_back();
  RS_ASSIGN_OR_RETURN(const uint8_t* const at, runs_[*taken_].Take());
  RS_ASSIGN_OR_RETURN(const TimedPacket packet, PacketAt(at));
  return packet;
}

Result<TimedPacket> PacketSorter::PacketAt(const uint8_t* at) {
  const Head head = LoadHead(at);
  TimedPacket packet{head.time_ns, head.sequence, head.dropped, {}};
  if (head.is_in_file == 0) {
    packet.bytes = {at + sizeof head, head.size};
    return packet;
  }
  uint64_t offset = 0;
  std::memcpy(&offset, at + sizeof head, sizeof offset);
  RS_ASSIGN_OR_RETURN(packet.bytes, blocks_->Read(offset, head.size));
  return packet;
}

Result<TimedPacket> PacketSorter::PacketOf(const Entry& entry) {
  if (entry.sequence == kInArena) return PacketAt(arena_.data() + entry.at);
  TimedPacket packet{entry.time_ns, entry.sequence, 0, {}};
  RS_ASSIGN_OR_RETURN(packet.bytes, blocks_->Read(entry.at, entry.size));
  return packet;
}

Status PacketSorter::SpillRun() {
  if (!file_) {
    RS_ASSIGN_OR_RETURN(
        file_,
        TemporaryFile::Create({.folder = options_.folder,
                               .hint = "sorting needs space there; set TMPDIR to another folder"}));
  }
  SortEntries();
  run_starts_.push_back(file_->size());
  std::vector<uint8_t> pending;
  pending.reserve(kSpillBytes);
  const auto append = [&](Bytes bytes) {
    pending.insert(pending.end(), bytes.begin(), bytes.end());
  };
  for (const Entry& entry : entries_) {
    const bool is_in_arena = entry.sequence == kInArena;
    const uint8_t* const at = arena_.data() + (is_in_arena ? entry.at : 0);
    const size_t size = is_in_arena ? StoredSize(LoadHead(at)) : sizeof(Head) + sizeof entry.at;
    if (pending.size() + size > kSpillBytes) {
      RS_RETURN_IF_ERROR(file_->Write(pending));
      pending.clear();
    }
    if (!is_in_arena) {
      append(BytesOf(Head{entry.time_ns, entry.sequence, 0, entry.size, 1}));
      append(BytesOf(entry.at));
    } else if (size > kSpillBytes) {
      RS_RETURN_IF_ERROR(file_->Write(Bytes(at, size)));
    } else {
      append({at, size});
    }
  }
  RS_RETURN_IF_ERROR(file_->Write(pending));
  entries_.clear();
  is_sorted_ = true;
  arena_.clear();
  if (arena_.capacity() > options_.run_bytes) std::vector<uint8_t>().swap(arena_);
  return {};
}

}  // namespace ringscope
