#include "core/doctor/trace_sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/base/text.h"
#include "core/doctor/examiner.h"
#include "core/perfetto/page.h"

namespace ringscope {
namespace {

uint64_t Scaled(uint64_t value, uint64_t part, uint64_t whole) {
  return static_cast<uint64_t>(static_cast<double>(value) * static_cast<double>(part) /
                               static_cast<double>(whole));
}

EstimatedBuffer CountedBuffer(const Examiner& examiner, size_t index) {
  EstimatedBuffer buffer{.index = static_cast<uint32_t>(index)};
  if (index < examiner.config.buffers.size()) {
    buffer.policy = examiner.config.buffers[index].policy;
    buffer.size = examiner.config.buffers[index].size_kb * kKiB;
  }
  if (index < examiner.facts.buffers.size() && examiner.facts.buffers[index].has_stats) {
    const TraceBuffer& counted = examiner.facts.buffers[index];
    const BufferStats& stats = counted.stats;
    // The size of a discarded chunk is not counted: it is taken for that of the others.
    const uint64_t discarded =
        stats.chunks_written == 0
            ? 0
            : Scaled(stats.bytes_written, stats.chunks_discarded, stats.chunks_written);
    buffer.size = stats.buffer_size;
    buffer.written = stats.bytes_written + discarded;
    buffer.lost = stats.bytes_overwritten + discarded;
    if (buffer.policy == FillPolicy::kRingBuffer) buffer.reach_ns = ReachNs(counted, examiner);
  }
  return buffer;
}

std::string SizePath(const EstimatedBuffer& buffer) {
  return fmt::format("buffers[{}].size_kb", buffer.index);
}

/// Plans a size that is not the diagnosis's.
void SetPlanned(TraceSizes& sizes, EstimatedBuffer& buffer, uint64_t planned, std::string reason) {
  buffer.planned = planned;
  const std::string path = SizePath(buffer);
  std::erase_if(sizes.changes, [&](const ConfigChange& one) { return one.path == path; });
  if (planned / kKiB != buffer.size / kKiB)
    sizes.changes.push_back({path, std::to_string(planned / kKiB), std::move(reason), true});
}

/// Plans the size that keeps what is wanted, or else that of the diagnosis.
void Plan(const Examiner& examiner, const TraceSizesWish& wish, TraceSizes& sizes,
          EstimatedBuffer& buffer) {
  if (wish.keep_ns && !examiner.config.write_into_file && buffer.reach_ns.value_or(0) > 0) {
    const uint64_t lasted =
        examiner.session() ? static_cast<uint64_t>(examiner.session()->length_ns()) : 0;
    std::string reason =
        fmt::format("reaches back {} at the session's mean rate, and a quarter more",
                    HumanDuration(*wish.keep_ns));
    if (lasted > 0 && *wish.keep_ns > lasted)
      reason += fmt::format("; extrapolated: the session lasted {}", HumanDuration(lasted));
    // A quarter more, as no rate stays the mean.
    const uint64_t wanted = PagesUp(Scaled(buffer.size, *wish.keep_ns, *buffer.reach_ns) / 4 * 5);
    return SetPlanned(sizes, buffer, std::max(wanted, buffer.size), std::move(reason));
  }
  const auto change = std::ranges::find(sizes.changes, SizePath(buffer), &ConfigChange::path);
  buffer.planned = change == sizes.changes.end() ? buffer.size : std::stoull(change->value) * kKiB;
}

/// Reduces all buffers by the same share if the memory does not suffice.
Status ShareMemory(uint64_t memory, TraceSizes& sizes) {
  const uint64_t least = sizes.buffers.size() * kPageBytes;
  if (memory < least)
    return Fail(ErrorCode::kUsage,
                fmt::format("--memory {} cannot be met: the session's buffers take {} at least",
                            HumanSize(memory), HumanSize(least)),
                {}, fmt::format("allow that: --memory {}k", least / kKiB));
  const uint64_t wanted = sizes.TotalPlanned();
  if (wanted <= memory) return {};
  for (EstimatedBuffer& buffer : sizes.buffers) {
    // A page each, and of the rest a part.
    const uint64_t more = buffer.planned > kPageBytes ? buffer.planned - kPageBytes : 0;
    SetPlanned(
        sizes, buffer,
        PagesDown(kPageBytes + Scaled(more, memory - least, std::max<uint64_t>(wanted - least, 1))),
        fmt::format("its part of the {} that all buffers may take", HumanSize(memory)));
  }
  return {};
}

}  // namespace

uint64_t TraceSizes::TotalSize() const {
  uint64_t sum = 0;
  for (const EstimatedBuffer& buffer : buffers) sum += buffer.size;
  return sum;
}
uint64_t TraceSizes::TotalPlanned() const {
  uint64_t sum = 0;
  for (const EstimatedBuffer& buffer : buffers) sum += buffer.planned;
  return sum;
}

Result<TraceSizes> EstimateSizes(const TraceFacts& facts, const Diagnosis& diagnosis,
                                 const TraceSizesWish& wish) {
  const Examiner examiner(facts);
  TraceSizes sizes{.buffers = {}, .changes = ChangesOf(diagnosis)};
  const size_t count = std::max(facts.buffers.size(), examiner.config.buffers.size());
  for (size_t i = 0; i < count; ++i)
    Plan(examiner, wish, sizes, sizes.buffers.emplace_back(CountedBuffer(examiner, i)));
  if (wish.memory) RS_RETURN_IF_ERROR(ShareMemory(*wish.memory, sizes));
  for (EstimatedBuffer& buffer : sizes.buffers)
    if (buffer.reach_ns && buffer.size > 0)
      buffer.planned_reach_ns = Scaled(*buffer.reach_ns, buffer.planned, buffer.size);
  return sizes;
}

}  // namespace ringscope
