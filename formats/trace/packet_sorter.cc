#include "formats/trace/packet_sorter.h"

#include <algorithm>
#include <cstring>

#include "core/base/wire.h"

namespace ringscope {

Status PacketSorter::Add(const TimedPacket& packet) {
  const size_t used = store_.size() + entries_.size() * sizeof(Entry);
  if (!entries_.empty() && used + sizeof(Entry) + packet.bytes.size() > options_.run_bytes)
    RS_RETURN_IF_ERROR(Spill());
  entries_.push_back({packet.time_ns, store_.size(), static_cast<uint32_t>(packet.bytes.size()),
                      packet.sequence, packet.dropped, 0});
  store_ += wire::AsText(packet.bytes);
  return {};
}

/// Writes what is in memory as a run.
Status PacketSorter::Spill() {
  if (!spilled_) {
    RS_ASSIGN_OR_RETURN(
        spilled_,
        TemporaryFile::Create({.folder = options_.folder,
                               .hint = "sorting needs space there; set TMPDIR to another folder"}));
  }
  std::ranges::stable_sort(entries_, {}, &Entry::time_ns);
  const uint64_t start = spilled_->size();
  std::string records;
  for (const Entry& entry : entries_) {
    records.append(reinterpret_cast<const char*>(&entry), sizeof(entry));
    records.append(store_, entry.at, entry.size);
    if (records.size() < kReadBytes && &entry != &entries_.back()) continue;
    RS_RETURN_IF_ERROR(spilled_->Write(wire::AsBytes(records)));
    records.clear();
  }
  runs_.push_back({.next = start, .end = spilled_->size(), .window = {}});
  entries_.clear();
  store_.clear();
  return {};
}

Status PacketSorter::Finish() {
  if (!spilled_) {
    std::ranges::stable_sort(entries_, {}, &Entry::time_ns);
    return {};
  }
  RS_RETURN_IF_ERROR(Spill());
  std::vector<Entry>().swap(entries_);
  std::string().swap(store_);
  for (size_t i = 0; i < runs_.size(); ++i) RS_RETURN_IF_ERROR(Advance(i));
  return {};
}

/// Reads until the run's window has so many bytes from its place on, or its end.
Status PacketSorter::Fill(Run& run, size_t size) {
  if (run.window.size() - run.at >= size) return {};
  run.window.erase(0, std::exchange(run.at, 0));
  const size_t had = run.window.size();
  const size_t share = std::max(size - had, options_.merge_bytes / runs_.size());
  run.window.resize(had + std::min<uint64_t>(share, run.end - run.next));
  RS_ASSIGN_OR_RETURN(
      const size_t got,
      spilled_->ReadAt(run.next, {reinterpret_cast<uint8_t*>(run.window.data()) + had,
                                  run.window.size() - had}));
  run.next += got;
  return {};
}

/// Takes the next record of a run, if it has one.
Status PacketSorter::Advance(size_t index) {
  Run& run = runs_[index];
  RS_RETURN_IF_ERROR(Fill(run, sizeof(Entry)));
  if (run.at == run.window.size()) return {};
  std::memcpy(&run.entry, run.window.data() + run.at, sizeof(Entry));
  RS_RETURN_IF_ERROR(Fill(run, sizeof(Entry) + run.entry.size));
  run.at += sizeof(Entry);
  fronts_.emplace(run.entry.time_ns, index);
  return {};
}

Result<std::optional<TimedPacket>> PacketSorter::Next() {
  Entry entry;
  Bytes bytes;
  if (!spilled_) {
    if (next_entry_ == entries_.size()) return std::nullopt;
    entry = entries_[next_entry_++];
    bytes = wire::AsBytes(store_).subspan(entry.at, entry.size);
  } else {
    if (last_run_) RS_RETURN_IF_ERROR(Advance(*std::exchange(last_run_, std::nullopt)));
    if (fronts_.empty()) return std::nullopt;
    last_run_ = fronts_.top().second;
    fronts_.pop();
    Run& run = runs_[*last_run_];
    entry = run.entry;
    bytes = wire::AsBytes(run.window).subspan(run.at, entry.size);
    run.at += entry.size;
  }
  return TimedPacket{entry.time_ns, entry.sequence, entry.dropped, bytes};
}

}  // namespace ringscope
