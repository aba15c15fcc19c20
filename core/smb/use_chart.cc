#include "core/smb/use_chart.h"

#include <algorithm>

namespace ringscope::smb {

void UseChart::Add(const SeenMemory& seen) {
  if (seen_) Fill(*seen_, seen.time_ns);
  seen_ = seen;
  chunks_ = std::max(chunks_, seen.counts.all());
  most_used_ = std::max(most_used_, seen.counts.used());
}

void UseChart::End(uint64_t time_ns) {
  if (seen_) Fill(*seen_, time_ns);
  seen_.reset();
}

void UseChart::Fill(const SeenMemory& seen, uint64_t until_ns) {
  if (length_ == 0 || intervals_.empty()) return;
  const double width = static_cast<double>(length_) / static_cast<double>(intervals_.size());
  const auto offset = [&](uint64_t ns) {
    return static_cast<double>(std::clamp(ns, first_ns_, first_ns_ + length_) - first_ns_);
  };
  const double from = offset(seen.time_ns), to = offset(until_ns);
  for (auto i = static_cast<size_t>(from / width); i < intervals_.size(); ++i) {
    const double begin = static_cast<double>(i) * width;
    const double ns = std::min(to, begin + width) - std::max(from, begin);
    if (begin >= to) return;
    if (ns <= 0) continue;
    UseInterval& interval = intervals_[i];
    const auto add = [&](double UseInterval::*chunk_ns, uint64_t chunks) {
      interval.*chunk_ns += static_cast<double>(chunks) * ns;
    };
    add(&UseInterval::being_written, seen.counts.being_written);
    add(&UseInterval::held_back, seen.held_back());
    add(&UseInterval::waiting, seen.committed + seen.counts.being_read);
    add(&UseInterval::free, seen.counts.free);
    interval.ns += ns;
    if (seen.is_full()) interval.full = true;
  }
}

void UseCharts::Add(const Op& op) {
  story_.Add(op);
  const auto end = [&](ProducerId producer) {
    const auto chart = charts_.find(producer);
    if (chart != charts_.end() && op.time_ns) chart->second.End(*op.time_ns);
  };
  if (const auto* setup = std::get_if<SharedMemorySetUp>(&op.body)) return end(setup->producer);
  if (const auto* gone = std::get_if<ProducerDisconnected>(&op.body)) return end(gone->producer);
  if (!op.time_ns) return;
  if (const auto* commit = std::get_if<Commit>(&op.body)) {
    const MemoryFollower* const memory = story_.Of(commit->producer);
    const auto chart = charts_.find(commit->producer);
    if (memory != nullptr && memory->seen() && chart != charts_.end())
      chart->second.Add(memory->SeenSince(*op.time_ns));
    return;
  }
  const auto* look = std::get_if<SharedMemoryLook>(&op.body);
  if (look == nullptr) return;
  const MemoryFollower* const memory = story_.Of(look->producer);
  if (memory == nullptr || !memory->seen()) return end(look->producer);
  auto chart = charts_.find(look->producer);
  if (chart == charts_.end()) {
    if (charts_.size() == kMostProducers) return;
    chart = charts_.try_emplace(look->producer, first_ns_, last_ns_, intervals_).first;
  }
  chart->second.Add(*memory->seen());
}

void UseCharts::Finish() {
  for (auto& [producer, chart] : charts_) chart.End(last_ns_);
}

}  // namespace ringscope::smb
