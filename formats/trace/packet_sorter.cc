#include "formats/trace/packet_sorter.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace ringscope {
namespace {

constexpr size_t kSpillBytes = size_t{1} << 20;
constexpr size_t kLeastRunWindow = size_t{16} << 10;
constexpr size_t kMostRunWindow = size_t{1} << 20;

/// What precedes a packet's bytes, in memory and in the file.
struct Head {
  uint64_t time_ns;
  uint32_t sequence;
  uint32_t dropped;
  uint32_t size;
  uint32_t reserved;
};
static_assert(sizeof(Head) == 24);

Head LoadHead(const uint8_t* at) {
  Head head;
  std::memcpy(&head, at, sizeof head);
  return head;
}

TimedPacket PacketAt(const uint8_t* at) {
  const Head head = LoadHead(at);
  return {.time_ns = head.time_ns,
          .sequence = head.sequence,
          .dropped = head.dropped,
          .bytes = {at + sizeof head, head.size}};
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
  Result<TimedPacket> Take() {
    const size_t size = sizeof(Head) + LoadHead(window_.data() + begin_).size;
    RS_RETURN_IF_ERROR(Have(size));
    current_ = size;
    const TimedPacket packet = PacketAt(window_.data() + begin_);
    return packet;
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

PacketSorter::PacketSorter(Options options) : options_(std::move(options)) {}

PacketSorter::~PacketSorter() = default;

Status PacketSorter::Add(const TimedPacket& packet) {
  const size_t size = sizeof(Head) + packet.bytes.size();
  if (packet.bytes.size() > UINT32_MAX)
    return Fail(ErrorCode::kLimit, "a packet is too large to be sorted");
  const size_t used = arena_.size() + entries_.size() * sizeof(Entry);
  if (!entries_.empty() && used + size + sizeof(Entry) > options_.run_bytes)
    RS_RETURN_IF_ERROR(SpillRun());
  if (arena_.capacity() == 0) arena_.reserve(options_.run_bytes);  // untouched pages cost nothing
  entries_.push_back({packet.time_ns, arena_.size()});
  const Head head{packet.time_ns, packet.sequence, packet.dropped,
                  static_cast<uint32_t>(packet.bytes.size()), 0};
  const auto* bytes = reinterpret_cast<const uint8_t*>(&head);
  arena_.insert(arena_.end(), bytes, bytes + sizeof head);
  arena_.insert(arena_.end(), packet.bytes.begin(), packet.bytes.end());
  bytes_ += packet.bytes.size();
  return {};
}

Status PacketSorter::Finish() {
  if (run_starts_.empty()) {  // everything is in memory
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
      return std::tie(a.time_ns, a.offset) < std::tie(b.time_ns, b.offset);
    });
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
    return PacketAt(arena_.data() + entries_[next_entry_++].offset);
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
  RS_ASSIGN_OR_RETURN(const TimedPacket packet, runs_[*taken_].Take());
  return packet;
}

Status PacketSorter::SpillRun() {
  if (!file_) {
    RS_ASSIGN_OR_RETURN(
        file_,
        TemporaryFile::Create({.folder = options_.folder,
                               .hint = "sorting needs space there; set TMPDIR to another folder"}));
  }
  std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
    return std::tie(a.time_ns, a.offset) < std::tie(b.time_ns, b.offset);
  });
  run_starts_.push_back(file_->size());
  std::vector<uint8_t> pending;
  pending.reserve(kSpillBytes);
  for (const Entry& entry : entries_) {
    const uint8_t* const at = arena_.data() + entry.offset;
    const Bytes packet(at, sizeof(Head) + LoadHead(at).size);
    if (pending.size() + packet.size() > kSpillBytes) {
      RS_RETURN_IF_ERROR(file_->Write(pending));
      pending.clear();
    }
    if (packet.size() > kSpillBytes)
      RS_RETURN_IF_ERROR(file_->Write(packet));
    else
      pending.insert(pending.end(), packet.begin(), packet.end());
  }
  RS_RETURN_IF_ERROR(file_->Write(pending));
  entries_.clear();
  arena_.clear();
  if (arena_.capacity() > options_.run_bytes) std::vector<uint8_t>().swap(arena_);
  return {};
}

}  // namespace ringscope
